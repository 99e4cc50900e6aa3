/* SPDX-License-Identifier: BSD-3-Clause
 *
 * heap.h - where malloc takes its memory from.
 */
#ifndef SPLITC_HEAP_H
#define SPLITC_HEAP_H

#include <stdint.h>

/* From now on malloc takes memory of [start, start + size) only; what it has allocated before stays
 * where it is.  Errors: -ENOTSUP the program brings another malloc. */
int splitc_heap_move(uint64_t start, uint64_t size);

#endif
