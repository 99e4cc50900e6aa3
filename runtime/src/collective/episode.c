/* SPDX-License-Identifier: BSD-3-Clause */
#include "episode.h"

#include "job/checks.h"
#include "library.h"

#define EPISODES 16u       /* mailboxes per place; a power of two */
#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */
#define PLACE_BITS 8       /* a message says what << PLACE_BITS | place */
#define PLACES (SPLITC_ACROSS + SPLITC_LEVELS)

static const struct {
    const char *name;
    bool meeting; /* nobody leaves it before everybody has begun it */
} collective[SPLITC_COLLECTIVES] = {
    [SPLITC_BARRIER] = {"barrier", true},
    [SPLITC_SPREAD_FREE] = {"all_spread_free (or the end of a spread array)", true},
    [SPLITC_REDUCE_TO_ALL] = {"all_reduce_to_all (or all_store_sync)", true},
    [SPLITC_REDUCE_TO_ONE] = {"all_reduce_to_one", false},
    [SPLITC_BROADCAST] = {"all_bcast", false},
    [SPLITC_SCAN] = {"all_scan", false},
    [SPLITC_CHECK] = {"this call", false},
    [SPLITC_SPREAD_ALLOC] = {"all_spread_malloc (or a spread array)", false},
    [SPLITC_ALL_STORE_SYNC] = {"all_store_sync", false},
};

/* Filled by a message's handler, or by the sender through its window of us. */
struct mailbox {
    uint64_t value;
    enum splitc_collective what;
    uint32_t rank;    /* who says so */
    uint64_t episode; /* written last; 0 = never filled */
    uint64_t unused;  /* half a cache line */
};

/* What was first said about an episode: by our own call, or in a message. */
struct agreement {
    uint64_t episode;
    enum splitc_collective what;
    uint32_t rank;
};

static struct mailbox mailbox[EPISODES][PLACES] __attribute__((aligned(64)));
static struct agreement agreement[EPISODES];
static uint64_t episode;                  /* the last one begun here */
static enum splitc_collective current;    /* what it is */
static uint64_t checked;                  /* up to here nobody said anything else */
static uint64_t met;                      /* the last of them that was a meeting */
static uint64_t ended_after = UINT64_MAX; /* the last one of some rank that has ended */
static uint32_t ended_rank;

/* ---- finding out that the ranks do not do the same ------------------------------ */

void splitc_agree(uint64_t number, enum splitc_collective what, uint32_t rank)
{
    struct agreement *a = &agreement[number % EPISODES];

    if (a->episode != number)
        *a = (struct agreement){.episode = number, .what = what, .rank = rank};
    else if (a->what != what)
        splitc_die("collective calls differ: %s on rank %u, %s on rank %u", collective[what].name,
                   rank, collective[a->what].name, a->rank);
}

static void check_ended(void)
{
    if (episode > ended_after)
        splitc_die("%s is collective, but rank %u has ended without it",
                   splitc_place.what ? splitc_place.what : collective[current].name, ended_rank);
}

void splitc_rank_ended(uint32_t rank, uint64_t last)
{
    if (last >= ended_after)
        return;
    ended_after = last;
    ended_rank = rank;
    check_ended();
}

const char *splitc_collective_name(enum splitc_collective what)
{
    return what < SPLITC_COLLECTIVES ? collective[what].name : "something else";
}

/* ---- values ------------------------------------------------------------------------ */

static void enter(enum splitc_collective what)
{
    if (splitc_runtime.running)
        splitc_must_not_wait();
    episode++;
    current = what;
    if (collective[what].meeting)
        met = episode;
    check_ended();
    splitc_agree(episode, what, splitc_runtime.rank);
}

void splitc_episode_begin(enum splitc_collective what)
{
    if (!collective[what].meeting && episode - met == EPISODES - 2)
        splitc_meet(SPLITC_BARRIER);
    enter(what);
}

uint64_t splitc_last_episode(void)
{
    return episode;
}

static void fill(struct mailbox *box, const struct mailbox *with)
{
    box->value = with->value;
    box->what = with->what;
    box->rank = with->rank;
    __atomic_store_n(&box->episode, with->episode, __ATOMIC_RELEASE);
}

/* The next value for a mailbox comes 16 episodes later: its owner is done with this one
 * by then, whoever fills it. */
void splitc_tell(uint32_t to, uint32_t place, uint64_t value)
{
    struct mailbox *box = splitc_peers_copy(to, &mailbox[episode % EPISODES][place]);

    if (box) {
        fill(box,
             &(struct mailbox){
                 .value = value, .what = current, .rank = splitc_runtime.rank, .episode = episode});
        splitc_wake(to);
    } else {
        splitc_sent(to, gam_request_3(splitc_runtime.gam, to, SPLITC_MSG_COLLECTIVE, value, episode,
                                      (uint64_t)current << PLACE_BITS | place));
    }
}

