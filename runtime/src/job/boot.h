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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct splitc_boot {
    uint32_t rank;
    uint32_t ranks;
    uint32_t local_ranks;  /* of them, on this node */
    const uint32_t *local; /* which ones, ascending; valid for ever */
    bool windows;          /* these may share their memory */
};

void splitc_boot_join(struct splitc_boot *boot);

/* Have something told to the others, under a key, by splitc_boot_publish. */
void splitc_boot_tell(const char *key, const void *bytes, size_t n);

/* What a rank has told under a key, after splitc_boot_publish.
 * Errors: -EHOSTUNREACH it has told no such thing, or not n bytes. */
int splitc_boot_ask(uint32_t rank, const char *key, void *bytes, size_t n);

/* Wait until all have told what they have to tell.  Gets the job's key. */
void splitc_boot_publish(uint64_t key[2]);

/* Begin to wait for all ranks. */
void splitc_boot_meet(void);

/* Whether all have come. */
bool splitc_boot_met(void);

/* Tell the launcher that this rank ends in good order. */
void splitc_boot_leave(void);

#endif
