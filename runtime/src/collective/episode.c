/* SPDX-License-Identifier: BSD-3-Clause */
#include "episode.h"

#include "access/access.h"
#include "inquiry.h"

#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */

/* A message has slot << SLOT_SHIFT | what << WHAT_SHIFT | place. */
#define WHAT_SHIFT 8
#define SLOT_SHIFT 16

static const struct {
    const char *name, *of_team;
    bool meeting;
} collective[SPLITC_COLLECTIVES] = {
    [SPLITC_BARRIER] = {"barrier", "team_barrier", true},
    [SPLITC_SPREAD_FREE] = {"all_spread_free (or the end of a spread array)", NULL, true},
    [SPLITC_REDUCE_TO_ALL] = {"all_reduce_to_all (or all_store_sync)", "team_reduce_to_all", true},
    [SPLITC_REDUCE_TO_ONE] = {"all_reduce_to_one", "team_reduce_to_one", false},
    [SPLITC_BROADCAST] = {"all_bcast", "team_bcast", false},
    [SPLITC_SCAN] = {"all_scan", "team_scan", false},
    [SPLITC_CHECK] = {"this call", "this call", false},
    [SPLITC_SPREAD_ALLOC] = {"all_spread_malloc (or a spread array)", NULL, false},
    [SPLITC_ALL_STORE_SYNC] = {"all_store_sync", NULL, true},
    [SPLITC_TEAM_SPLIT] = {"all_split", "team_split", true},
    [SPLITC_TEAM_FREE] = {"team_free", "team_free", false},
    [SPLITC_ARRAY_BROADCAST] = {"team_broadcast", NULL, false},
    [SPLITC_ARRAY_REDUCE] = {"team_reduce", NULL, false},
    [SPLITC_ARRAY_ALLREDUCE] = {"team_allreduce", NULL, false},
    [SPLITC_ARRAY_SCAN] = {"team_scan", NULL, false},
    [SPLITC_ARRAY_EXSCAN] = {"team_exscan", NULL, false},
    [SPLITC_ARRAY_GATHER] = {"team_gather", NULL, false},
    [SPLITC_ARRAY_GATHERV] = {"team_gatherv", NULL, false},
    [SPLITC_ARRAY_SCATTER] = {"team_scatter", NULL, false},
    [SPLITC_ARRAY_SCATTERV] = {"team_scatterv", NULL, false},
    [SPLITC_ARRAY_ALLGATHER] = {"team_allgather", NULL, true},
    [SPLITC_ARRAY_ALLGATHERV] = {"team_allgatherv", NULL, false},
    [SPLITC_ARRAY_ALLTOALL] = {"team_alltoall", NULL, true},
    [SPLITC_ARRAY_ALLTOALLV] = {"team_alltoallv", NULL, false},
    [SPLITC_ARRAY_BARRIER] = {"team_barrier_begin", NULL, false},
};

static uint64_t ended_after = UINT64_MAX; /* the last episode of a rank that has ended, */
static uint32_t ended_rank;               /* which is this one */

/* ---- finding out that the ranks do not do the same ------------------------------ */

void splitc_episode_agree(struct splitc_team *t, uint64_t number, enum splitc_collective what,
                          uint32_t rank)
{
    struct splitc_agreement *a = &t->agreement[number % SPLITC_EPISODES];

    if (a->episode != number)
        *a = (struct splitc_agreement){.episode = number, .what = what, .rank = rank};
    else if (a->what != what)
        splitc_die("collective calls differ: %s on rank %u, %s on rank %u",
                   splitc_collective_name(t, what), rank, splitc_collective_name(t, a->what),
                   a->rank);
}

/* Ranks tell at their ends after which call of all they ended. */
static void episode_check_ended(const struct splitc_team *t)
{
    if (t == &splitc_team_all && t->episode > ended_after)
        splitc_die("%s is collective, but rank %u has ended without it",
                   splitc_place.what ? splitc_place.what : splitc_collective_name(t, t->current),
                   ended_rank);
}

void splitc_episode_rank_ended(uint32_t rank, uint64_t last)
{
    if (last >= ended_after)
        return;
    ended_after = last;
    ended_rank = rank;
    episode_check_ended(&splitc_team_all);
}

const char *splitc_collective_name(const struct splitc_team *t, enum splitc_collective what)
{
    if (what >= SPLITC_COLLECTIVES)
        return "something else";
    return t != &splitc_team_all && collective[what].of_team ? collective[what].of_team
                                                             : collective[what].name;
}

/* ---- values ------------------------------------------------------------------------ */

void splitc_episode_begin(struct splitc_team *t, enum splitc_collective what)
{
    if (splitc_runtime.running)
        splitc_must_not_wait();
    if (__builtin_expect(!splitc_own_thread, 0))
        splitc_foreign_collective(splitc_collective_name(t, what));
    splitc_coalesced_go();
    splitc_runtime.collectives++;
    t->episode++;
    t->current = what;
    if (collective[what].meeting)
        t->met = t->episode;
    episode_check_ended(t);
    splitc_episode_agree(t, t->episode, what, splitc_runtime.rank);
}

