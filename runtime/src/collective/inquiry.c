/* SPDX-License-Identifier: BSD-3-Clause
 *
 *   message     words
 *   INQUIRY     slot|what|sender, episode, operation, slot at the sender
 *   NEVER       slot|what|sender, episode, operation
 */
#include "inquiry.h"

#include "library.h"
#include "pieces.h"

#include <stdlib.h>

#define PATIENCE 0.1 /* seconds */
#define SLOT_SHIFT 32
#define WHAT_SHIFT 16

/* Who has asked about a call that was not begun: the last question of a member in a team. */
struct asker {
    uint32_t rank;
    uint64_t slot;  /* of the team here */
    uint64_t there; /* and at the asker */
    struct splitc_call call;
};

static struct asker *asker;
static size_t askers, room;
static bool at_end;

bool splitc_patience_ends(struct splitc_patience *p)
{
    double now;

    if (p->over)
        return false;
    now = splitc_get_seconds();
    if (p->since == 0)
        p->since = now;
    p->over = now - p->since > PATIENCE;
    return p->over;
}

static uint64_t operations_begun(const struct splitc_team *t)
{
    return t->operations ? t->operations->begun : 0;
}

static bool call_is_ahead(const struct splitc_team *t, const struct splitc_call *call)
{
    return call->episode > t->episode || call->operation > operations_begun(t);
}

/* ---- asking ---------------------------------------------------------------------------- */

void splitc_inquire(const struct splitc_team *t, uint32_t member, const struct splitc_call *call)
{
    const uint32_t rank = splitc_team_proc(t, member);

    splitc_sent(rank, gam_request_4(splitc_runtime.gam, rank, SPLITC_MSG_INQUIRY,
                                    splitc_team_slot(t, member) << SLOT_SHIFT |
                                        (uint64_t)call->what << WHAT_SHIFT | t->at,
                                    call->episode, call->operation, t->own_slot));
}

/* Before a call -fcheck makes one of its own. */
static struct splitc_call current_call(const struct splitc_team *t)
{
    const struct splitc_account *last =
        &t->board->account[(t->accounts + SPLITC_ACCOUNTS - 1) % SPLITC_ACCOUNTS];

    return (struct splitc_call){
        .what = t->current == SPLITC_CHECK && last->what < SPLITC_COLLECTIVES
                    ? (enum splitc_collective)last->what
                    : t->current,
        .episode = t->episode,
        .operation = operations_begun(t),
    };
}

void splitc_inquire_episode(struct splitc_team *t, uint32_t member)
{
    const struct splitc_call call = current_call(t);

    splitc_inquire(t, member, &call);
}

void splitc_inquire_all(struct splitc_team *t)
{
    for (uint32_t member = 0; member < t->size; member++)
        if (member != t->at)
            splitc_inquire_episode(t, member);
}

/* ---- answering --------------------------------------------------------------------------- */

/* Handlers may only reply. */
static void never_tell(const struct asker *a, const struct splitc_team *t, bool reply)
{
    const uint64_t about = a->there << SLOT_SHIFT | (uint64_t)a->call.what << WHAT_SHIFT | t->at;
    struct gam *g = splitc_runtime.gam;

    splitc_sent(a->rank,
                reply ? gam_reply_3(g, SPLITC_MSG_NEVER, about, a->call.episode, a->call.operation)
                      : gam_request_3(g, a->rank, SPLITC_MSG_NEVER, about, a->call.episode,
                                      a->call.operation));
}

/* There is one for each member of each team at most, as a later question takes its place. */
static void asker_remember(const struct asker *new)
{
    size_t i = 0;

    while (i < askers && (asker[i].rank != new->rank || asker[i].slot != new->slot))
        i++;
    if (i == room) {
        room = room ? 2 * room : 16;
        asker = realloc(asker, room * sizeof *asker);
        if (!asker)
            splitc_die("no memory for the questions of other processors");
    }
    asker[i] = *new;
    askers += i == askers;
}

void splitc_inquiry_end(void)
{
    at_end = true;
    for (size_t i = 0; i < askers; i++) {
        const struct splitc_team *t = splitc_team_named(asker[i].slot);

        if (t && call_is_ahead(t, &asker[i].call))
            never_tell(&asker[i], t, false);
    }
    askers = 0;
}

static _Noreturn void die_of_difference(const struct splitc_team *t, const struct splitc_call *call,
                                        uint32_t rank)
{
    const struct splitc_call mine = current_call(t);
    const enum splitc_collective here =
        call->episode < t->episode ? mine.what : t->operations->last;

    if (here == call->what)
        splitc_die(
            "%s of rank %u and of rank %u do not match: counts have to agree, and either all "
            "members begin it or all wait for it",
            splitc_collective_name(t, here), rank, splitc_runtime.rank);
    splitc_die("collective calls differ: %s on rank %u, %s on rank %u",
               splitc_collective_name(t, call->what), rank, splitc_collective_name(t, here),
               splitc_runtime.rank);
}

static struct splitc_team *team_of(const struct gam_message *m)
{
    struct splitc_team *t = splitc_team_named(m->word[0] >> SLOT_SHIFT);
    const uint64_t member = m->word[0] & ((1u << WHAT_SHIFT) - 1);

    splitc_expect(m,
                  !t || (member < t->size && splitc_team_proc(t, (uint32_t)member) == m->source));
    return t;
}

static struct splitc_call call_of(const struct gam_message *m)
{
    const uint64_t what = m->word[0] >> WHAT_SHIFT & 0xffff;

    splitc_expect(m, what >= SPLITC_BARRIER && what < SPLITC_COLLECTIVES);
    return (struct splitc_call){
        .what = (enum splitc_collective)what, .episode = m->word[1], .operation = m->word[2]};
}

/* A team that was freed here has been freed by all, so the question is late. */
void splitc_on_inquiry(struct gam *g, const struct gam_message *m)
{
    struct splitc_team *t;
    struct asker new;

    (void)g;
    splitc_expect(m, m->words == 4);
    t = team_of(m);
    new = (struct asker){.rank = m->source, .call = call_of(m), .there = m->word[3]};
    if (!t || !call_is_ahead(t, &new.call))
        return;
    new.slot = t->own_slot;
    if (new.call.episode < t->episode || new.call.operation < operations_begun(t))
        die_of_difference(t, &new.call, m->source);
    if (at_end)
        never_tell(&new, t, true);
    else
        asker_remember(&new);
}

/* This rank cannot have gone on meanwhile without the sender. */
void splitc_on_never(struct gam *g, const struct gam_message *m)
{
    const struct splitc_team *t;
    struct splitc_call call;

    (void)g;
    splitc_expect(m, m->words == 3);
    t = team_of(m);
    call = call_of(m);
    splitc_expect(m, t && !call_is_ahead(t, &call));
    splitc_die("%s is collective, but rank %u has ended without it",
               splitc_place.what ? splitc_place.what : splitc_collective_name(t, call.what),
               m->source);
}
