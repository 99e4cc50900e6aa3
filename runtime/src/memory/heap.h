/* SPDX-License-Identifier: BSD-3-Clause
 *
 * heap.h - the sizes of a rank's two heaps, and malloc's.
 */
#ifndef SPLITC_HEAP_H
#define SPLITC_HEAP_H

#include <stdint.h>

struct splitc_heap_sizes {
    uint64_t spread;  /* of the spread heap */
    uint64_t private; /* of malloc's heap, where it has to lie in a window */
};

/* What SPLITC_HEAP tells, or what fits the machine's memory.  Errors end the job. */
struct splitc_heap_sizes splitc_heap_sizes(uint32_t local_ranks);

/* From now on malloc takes memory of [start, start + size) only; what it has handed out before
 * stays where it is.  Errors: -ENOTSUP malloc is not ours to direct. */
int splitc_heap_move(uint64_t start, uint64_t size);

/* Without windows: move malloc to a range that is larger than the machine's memory, if there may
 * be one. */
void splitc_heap_reserve(void);

/* The same for a thread of the library. */
void splitc_heap_thread(void);

#endif
