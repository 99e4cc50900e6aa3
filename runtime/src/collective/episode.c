/* SPDX-License-Identifier: BSD-3-Clause */
#include "episode.h"

#include "access/access.h"

#define EPISODES 16u       /* mailboxes per place; a power of two */
#define CHECK_INTERVAL 64u /* steps of a wait between two looks at what others do */
#define PLACE_BITS 8       /* a message has what << PLACE_BITS | place */
#define PLACES (SPLITC_ACROSS + SPLITC_LEVELS)

static const struct {
    const char *name;
    bool meeting;
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

/* Filled by the handler of a message, or by the sender through its window. */
struct mailbox {
    uint64_t value;
    enum splitc_collective what;
    uint32_t rank;    /* the sender */
    uint64_t episode; /* written last; 0 = never filled */
    uint64_t unused;  /* half a cache line */
};

/* What was first said about an episode: by the call of this rank, or by another. */
struct agreement {
    uint64_t episode;
    enum splitc_collective what;
    uint32_t rank;
};

static struct mailbox mailbox[EPISODES][PLACES] __attribute__((aligned(64)));
static struct agreement agreement[EPISODES];
static enum splitc_collective current;    /* the kind of the last episode begun here */
static uint64_t checked;                  /* up to this episode all have said the same */
static uint64_t met;                      /* the last episode begun here that is a meeting */
static uint64_t ended_after = UINT64_MAX; /* the last episode of a rank that has ended, */
static uint32_t ended_rank;               /* which is this one */

struct splitc_gate splitc_gate __attribute__((aligned(64)));

/* ---- finding out that the ranks do not do the same ------------------------------ */

void splitc_episode_agree(uint64_t number, enum splitc_collective what, uint32_t rank)
{
    struct agreement *a = &agreement[number % EPISODES];

    if (a->episode != number)
        *a = (struct agreement){.episode = number, .what = what, .rank = rank};
    else if (a->what != what)
        splitc_die("collective calls differ: %s on rank %u, %s on rank %u", collective[what].name,
                   rank, collective[a->what].name, a->rank);
}

static void episode_check_ended(void)
{
    if (splitc_runtime.episode > ended_after)
        splitc_die("%s is collective, but rank %u has ended without it",
                   splitc_place.what ? splitc_place.what : collective[current].name, ended_rank);
}

void splitc_episode_rank_ended(uint32_t rank, uint64_t last)
{
    if (last >= ended_after)
        return;
    ended_after = last;
    ended_rank = rank;
    episode_check_ended();
}

const char *splitc_collective_name(enum splitc_collective what)
{
    return what < SPLITC_COLLECTIVES ? collective[what].name : "something else";
}

/* ---- values ------------------------------------------------------------------------ */

void splitc_episode_begin(enum splitc_collective what)
{
    if (splitc_runtime.running)
        splitc_must_not_wait();
    splitc_coalesced_go();
    splitc_runtime.episode++;
    current = what;
    if (collective[what].meeting)
        met = splitc_runtime.episode;
    episode_check_ended();
    splitc_episode_agree(splitc_runtime.episode, what, splitc_runtime.rank);
}

bool splitc_episode_is_meeting(enum splitc_collective what)
{
    return collective[what].meeting;
}

bool splitc_episode_needs_meeting(void)
{
    return splitc_runtime.episode - met == EPISODES - 2;
}

static void mailbox_fill(struct mailbox *box, const struct mailbox *with)
{
    box->value = with->value;
    box->what = with->what;
    box->rank = with->rank;
    __atomic_store_n(&box->episode, with->episode, __ATOMIC_RELEASE);
}

/* The next value for a mailbox comes EPISODES later, when its owner has finished this episode. */
void splitc_episode_tell(uint32_t to, uint32_t place, uint64_t value)
{
    const uint64_t episode = splitc_runtime.episode;
    struct mailbox *box = splitc_peers_copy(to, &mailbox[episode % EPISODES][place]);

    if (box) {
        mailbox_fill(box, &(struct mailbox){.value = value,
                                            .what = current,
                                            .rank = splitc_runtime.rank,
                                            .episode = episode});
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
    splitc_episode_agree(number, (enum splitc_collective)what, m->source);
    mailbox_fill(
        &mailbox[number % EPISODES][place],
        &(struct mailbox){.value = m->word[0], .what = what, .rank = m->source, .episode = number});
}

static bool mailbox_is_filled(const struct mailbox *box, uint64_t number)
{
    return __atomic_load_n(&box->episode, __ATOMIC_ACQUIRE) == number;
}

void splitc_episode_agree_said(uint64_t said, uint64_t number)
{
    if (said >> 24 == (number & UINT64_MAX >> 24))
        splitc_episode_agree(number, (enum splitc_collective)(said & 0xff), said >> 8 & 0xffff);
}

/* The rank that came to the gate last has said what it does there. */
static void episode_check_gate(uint64_t number)
{
    const uint64_t *said;

    if (!splitc_runtime.crowded)
        return;
    said = splitc_peers_copy(0, &splitc_gate.said);
    splitc_episode_agree_said(__atomic_load_n(said, __ATOMIC_RELAXED), number);
}

void splitc_episode_check(uint64_t number)
{
    episode_check_gate(number);
    for (uint32_t place = 0; place < PLACES; place++) {
        const struct mailbox *box = &mailbox[number % EPISODES][place];

        if (mailbox_is_filled(box, number))
            splitc_episode_agree(number, box->what, box->rank);
    }
}

/* Whatever the other ranks say about those episodes, they have said by now. */
void splitc_episode_passed(void)
{
    while (++checked < splitc_runtime.episode)
        splitc_episode_check(checked);
}

uint64_t splitc_episode_hear(uint32_t place, uint32_t from)
{
    const uint64_t episode = splitc_runtime.episode;
    const struct mailbox *box = &mailbox[episode % EPISODES][place];
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_COLLECTIVE, .what = collective[current].name, .whom = from};

    while (!mailbox_is_filled(box, episode)) {
        splitc_wait_step_shared(&w);
        if (w.idle % CHECK_INTERVAL == CHECK_INTERVAL - 1)
            splitc_episode_check(episode);
    }
    splitc_wait_end(&w);
    splitc_episode_agree(episode, box->what, box->rank);
    return box->value;
}
