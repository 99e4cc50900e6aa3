/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.h - operations on arrays as the engine sees them: steps in rounds, and which step of the
 * current round takes a piece.
 */
#ifndef SPLITC_ROUND_H
#define SPLITC_ROUND_H

#include "kernels.h"
#include "matching.h"
#include "team.h"

#define SPLITC_FENCE 32u /* operations from one fence to the next; a power of two */
/* A member that has passed fence n may be at fence n + FENCE, while another one, which has begun
 * fence n and not passed it, counts from n - FENCE. */
#define SPLITC_RING 128u
#define SPLITC_STEPS_MOST (1u << 25)

enum splitc_step_kind {
    SPLITC_SEND,
    SPLITC_TAKE,         /* to = what the peer sends */
    SPLITC_TAKE_COMBINE, /* to = to with what the peer sends; those of a round in their order */
    SPLITC_TAKE_COMBINE_BEFORE,  /* the same: to = what the peer sends with to */
    SPLITC_LOCAL_COPY,           /* at the end of the round, in order: to = from */
    SPLITC_LOCAL_COMBINE,        /* the same: to = to with from */
    SPLITC_LOCAL_COMBINE_BEFORE, /* the same: to = from with to */
};

struct splitc_step {
    enum splitc_step_kind kind;
    uint32_t round;
    uint32_t peer;
    uint32_t next_ready; /* index + 1 */
    uint32_t next_taker; /* index + 1 of the next one of the round that takes from this peer */
    bool done;
    bool noticed; /* the peer has sent it */
    bool arrived; /* and it is here */
    bool pulling;
    bool ahead; /* what is sent may be there before its taker is (operation.h) */
    size_t n;
    const void *from;
    void *to;
    const void *there; /* where the peer has it; NULL: it was in the message */
    uint64_t token;    /* names the peer's step */
    void *early;       /* where it waits for its turn; NULL: it need not */
};

struct splitc_operation {
    struct splitc_operation *next; /* in the order in which they were begun */
    struct splitc_team *team;
    uint64_t number;
    enum splitc_collective what;
    bool started;

    struct splitc_step *step;
    uint32_t steps, room;
    uint32_t round, rounds;
    uint32_t first, end;         /* the steps of this round */
    uint32_t missing;            /* of them, not done, and not local */
    uint32_t turn;               /* the next that combines */
    uint32_t asked;              /* the step from which on peers have not been asked (inquiry.h) */
    uint64_t episode;            /* the last blocking call before it */
    struct splitc_takers takers; /* of this round, if it is wide */
    uint32_t ready;              /* a list of steps that can go on, as index + 1 */
    uint32_t fence;              /* the round before which all members have begun it; 0: none */
    uint32_t checked;            /* that before which -fcheck compares accounts; 0: it does not */
    struct splitc_account *account; /* this member's, and member 0's */

    struct splitc_operator with;
    struct scratch *scratch;
    bool *done;      /* told when it is complete; NULL: it counts as a put */
    uint64_t handle; /* part of which it is; 0: of none */
};

struct splitc_operations {
    uint64_t begun;              /* the number of the last one */
    enum splitc_collective last; /* and its kind */
    uint64_t fenced;             /* that of the last fence passed */
    uint64_t under_way;
    struct {
        struct splitc_operation *operation; /* NULL: it has not started, or is complete */
        struct splitc_inbox early;
    } ring[SPLITC_RING];
};

static inline bool splitc_step_takes(const struct splitc_step *s)
{
    return s->kind >= SPLITC_TAKE && s->kind <= SPLITC_TAKE_COMBINE_BEFORE;
}

/* Those of a team, which has none at first. */
struct splitc_operations *splitc_operations_of(struct splitc_team *t);

/* A round begins: list its steps by the members that they take from, if it is wide. */
void splitc_round_list_takers(struct splitc_operation *o);

/* The first step that takes from a member and whose piece has not come; NULL: there is none. */
struct splitc_step *splitc_round_expecting(const struct splitc_operation *o, uint32_t peer);

/* Whether this member sends to no other one in the current round. */
bool splitc_round_has_one_receiver(const struct splitc_operation *o, uint32_t receiver);

/* Copy and combine what is here, at the end of the round. */
void splitc_round_do_local_steps(struct splitc_operation *o);

#endif