bool splitc_episode_is_meeting(enum splitc_collective what)
{
    return collective[what].meeting;
}

bool splitc_episode_needs_meeting(const struct splitc_team *t)
{
    return t->episode - t->met == SPLITC_EPISODES - 2;
}

static void mailbox_fill(struct splitc_mailbox *box, const struct splitc_mailbox *with)
{
    box->value = with->value;
    box->what = with->what;
    box->rank = with->rank;
    __atomic_store_n(&box->episode, with->episode, __ATOMIC_RELEASE);
}

/* The next value for a mailbox comes EPISODES later, when its owner has finished this episode. */
void splitc_episode_tell(struct splitc_team *t, uint32_t to, uint32_t place, uint64_t value)
{
    const uint64_t episode = t->episode;
    struct splitc_mailbox *box =
        splitc_team_copy(t, to, &t->board->mailbox[episode % SPLITC_EPISODES][place]);
    const uint32_t rank = splitc_team_proc(t, to);

    if (box) {
        mailbox_fill(box, &(struct splitc_mailbox){.value = value,
                                                   .what = t->current,
                                                   .rank = splitc_runtime.rank,
                                                   .episode = episode});
        splitc_wake(rank);
    } else {
        splitc_sent(rank,
                    gam_request_3(splitc_runtime.gam, rank, SPLITC_MSG_COLLECTIVE, value, episode,
                                  splitc_team_slot(t, to) << SLOT_SHIFT |
                                      (uint64_t)t->current << WHAT_SHIFT | place));
    }
}

void splitc_on_collective(struct gam *g, const struct gam_message *m)
{
    const uint64_t number = m->word[1];
    const uint64_t place = m->word[2] & ((1u << WHAT_SHIFT) - 1);
    const uint64_t what = m->word[2] >> WHAT_SHIFT & ((1u << (SLOT_SHIFT - WHAT_SHIFT)) - 1);
    struct splitc_team *t;

    (void)g;
    splitc_expect(m, m->words == 3);
    t = splitc_team_named(m->word[2] >> SLOT_SHIFT);
    splitc_expect(m, t && number - t->met < SPLITC_EPISODES && place < SPLITC_PLACES &&
                         what >= SPLITC_BARRIER && what < SPLITC_COLLECTIVES);
    splitc_episode_agree(t, number, (enum splitc_collective)what, m->source);
    mailbox_fill(&t->board->mailbox[number % SPLITC_EPISODES][place],
                 &(struct splitc_mailbox){
                     .value = m->word[0], .what = what, .rank = m->source, .episode = number});
}

static bool mailbox_is_filled(const struct splitc_mailbox *box, uint64_t number)
{
    return __atomic_load_n(&box->episode, __ATOMIC_ACQUIRE) == number;
}

void splitc_episode_agree_said(struct splitc_team *t, uint64_t said, uint64_t number)
{
    if (said >> 24 == (number & UINT64_MAX >> 24))
        splitc_episode_agree(t, number, (enum splitc_collective)(said & 0xff), said >> 8 & 0xffff);
}

/* The member that came to the gate last has said what it does there. */
static void episode_check_gate(struct splitc_team *t, uint64_t number)
{
    const uint64_t *said;

    if (!t->crowded)
        return;
    said = splitc_team_copy(t, 0, &t->board->gate.said);
    splitc_episode_agree_said(t, __atomic_load_n(said, __ATOMIC_RELAXED), number);
}

void splitc_episode_check(struct splitc_team *t, uint64_t number)
{
    episode_check_gate(t, number);
    for (uint32_t place = 0; place < SPLITC_PLACES; place++) {
        const struct splitc_mailbox *box = &t->board->mailbox[number % SPLITC_EPISODES][place];

        if (mailbox_is_filled(box, number))
            splitc_episode_agree(t, number, box->what, box->rank);
    }
}

/* Whatever the other members say about those episodes, they have said by now. */
void splitc_episode_passed(struct splitc_team *t)
{
    while (++t->checked < t->episode)
        splitc_episode_check(t, t->checked);
}

uint64_t splitc_episode_hear(struct splitc_team *t, uint32_t place, uint32_t from)
{
    const uint64_t episode = t->episode;
    const struct splitc_mailbox *box = &t->board->mailbox[episode % SPLITC_EPISODES][place];
    struct splitc_wait w = {.kind = SPLITC_WAIT_COLLECTIVE,
                            .what = splitc_collective_name(t, t->current),
                            .whom = splitc_team_proc(t, from)};
    struct splitc_patience patience = {.over = false};

    while (!mailbox_is_filled(box, episode)) {
        splitc_wait_step_shared(&w);
        if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
            splitc_episode_check(t, episode);
        if (w.shown && splitc_patience_ends(&patience))
            splitc_inquire_episode(t, from);
    }
    splitc_wait_end(&w);
    splitc_episode_agree(t, episode, box->what, box->rank);
    return box->value;
}
