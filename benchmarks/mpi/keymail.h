/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keymail.h - keys sent in small messages, two in each, to their places at others.
 */
#ifndef BENCHMARKS_MPI_KEYMAIL_H
#define BENCHMARKS_MPI_KEYMAIL_H

#include "keys.h"

struct keymail;

struct keymail *keymail_make(void);
void keymail_free(struct keymail *mail);

/* From now on n keys come here, into `room`. */
void keymail_begin(struct keymail *mail, key *room, long n);

/* Send a key to a place at a processor, once there is another that goes there. */
void keymail_place(struct keymail *mail, int processor, long place, key k);

/* Collective: send what is left, and wait until everything is in place everywhere. */
void keymail_end(struct keymail *mail);

#endif
