/* SPDX-License-Identifier: BSD-3-Clause
 *
 * algorithms.h - what the members of a team do in operations on arrays.
 *
 * Each adds to an operation the steps of this member.  Sizes are in bytes; `with` of the operation
 * says how values combine, which is associative, and they combine in the order of members.
 */
#ifndef SPLITC_ALGORITHMS_H
#define SPLITC_ALGORITHMS_H

#include "operation.h"

/* ---- broadcast.c ---------------------------------------------------------------- */

void splitc_add_broadcast(struct splitc_operation *o, void *buffer, size_t n, uint32_t root);

/* ---- reduction.c: `to` may be `from` ----------------------------------------------------- */

void splitc_add_reduce(struct splitc_operation *o, void *to, const void *from, size_t n,
                       uint32_t root);
void splitc_add_allreduce(struct splitc_operation *o, void *to, const void *from, size_t n);

/* Exclusive: member 0 gets nothing. */
void splitc_add_scan(struct splitc_operation *o, void *to, const void *from, size_t n,
                     bool exclusive);

/* ---- exchange.c ------------------------------------------------------------------------ */

/* A block of each member: where it is in an array, and its size. */
struct splitc_blocks {
    bool equal;                 /* of all members, also where this one has no lists */
    const long *count, *offset; /* in elements; NULL: `each` and one behind the other */
    size_t size;                /* of an element */
    size_t each;                /* elements */
};

void splitc_add_gather(struct splitc_operation *o, void *to, struct splitc_blocks blocks,
                       const void *from, size_t n, uint32_t root);
void splitc_add_scatter(struct splitc_operation *o, void *to, size_t n, const void *from,
                        struct splitc_blocks blocks, uint32_t root);
void splitc_add_allgather(struct splitc_operation *o, void *to, struct splitc_blocks blocks,
                          const void *from, size_t n);
void splitc_add_alltoall(struct splitc_operation *o, void *to, struct splitc_blocks of_to,
                         const void *from, struct splitc_blocks of_from);

#endif
