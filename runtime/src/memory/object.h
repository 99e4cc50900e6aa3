/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h - a rank's memory as one shared object that its peers can map.
 *
 * The object is a file without a name in which file offset = virtual address, so
 * an address of the owner means the same in every mapping of it:
 *
 *   0         a header, never mapped: the nonce
 *   STATICS   .data and .bss of the executable, wherever it was linked to
 *   4 GiB     STACK, the stack of splitc_main; nothing is mapped below it
 *   16 GiB    SPREAD, the spread heap, at the same addresses on every rank
 *   behind    HEAP, what malloc hands out
 *
 * Space is reserved, not committed: pages come into being when they are touched.
 */
#ifndef SPLITC_MEMORY_H
#define SPLITC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where huge pages may take longer than small ones, a heap begins with so much in those. */
#define SPLITC_SMALL_FIRST (4ul << 20)

/* Of a range that is reserved for a heap so much belongs into a core: to look at every page of
 * what was never touched takes seconds, and who is handed the core gets it as zeros. */
#define SPLITC_DUMPED (256ul << 20)

#define SPLITC_LARGE_STACK (1ul << 30) /* what programs have that want one, or are not limited */

enum splitc_part { SPLITC_STATICS, SPLITC_STACK, SPLITC_SPREAD, SPLITC_HEAP, SPLITC_PARTS };

struct splitc_range {
    uint64_t start; /* both multiples of the page size */
    uint64_t size;
};

struct splitc_memory {
    int fd;
    uint64_t small_first; /* bytes at the start of each heap that lie in small pages; the rest may
                             lie in huge ones */
    uint64_t nonce[2];
    struct splitc_range part[SPLITC_PARTS]; /* in the order of addresses */
};

static inline uint64_t splitc_range_end(const struct splitc_range *r)
{
    return r->start + r->size;
}

/* The end of the last part: the size of the object. */
static inline uint64_t splitc_memory_top(const struct splitc_memory *m)
{
    return splitc_range_end(&m->part[SPLITC_HEAP]);
}

/* Make the object, of huge pages if it may be and can, and map stack, spread heap and heap into
 * this process.  On failure nothing is left, and *why says what did not work.  Errors: -errno. */
int splitc_memory_open(struct splitc_memory *m, uint64_t spread_size, uint64_t heap_size, bool huge,
                       const char **why);
void splitc_memory_close(struct splitc_memory *m);

/* For each mapping of a part, a peer's too: whether it may be of huge pages. */
void splitc_memory_advise(const struct splitc_memory *m, enum splitc_part part, uint64_t start,
                          uint64_t size);

/* Leave all but the beginning of a heap out of cores. */
void splitc_memory_limit_core(uint64_t start, uint64_t size);

/* Move the static objects into it.  Errors: -errno; nothing has changed. */
int splitc_memory_move_statics(const struct splitc_memory *m);

/* In a child by fork, alone on a stack of its own: put private copies in the place of
 * what it shares with its parent.  Errors: -errno. */
int splitc_memory_unshare(const struct splitc_memory *m);

/* Give the pages of a range back to the system; they read as 0 afterwards. */
void splitc_memory_give_back(uint64_t start, uint64_t size);

#endif
