/* SPDX-License-Identifier: BSD-3-Clause
 *
 * team.h - teams of ranks, which make collective calls together.
 *
 * A team has a board at each of its members, which the others write to: through windows where they
 * have one, else by messages that name the team by its slot at the receiver.  The members'
 * addresses of it are exchanged when the team is made.  The boards of the two predefined teams are
 * static, so they have the same address everywhere and nothing is exchanged at the start of a job.
 *
 * docs/adr/0018-teams.md has the reasons.
 */
#ifndef SPLITC_TEAM_H
#define SPLITC_TEAM_H

#include "collective.h"
#include "memory/memory.h"

#define SPLITC_EPISODES 64u /* mailboxes per place; a power of two */

/* The place of a value from the parent in a tree.  The places below it are for the levels of the
 * tree; those above it for the rounds in which nodes, or halves of the ranks, exchange values. */
#define SPLITC_DOWN SPLITC_LEVELS
#define SPLITC_ACROSS (SPLITC_DOWN + 1)
#define SPLITC_PLACES (SPLITC_ACROSS + SPLITC_LEVELS)

/* Filled by the handler of a message, or by the sender through its window. */
struct splitc_mailbox {
    uint64_t value;
    enum splitc_collective what;
    uint32_t rank;    /* the sender */
    uint64_t episode; /* written last; 0 = never filled */
    uint64_t unused;  /* half a cache line */
};

/* What members that share cores write at member 0 (gate.c).  What a member reads after the gate has
 * opened does not change before that member comes to the next meeting. */
struct splitc_gate {
    uint64_t arrived; /* members, at all meetings so far */
    uint64_t said;    /* by the last one: episode, rank and what it does */
    uint64_t busy;    /* the last episode to which a member came that had sent a message */
    uint64_t open __attribute__((aligned(64))); /* the last episode that all came to */
    uint64_t result;
    uint32_t resting __attribute__((aligned(64))); /* members that may be asleep */
};

#define SPLITC_NEAR_BYTES 16384u /* of the short blocks that members write in one call (near.c) */

struct splitc_board {
    struct splitc_gate gate;
    struct splitc_mailbox mailbox[SPLITC_EPISODES][SPLITC_PLACES];
    struct splitc_account account[SPLITC_ACCOUNTS];                  /* of -fcheck */
    uint8_t near[2][SPLITC_NEAR_BYTES] __attribute__((aligned(64))); /* for two calls in turn */
} __attribute__((aligned(64)));

/* Behind the board of member 0: what each member leaves at the gate. */
static inline uint64_t *splitc_board_left(struct splitc_board *board)
{
    return (uint64_t *)(board + 1);
}

/* What was first said about an episode: by the call of this rank, or by another. */
struct splitc_agreement {
    uint64_t episode;
    enum splitc_collective what;
    uint32_t rank;
};

/* As one member knows it.  Members are numbered from 0. */
struct splitc_team {
    uint64_t state; /* SPLITC_TEAM_LIVE or SPLITC_TEAM_FREED */
    uint32_t size;
    uint32_t at;                    /* this rank's number */
    uint64_t episode;               /* the number of collective calls begun here */
    uint64_t met;                   /* the last of them that is a meeting */
    uint64_t checked;               /* up to this one all have said the same */
    enum splitc_collective current; /* the kind of the last one */
    unsigned height;                /* of the subtrees whose roots exchange values (reduce.c) */
    bool crowded;                   /* all members are near, and there are more ranks than cores */
    struct splitc_board *board;
    const splitc_ptr *member; /* where the board of each member is */
    const uint32_t *slot;     /* of each member's table of teams; NULL: the same as here */
    uint32_t own_slot;

    const uint32_t *near; /* the members whose windows are open, including this one */
    uint32_t near_size;
    uint32_t near_at;      /* this rank's index among them */
    const uint32_t *first; /* the first member of each node, where members of a node share memory */
    uint32_t nodes;        /* length of that list; 0: one node, or no shared memory */
    uint32_t node_at;      /* this node's index in it */
    bool blocks;           /* there are nodes, and each has members that follow one another */

    uint64_t exchanges; /* of short blocks (near.c) */
    uint64_t meetings;  /* that this rank came to at the gate */
    uint64_t told;      /* messages that this rank had sent then */
    uint64_t served;    /* the last episode at which it looked for messages */
    uint64_t accounts;  /* collective calls that -fcheck has seen */
    uint64_t *by_rank;  /* rank << 32 | number, ascending; NULL: every rank has its own number */
    struct splitc_agreement agreement[SPLITC_EPISODES];
    struct splitc_operations *operations; /* those on arrays; NULL: none yet */
};

#define SPLITC_TEAM_LIVE 0x6d6165742073696cul
#define SPLITC_TEAM_FREED 0x64656572662d2d2dul

static inline uint32_t splitc_team_proc(const struct splitc_team *t, uint32_t member)
{
    return (uint32_t)splitc_rank(t->member[member]);
}

/* Where that member has its copy of what is at `here` on this rank's board; NULL without a window.
 */
static inline void *splitc_team_copy(const struct splitc_team *t, uint32_t member, const void *here)
{
    const splitc_ptr g = t->member[member] + ((uintptr_t)here - (uintptr_t)t->board);

    return splitc_is_near(g) ? splitc_near(g) : NULL;
}

/* The team that a message of `source` names, or NULL. */
struct splitc_team *splitc_team_named(uint64_t slot);

/* The name under which this member's messages to another one go. */
static inline uint64_t splitc_team_slot(const struct splitc_team *t, uint32_t member)
{
    return t->slot ? t->slot[member] : t->own_slot;
}

/* End the job, because a program's team is none, or is not one any more. */
_Noreturn void splitc_team_bad(const struct splitc_team *t) __attribute__((cold, noinline));

static inline void splitc_team_check(const struct splitc_team *t)
{
    if (__builtin_expect(!t || t->state != SPLITC_TEAM_LIVE, 0))
        splitc_team_bad(t);
}

#endif
