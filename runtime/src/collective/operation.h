/* SPDX-License-Identifier: BSD-3-Clause
 *
 * operation.h - collective operations on arrays: what one member does in one, step by step.
 *
 * An operation is a list of steps, which its algorithm writes down (broadcast.c, reduction.c,
 * exchange.c) before the first one is done.  Steps are in rounds: those of a round begin together,
 * and the next round begins when all are complete.  So nothing has to wait in the middle of a call,
 * and the blocking form of an operation is the split-phase one, waited for.
 *
 * What one member sends, another takes: the k-th thing that a member sends another one within an
 * operation is the k-th that this one takes from it.
 */
#ifndef SPLITC_OPERATION_H
#define SPLITC_OPERATION_H

#include "pieces.h"

/* Begin to write one down. */
struct splitc_operation *splitc_operation_new(struct splitc_team *t, enum splitc_collective what);

/* Add a step to the round; nothing for 0 bytes. */
void splitc_operation_send(struct splitc_operation *o, uint32_t peer, const void *from, size_t n);
/* The same, to a member from which this one takes something in the same round: as neither gets far
 * ahead of the other, what is sent over a network need not wait until it is asked for. */
void splitc_operation_send_ahead(struct splitc_operation *o, uint32_t peer, const void *from,
                                 size_t n);
void splitc_operation_take(struct splitc_operation *o, uint32_t peer, void *to, size_t n);
void splitc_operation_take_combine(struct splitc_operation *o, uint32_t peer, void *to, size_t n);
void splitc_operation_take_combine_before(struct splitc_operation *o, uint32_t peer, void *to,
                                          size_t n);
void splitc_operation_copy(struct splitc_operation *o, void *to, const void *from, size_t n);
void splitc_operation_combine(struct splitc_operation *o, void *to, const void *from, size_t n);
void splitc_operation_combine_before(struct splitc_operation *o, void *to, const void *from,
                                     size_t n);

/* Rounds after which all members have begun it. */
void splitc_operation_add_barrier(struct splitc_operation *o);

/* Let the steps after it be a round of their own. */
void splitc_operation_end_round(struct splitc_operation *o);

/* Memory until the operation is complete. */
void *splitc_operation_scratch(struct splitc_operation *o, size_t n);

/* Do it: wait until it is complete, or return a handle at once. */
void splitc_operation_run(struct splitc_operation *o);
uint64_t splitc_operation_begin(struct splitc_operation *o);

/* Wait until none of a team is under way here; then give back what it has for them. */
void splitc_operations_finish(struct splitc_team *t);
void splitc_operations_free(struct splitc_team *t);

#endif
