/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.h - room collective: calls that all ranks make together, and spread storage, which
 * they allocate together.
 *
 * It calls access, memory and observe.
 */
#ifndef SPLITC_COLLECTIVE_H
#define SPLITC_COLLECTIVE_H

#include "runtime.h"

/* The kinds of collective calls.  In one call all ranks have to say the same. */
enum splitc_collective {
    SPLITC_BARRIER = 1,
    SPLITC_SPREAD_FREE,
    SPLITC_REDUCE_TO_ALL,
    SPLITC_REDUCE_TO_ONE,
    SPLITC_BROADCAST,
    SPLITC_SCAN,
    SPLITC_CHECK,        /* of -fcheck, before each of the others */
    SPLITC_SPREAD_ALLOC, /* only -fcheck knows of this one and the next */
    SPLITC_ALL_STORE_SYNC,
    SPLITC_COLLECTIVES
};

/* The name by which programs make such a call. */
const char *splitc_collective_name(enum splitc_collective what);

/* ---- reductions and broadcasts (reduce.c) ----------------------------------------- */

/* How a collective call combines values, which travel as 64 bits. */
enum splitc_combine {
    SPLITC_ADD, /* integers */
    SPLITC_MAX, /* integers that 64 bits hold with a sign */
    SPLITC_MIN,
    SPLITC_MAX_UNSIGNED,
    SPLITC_MIN_UNSIGNED,
    SPLITC_ADD_REAL,
    SPLITC_MAX_REAL,
    SPLITC_MIN_REAL,
};

/* The combination of every rank's value, in the order of ranks, on every rank. */
uint64_t splitc_reduce_to_all(enum splitc_combine with, uint64_t value);

/* Processor 0's value, on every rank. */
uint64_t splitc_broadcast(enum splitc_collective what, uint64_t value);

/* Learn which ranks meet within nodes.  Collective, after the windows are open. */
void splitc_collective_open(void);

/* ---- the ends of ranks (end.c) ------------------------------------------------------- */

/* Wait, serving messages, until all ranks are at their ends. */
void splitc_end_meet(void);

/* The same for a rank that fails; it waits so many seconds at most. */
void splitc_end_fail(double seconds);

/* ---- spread storage (spread.c) --------------------------------------------------------- */

/* Reserve the spread heap: as much as the rank that has least allows.  Collective. */
void splitc_spread_open(uint64_t size);

/* Allocate the spread arrays with static storage.  Collective. */
void splitc_spread_allocate_statics(void);

/* ---- what -fcheck does before a collective call (job/checks.c) --------------------------- */

/* The checks are on if some object of the program was compiled with -fcheck, or all were linked
 * with it; otherwise this is NULL. */
struct splitc_collective_checks {
    /* A collective call begins, which all ranks have to make with the same a and b. */
    void (*begins)(enum splitc_collective what, uint64_t a, uint64_t b);
    /* Messages can be sent now, and the spread heap has this range. */
    void (*open)(uint64_t heap, uint64_t heap_size);
    /* Spread storage of so many bytes on each rank has been allocated. */
    void (*allocated)(uint64_t start, uint64_t bytes);
    /* The program frees it; the checks keep it, so that they notice its use. */
    void (*freed)(splitc_ptr base);
    /* Take the oldest storage that was freed, if there is too much of it or `any` is asked for, so
     * that it can be released; false if there is none. */
    bool (*displace)(bool any, uint64_t *start);
};
extern const struct splitc_collective_checks *splitc_collective_checks;

static inline void splitc_check_collective(enum splitc_collective what, uint64_t a, uint64_t b)
{
    if (__builtin_expect(splitc_collective_checks != NULL, 0))
        splitc_collective_checks->begins(what, a, b);
}

gam_handler_fn splitc_on_collective;
gam_handler_fn splitc_on_end;

#endif
