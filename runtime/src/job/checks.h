/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checks.h - where the runtime lets -fcheck look.
 *
 * They are on if some object of the program was compiled with -fcheck, or all were
 * linked with it; else splitc_checks is NULL.
 */
#ifndef SPLITC_CHECKS_H
#define SPLITC_CHECKS_H

#include "collective/episode.h"

#include <split-c/check.h>

struct splitc_checks {
    /* Messages can be sent now, and the spread heap has this range. */
    void (*open)(uint64_t heap, uint64_t heap_size);
    /* n bytes at g are going to be read, or written. */
    void (*access)(splitc_ptr g, uint64_t n, bool writes);
    /* A collective call begins, which all ranks have to make with the same a and b. */
    void (*collective)(enum splitc_collective what, uint64_t a, uint64_t b);
    /* Spread storage of so many bytes on each rank has been allocated at start. */
    void (*allocated)(uint64_t start, uint64_t bytes);
    /* It is to be freed: when, is for the checks to say, with splitc_spread_release. */
    void (*freed)(splitc_ptr base);
    /* Release what has been freed the longest; false if there is nothing. */
    bool (*release)(void);
};
extern const struct splitc_checks *splitc_checks;

/* Turn them on if they are wanted. */
void splitc_checks_init(void);

static inline void splitc_check_access(splitc_ptr g, uint64_t n, bool writes)
{
    if (__builtin_expect(splitc_checks != NULL, 0))
        splitc_checks->access(g, n, writes);
}

static inline void splitc_check_collective(enum splitc_collective what, uint64_t a, uint64_t b)
{
    if (__builtin_expect(splitc_checks != NULL, 0))
        splitc_checks->collective(what, a, b);
}

/* Give spread storage back (spread_heap.c).  Error: -EINVAL. */
int splitc_spread_release(splitc_ptr base);

#endif
