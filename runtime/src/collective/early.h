/* SPDX-License-Identifier: BSD-3-Clause
 *
 * early.h - pieces that have come before the round that takes them (pieces.c).
 */
#ifndef SPLITC_EARLY_H
#define SPLITC_EARLY_H

#include "round.h"

/* A piece with room for its bytes, if they are not elsewhere. */
struct splitc_early *splitc_early_new(const struct splitc_early *piece);

/* Keep it until its operation takes it. */
void splitc_early_keep(struct splitc_operations *all, struct splitc_early *e);

/* From the first round on in which members know that they make the same call, all that has come
 * for an operation of its number is of this one; else end the job. */
void splitc_early_check(const struct splitc_operation *o);

/* End the job if others have sent to a complete operation what it did not take. */
void splitc_early_check_ended(const struct splitc_operation *o);

/* End the job: that rank makes another call. */
_Noreturn void splitc_early_differs(const struct splitc_operation *o, uint32_t rank,
                                    enum splitc_collective what);

#endif