void splitc_on_collective(struct gam *g, const struct gam_message *m)
{
    uint64_t number = m->word[1];
    uint64_t place = m->word[2] & ((1u << PLACE_BITS) - 1);
    uint64_t what = m->word[2] >> PLACE_BITS;

    (void)g;
    splitc_expect(m, m->words == 3 && number - met < EPISODES && place < PLACES &&
                         what >= SPLITC_BARRIER && what < SPLITC_COLLECTIVES);
    splitc_agree(number, (enum splitc_collective)what, m->source);
    fill(
        &mailbox[number % EPISODES][place],
        &(struct mailbox){.value = m->word[0], .what = what, .rank = m->source, .episode = number});
}

static bool is_filled(const struct mailbox *box, uint64_t number)
{
    return __atomic_load_n(&box->episode, __ATOMIC_ACQUIRE) == number;
}

void splitc_check_agreement(uint64_t number)
{
    splitc_gate_compare(number);
    for (uint32_t place = 0; place < PLACES; place++) {
        const struct mailbox *box = &mailbox[number % EPISODES][place];

        if (is_filled(box, number))
            splitc_agree(number, box->what, box->rank);
    }
}

/* What was said without making anybody wait has been said by now. */
void splitc_episode_met(void)
{
    while (++checked < episode)
        splitc_check_agreement(checked);
}

uint64_t splitc_hear(uint32_t place, uint32_t from)
{
    const struct mailbox *box = &mailbox[episode % EPISODES][place];
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_COLLECTIVE, .what = collective[current].name, .whom = from};

    while (!is_filled(box, episode)) {
        splitc_wait_step_shared(&w);
        if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
            splitc_check_agreement(episode);
    }
    splitc_wait_end(&w);
    splitc_agree(episode, box->what, box->rank);
    return box->value;
}

/* ---- everybody waits for everybody ---------------------------------------------------- */

/* In round k everybody tells the one 2^k above it and hears from the one 2^k below; after log2 of
 * their number rounds everybody has heard of everybody. */
static void meet_in_rounds(void)
{
    const uint32_t rank = splitc_runtime.rank, ranks = splitc_runtime.ranks;

    for (unsigned round = 0; 1u << round < ranks; round++) {
        splitc_tell((rank + (1u << round)) % ranks, round, 0);
        splitc_hear(round, (rank + ranks - (1u << round)) % ranks);
    }
}

/* The same between the first ranks of nodes. */
static void meet_across_nodes(void)
{
    const uint32_t *first = splitc_runtime.first;
    const uint32_t nodes = splitc_runtime.nodes, here = splitc_runtime.node_at;

    for (unsigned round = 0; 1u << round < nodes; round++) {
        splitc_tell(first[(here + (1u << round)) % nodes], SPLITC_ACROSS + round, 0);
        splitc_hear(SPLITC_ACROSS + round, first[(here + nodes - (1u << round)) % nodes]);
    }
}

/* Up a binomial tree of the node's ranks, across, and down again: one message for each node and
 * round, all else goes through windows. */
static void meet_by_nodes(void)
{
    const uint32_t *near = splitc_runtime.near;
    const uint32_t here = splitc_runtime.near_at;
    unsigned level = 0;

    for (; !(here >> level & 1) && here + (1u << level) < splitc_runtime.near_ranks; level++)
        splitc_hear(level, near[here + (1u << level)]);
    if (here == 0) {
        meet_across_nodes();
    } else {
        const uint32_t parent = here & (here - 1);

        splitc_tell(near[parent], (unsigned)__builtin_ctz(here), 0);
        splitc_hear(SPLITC_DOWN, near[parent]);
    }
    while (level-- > 0)
        splitc_tell(near[here + (1u << level)], SPLITC_DOWN, 0);
}

/* After a meeting: everybody's messages from before it have arrived. */
static void serve(void)
{
    if (splitc_runtime.crowded)
        splitc_gate_serve(episode);
    else
        splitc_poll();
}

void splitc_meet(enum splitc_collective what)
{
    enter(what);
    if (splitc_runtime.crowded)
        splitc_gate_meet(episode, what, SPLITC_ADD, 0);
    else if (splitc_runtime.nodes > 0)
        meet_by_nodes();
    else
        meet_in_rounds();
    serve();
    splitc_episode_met();
}

void splitc_barrier(void)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_BARRIER, 0, 0);
    splitc_meet(SPLITC_BARRIER);
}
