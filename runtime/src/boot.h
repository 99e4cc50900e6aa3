/* SPDX-License-Identifier: BSD-3-Clause
 *
 * boot.h - how a process learns which rank of which job it is.
 *
 * Under a PMIx launcher (unetrun, srun --mpi=pmix, mpirun) the launcher tells;
 * without one the process is a job of one rank.  What fails here ends the
 * process with a message.
 */
#ifndef SPLITC_BOOT_H
#define SPLITC_BOOT_H

#include <stddef.h>
#include <stdint.h>

struct unet_address;

struct splitc_boot {
    uint32_t rank;
    uint32_t ranks;
    uint32_t local_ranks;  /* of them, on this node */
    const uint32_t *local; /* which ones, this one among them; valid for ever */
};

void splitc_boot_join(struct splitc_boot *boot);

/* Have something told to the others, under a key, by splitc_boot_publish. */
void splitc_boot_tell(const char *key, const void *bytes, size_t n);

/* What a rank has told under a key, after splitc_boot_publish.
 * Errors: -EHOSTUNREACH it has told no such thing, or not n bytes. */
int splitc_boot_ask(uint32_t rank, const char *key, void *bytes, size_t n);

/* Tell the others where our endpoint is, and wait until all have told.  Returns
 * the job's secret. */
uint64_t splitc_boot_publish(const struct unet_address *address);

/* A gam_resolve_fn: where a rank's endpoint is, after splitc_boot_publish. */
int splitc_boot_resolve(void *arg, uint32_t rank, struct unet_address *address);

/* Wait for all ranks; messages are not served meanwhile. */
void splitc_boot_meet(void);

/* Tell the launcher that this rank ends in good order. */
void splitc_boot_leave(void);

#endif
