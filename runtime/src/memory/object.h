/* SPDX-License-Identifier: BSD-3-Clause
 *
 * object.h - a rank's memory as one shared object that the other ranks of its node can map.
 *
 * The object is a file without a name.  What it holds lies in two quarters of the owner's
 * addresses, one window each, and its file offsets are the addresses within these:
 *
 *   0         a header, which is never mapped: the nonce
 *   STATICS   .data and .bss of the executable, wherever it was linked to in the first quarter
 *   4 GiB     of the second, STACK, the stack of splitc_main; nothing is mapped below it
 *   16 GiB    SPREAD, the spread heap, at the same addresses on every rank
 *   behind    HEAP, the memory of malloc
 *
 * What lies between the static objects and the second quarter, such as memory by sbrk, is the
 * owner's alone.
 *
 * Space is reserved, not committed: a page is allocated when it is first touched.
 */
#ifndef SPLITC_OBJECT_H
#define SPLITC_OBJECT_H

#include "memory/memory.h"

/* Where huge pages take longer to get than the small ones in their place, this much at the start of
 * each heap lies in small pages. */
#define SPLITC_SMALL_FIRST (4ul << 20)

/* The part of a heap's range that a core includes.  The kernel would need seconds to look at every
 * page of a range that was never touched, and the rest of it would read as zeros. */
#define SPLITC_DUMPED (256ul << 20)

#define SPLITC_LARGE_STACK (1ul << 30) /* for programs that want one, or have no limit */

#define SPLITC_QUARTER (1ul << SPLITC_QUARTER_BITS)
#define SPLITC_STATICS_MAX (4ul << 30)                    /* where the static objects end */
#define SPLITC_HIGH (SPLITC_QUARTER + SPLITC_STATICS_MAX) /* where the other parts begin */

static inline uint64_t splitc_range_end(const struct splitc_range *r)
{
    return r->start + r->size;
}

/* Where in the object an address of its owner is, and the other way. */
static inline uint64_t splitc_object_offset(uint64_t address)
{
    return address % SPLITC_QUARTER;
}

static inline uint64_t splitc_object_address(uint64_t offset)
{
    return offset < SPLITC_STATICS_MAX ? offset : SPLITC_QUARTER + offset;
}

/* The end of the last part: the size of the object. */
static inline uint64_t splitc_object_top(const struct splitc_memory *m)
{
    return splitc_object_offset(splitc_range_end(&m->part[SPLITC_HEAP]));
}

/* Make the object, of huge pages if `huge` and the system allows them, and map stack, spread heap
 * and heap into this process.  On failure nothing is left, and *why names what failed.
 * Errors: -errno. */
int splitc_object_open(struct splitc_memory *m, uint64_t spread_size, uint64_t heap_size, bool huge,
                       const char **why);
void splitc_object_close(struct splitc_memory *m);

/* Advise the system which pages of a mapping of a part may be huge; for peers' mappings, too. */
void splitc_object_advise(const struct splitc_memory *m, enum splitc_part part, uint64_t start,
                          uint64_t size);

/* Leave all but the beginning of a heap's range out of cores. */
void splitc_object_limit_core(uint64_t start, uint64_t size);

/* Move the static objects into it.  Errors: -errno; nothing has changed then. */
int splitc_object_move_statics(const struct splitc_memory *m);

/* In a child by fork, alone on a stack of its own: put private copies in the place of what it
 * shares with its parent.  Errors: -errno. */
int splitc_object_unshare(const struct splitc_memory *m);

/* Give the pages of a range back to the system; they read as 0 afterwards. */
void splitc_object_give_back(uint64_t start, uint64_t size);

#endif
