/* SPDX-License-Identifier: BSD-3-Clause
 *
 * boot.h - how a process learns which rank of which job it is.
 *
 * A PMIx launcher (unetrun, srun --mpi=pmix, mpirun) tells it; without one the process is a job of
 * one rank.  Errors end the process with a message.
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
    const uint32_t *local; /* which ones, ascending; valid until the process ends */
    bool windows;          /* the local ranks may share their memory */
};

void splitc_boot_join(struct splitc_boot *boot);

/* Tell the other ranks something under a key.  They can ask for it after splitc_boot_publish. */
void splitc_boot_tell(const char *key, const void *bytes, size_t n);

/* Ask what a rank has told under a key, after splitc_boot_publish.
 * Errors: -EHOSTUNREACH it has told nothing under that key, or not n bytes. */
int splitc_boot_ask(uint32_t rank, const char *key, void *bytes, size_t n);

/* Wait until all ranks have told what they have to tell.  `key` gets the key of the job. */
void splitc_boot_publish(uint64_t key[2]);

/* Do something while PMIx stands still, on its thread or with none: nothing that PMIx keeps in this
 * process changes meanwhile, and the caller waits. */
void splitc_boot_hold(void (*work)(void *arg), void *arg);

/* Begin to wait for all ranks; does not block. */
void splitc_boot_meet(void);

/* Whether all have come. */
bool splitc_boot_met(void);

/* Tell the launcher that this rank ends in good order. */
void splitc_boot_leave(void);

#endif
