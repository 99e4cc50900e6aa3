/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.h - room collective: calls that all ranks make together, and spread storage, which
 * they allocate together.
 *
 * It calls access, memory and observe.
 */
#ifndef SPLITC_COLLECTIVE_H
#define SPLITC_COLLECTIVE_H

#include "observe/observe.h" /* splitc_place */
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
    SPLITC_TEAM_SPLIT,
    SPLITC_TEAM_FREE,
    SPLITC_ARRAY_BROADCAST, /* operations on arrays, from here on */
    SPLITC_ARRAY_REDUCE,
    SPLITC_ARRAY_ALLREDUCE,
    SPLITC_ARRAY_SCAN,
    SPLITC_ARRAY_EXSCAN,
    SPLITC_ARRAY_GATHER,
    SPLITC_ARRAY_GATHERV,
    SPLITC_ARRAY_SCATTER,
    SPLITC_ARRAY_SCATTERV,
    SPLITC_ARRAY_ALLGATHER,
    SPLITC_ARRAY_ALLGATHERV,
    SPLITC_ARRAY_ALLTOALL,
    SPLITC_ARRAY_ALLTOALLV,
    SPLITC_ARRAY_BARRIER, /* the split-phase one */
    SPLITC_COLLECTIVES
};

/* ---- teams (teams.c) --------------------------------------------------------------- */

/* The ranks that make a collective call together (team.h).  These are all of the job. */
struct splitc_team;
extern struct splitc_team splitc_team_all;

/* The name by which programs make such a call. */
const char *splitc_collective_name(const struct splitc_team *t, enum splitc_collective what);

/* The ranks of this node, by messages alone until splitc_teams_open. */
void splitc_teams_init(const uint32_t *local, uint32_t local_ranks);

/* Learn which ranks meet within nodes.  Collective, after the windows are open. */
void splitc_teams_open(void);

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

/* The combination of every member's value, in the order of members, on every one. */
uint64_t splitc_reduce_to_all(struct splitc_team *t, enum splitc_combine with, uint64_t value);

/* Member 0's value, on every one. */
uint64_t splitc_broadcast(struct splitc_team *t, enum splitc_collective what, uint64_t value);

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

#define SPLITC_ACCOUNTS 64u /* more calls than member 0 can be ahead of the last member */

/* What a rank is about to do.  Strings are constants of the program, which have the same addresses
 * on every rank. */
struct splitc_account {
    uint64_t what;
    uint64_t a, b;
    struct splitc_place at;
};

/* The checks are on if some object of the program was compiled with -fcheck, or all were linked
 * with it; otherwise this is NULL. */
struct splitc_collective_checks {
    /* A collective call begins, which all members have to make with the same a and b. */
    void (*begins)(struct splitc_team *t, enum splitc_collective what, uint64_t a, uint64_t b);
    /* Where the program is, in a call with that a and b. */
    void (*account)(struct splitc_account *x, enum splitc_collective what, uint64_t a, uint64_t b);
    /* End the job because member 0 makes another call than this rank. */
    void (*differ)(struct splitc_team *t, struct splitc_account *mine,
                   struct splitc_account *theirs);
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

/* Where a team has room for the account of its next call, and the call's number; where member 0 has
 * that of a call (teams.c). */
struct splitc_account *splitc_team_account(struct splitc_team *t, uint64_t *number);
splitc_ptr splitc_team_first_account(const struct splitc_team *t, uint64_t number);

static inline void splitc_check_collective(struct splitc_team *t, enum splitc_collective what,
                                           uint64_t a, uint64_t b)
{
    if (__builtin_expect(splitc_collective_checks != NULL, 0))
        splitc_collective_checks->begins(t, what, a, b);
}

gam_handler_fn splitc_on_collective;
gam_handler_fn splitc_on_inquiry;
gam_handler_fn splitc_on_never;
gam_handler_fn splitc_on_piece;
gam_handler_fn splitc_on_taken;
gam_handler_fn splitc_on_pulled;
gam_handler_fn splitc_on_end;

#endif
