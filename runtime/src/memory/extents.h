/* SPDX-License-Identifier: BSD-3-Clause
 *
 * extents.h - an allocator of address ranges that does not access the memory.
 *
 * Extents, used or free, cover the range in one array ordered by address; no two free ones touch.
 * Allocation takes the smallest free extent that fits, and of several the lowest.  The result
 * depends only on the calls made before, so ranks that make the same calls get the same addresses.
 *
 * Cost: 24 bytes per extent; a linear search and a move of the array per call.
 */
#ifndef SPLITC_EXTENTS_H
#define SPLITC_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct splitc_extent {
    uint64_t start;
    uint64_t size; /* never 0 */
    bool used;
};

struct splitc_extents {
    struct splitc_extent *extent;
    size_t count;
    size_t room;
};

/* Manage [start, start + size), size > 0.  Errors: -ENOMEM. */
int splitc_extents_open(struct splitc_extents *x, uint64_t start, uint64_t size);
void splitc_extents_close(struct splitc_extents *x);

/* Take `size` > 0 bytes.  Errors: -ENOSPC no free extent is large enough,
 * -ENOMEM no memory for the array. */
int splitc_extents_alloc(struct splitc_extents *x, uint64_t size, uint64_t *start);

/* Give back what begins at `start`; tells how large it was.
 * Errors: -EINVAL nothing allocated begins there. */
int splitc_extents_free(struct splitc_extents *x, uint64_t start, uint64_t *size);

/* Bytes of the largest free extent, 0 if there is none. */
uint64_t splitc_extents_largest(const struct splitc_extents *x);

#ifdef __cplusplus
}
#endif
#endif
