/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pieces.c - what members send each other within an operation.
 *
 * A short piece is in the message that announces it.  Of a longer one the message has the address:
 * the receiver reads it there, through its window or by a transfer, and then says so.  So it goes
 * straight from the sender's array to where it is wanted, also where it is only combined.  But over
 * a network that takes three times as long as the bytes do; so if members send each other something
 * they send up to AHEAD bytes at once, in several messages, and the receiver puts them together.
 *
 *   message                words
 *   PIECE                  slot|what|number, sender|kind|bytes, 2 of data, or address and token
 *   TAKEN                  token
 *   PULLED (of gam_get)    token of this rank's step
 *
 *   token                  slot|number|step
 */
#include "pieces.h"
#include "access/access.h"
#include "parts.h"
#include "round.h"

#include <stdlib.h>

#define IN_WORDS 16u               /* bytes */
#define EAGER 2048u                /* the longest that is in a message */
#define AHEAD (4 * GAM_MEDIUM_MAX) /* and in several, one behind the other */

#define NUMBER_BITS 26
#define STEP_BITS 25
#define BYTES_BITS 44
#define SLOT_SHIFT 32

_Static_assert(SPLITC_STEPS_MOST <= 1u << STEP_BITS, "every step has a token");
_Static_assert(SPLITC_RING <= 1u << (SLOT_SHIFT - STEP_BITS), "and every operation");
_Static_assert(SPLITC_COLLECTIVES <= 1u << (SLOT_SHIFT - NUMBER_BITS), "and every kind of them");
_Static_assert(GAM_RANKS_MAX <= 1u << 16, "every member has a number of 16 bits");

enum piece { PIECE_IN_WORDS, PIECE_BEHIND, PIECE_ELSEWHERE };

/* ---- the operations of a team ------------------------------------------------------------- */

struct splitc_operations *splitc_operations_of(struct splitc_team *t)
{
    if (!t->operations)
        t->operations = calloc(1, sizeof *t->operations);
    if (!t->operations)
        splitc_die("no memory for the collective operations of a team");
    return t->operations;
}

/* ---- tokens ------------------------------------------------------------------------------- */

static uint64_t token_of(const struct splitc_operation *o, const struct splitc_step *s)
{
    return (uint64_t)o->team->own_slot << SLOT_SHIFT | o->number % SPLITC_RING << STEP_BITS |
           (uint64_t)(s - o->step);
}

/* NULL: there is no such step in this round. */
static struct splitc_step *step_of(uint64_t token, struct splitc_operation **of)
{
    const struct splitc_team *t = splitc_team_named(token >> SLOT_SHIFT);
    const uint64_t index = token & (SPLITC_STEPS_MOST - 1);
    struct splitc_operation *o;

    if (!t || !t->operations)
        return NULL;
    o = t->operations->ring[token >> STEP_BITS & (SPLITC_RING - 1)].operation;
    if (!o || index < o->first || index >= o->end)
        return NULL;
    *of = o;
    return &o->step[index];
}

/* ---- steps that can go on ----------------------------------------------------------------- */

static void step_is_ready(struct splitc_operation *o, struct splitc_step *s)
{
    s->next_ready = o->ready;
    o->ready = (uint32_t)(s - o->step) + 1;
}

static void step_is_done(struct splitc_operation *o, struct splitc_step *s)
{
    s->done = true;
    o->missing--;
}

static _Noreturn void die_of_length(const struct splitc_operation *o, const struct splitc_step *s,
                                    size_t n)
{
    splitc_die("%s: processor %u sends %zu bytes where %zu are expected; counts have to agree",
               splitc_collective_name(o->team, o->what), splitc_team_proc(o->team, s->peer), n,
               s->n);
}

/* The peer has sent what the step takes; `data` is NULL if it is not here. */
static void step_notice(struct splitc_operation *o, struct splitc_step *s, size_t n,
                        const void *data, const void *there, uint64_t token)
{
    if (n != s->n)
        die_of_length(o, s, n);
    s->noticed = true;
    s->there = there;
    s->token = token;
    if (!data) {
        step_is_ready(o, s);
    } else if (s->kind == SPLITC_TAKE) {
        memcpy(s->to, data, n);
        s->arrived = true;
        step_is_done(o, s);
    } else {
        s->early = malloc(n);
        if (!s->early)
            splitc_die("no memory for %zu bytes of %s", n,
                       splitc_collective_name(o->team, o->what));
        memcpy(s->early, data, n);
        s->arrived = true;
    }
}

/* ---- handlers ----------------------------------------------------------------------------- */

static void keep_early(struct splitc_operations *all, const struct splitc_early *piece,
                       const void *data)
{
    const size_t bytes = data ? piece->n : 0;
    struct splitc_early *e = malloc(sizeof *e + bytes);

    if (e) {
        *e = *piece;
        memcpy(e->bytes, data ? data : "", bytes);
    }
    if (!e || !splitc_inbox_put(&all->ring[piece->number % SPLITC_RING].early, e))
        splitc_die("no memory for what others send of collective operations");
}

static _Noreturn void die_of_other_call(const struct splitc_operation *o, uint32_t rank,
                                        enum splitc_collective what)
{
    splitc_die("collective calls differ: %s on rank %u, %s on rank %u",
               splitc_collective_name(o->team, what), rank,
               splitc_collective_name(o->team, o->what), splitc_runtime.rank);
}

/* What the pieces of this round say that they belong to: those of -fcheck come before members know
 * that they make the same call. */
static enum splitc_collective round_says(const struct splitc_operation *o)
{
    return o->round < o->checked ? SPLITC_CHECK : o->what;
}

static void piece_deliver(struct splitc_team *t, const struct splitc_early *piece, const void *data)
{
    struct splitc_operations *all = t->operations;
    struct splitc_operation *o = all->ring[piece->number % SPLITC_RING].operation;
    struct splitc_step *s = NULL;

    if (o && o->round >= o->checked && o->what != piece->what)
        die_of_other_call(o, splitc_team_proc(t, piece->peer), piece->what);
    if (o && !splitc_inbox_first(&all->ring[piece->number % SPLITC_RING].early, piece->peer))
        s = splitc_round_expecting(o, piece->peer);
    if (s)
        step_notice(o, s, piece->n, data, piece->there, piece->token);
    else
        keep_early(all, piece, data);
}

/* The full number, of which the message has the lowest bits. */
static uint64_t number_near(const struct splitc_operations *all, uint64_t low)
{
    const uint64_t mask = (1ul << NUMBER_BITS) - 1;

    return all->fenced + ((low - all->fenced) & mask);
}

void splitc_on_piece(struct gam *g, const struct gam_message *m)
{
    struct splitc_team *t;
    const enum piece kind = (enum piece)(m->word[1] >> BYTES_BITS & 3);
    struct splitc_early piece = {
        .peer = (uint32_t)(m->word[1] >> (BYTES_BITS + 4)),
        .n = m->word[1] & ((1ul << BYTES_BITS) - 1),
        .what = (enum splitc_collective)(m->word[0] >> NUMBER_BITS & 63),
    };
    struct splitc_parts *parts = NULL;
    const void *data = NULL;

    (void)g;
    splitc_expect(m, m->words >= 2 && piece.n > 0);
    t = splitc_team_named(m->word[0] >> SLOT_SHIFT);
    splitc_expect(m, t && piece.peer < t->size && splitc_team_proc(t, piece.peer) == m->source);
    splitc_operations_of(t);
    piece.number = number_near(t->operations, m->word[0] & ((1ul << NUMBER_BITS) - 1));
    splitc_expect(m, piece.number - t->operations->fenced < SPLITC_RING &&
                         piece.what < SPLITC_COLLECTIVES);
    switch (kind) {
    case PIECE_IN_WORDS:
        splitc_expect(m, m->words == 4 && piece.n <= IN_WORDS);
        data = &m->word[2];
        break;
    case PIECE_BEHIND:
        splitc_expect(m, m->data && m->length > 0 && m->length <= piece.n && piece.n <= AHEAD);
        data = m->data;
        if (m->length < piece.n) {
            parts = splitc_parts_add(m, piece.n);
            if (!parts)
                return;
            data = parts->bytes;
        }
        break;
    case PIECE_ELSEWHERE:
        splitc_expect(m, m->words == 4 && m->word[2] != 0); /* NULL would mean that it is here */
        piece.there = (const void *)(uintptr_t)m->word[2];
        piece.token = m->word[3];
        break;
    default:
        splitc_expect(m, false);
    }
    piece_deliver(t, &piece, data);
    free(parts);
}

void splitc_on_taken(struct gam *g, const struct gam_message *m)
{
    struct splitc_operation *o = NULL;
    struct splitc_step *s = m->words == 1 ? step_of(m->word[0], &o) : NULL;

    (void)g;
    splitc_expect(m, s && s->kind == SPLITC_SEND && !s->done &&
                         splitc_team_proc(o->team, s->peer) == m->source);
    step_is_done(o, s);
}

void splitc_on_pulled(struct gam *g, const struct gam_message *m)
{
    struct splitc_operation *o = NULL;
    struct splitc_step *s = step_of(m->word[0], &o);

    (void)g;
    splitc_expect(m, m->words == 1 && s && s->pulling && !s->arrived &&
                         splitc_team_proc(o->team, s->peer) == m->source);
    s->arrived = true;
    step_is_ready(o, s);
}

/* ---- sending ------------------------------------------------------------------------------ */

static void piece_send(struct splitc_operation *o, struct splitc_step *s)
{
    const struct splitc_team *t = o->team;
    struct gam *g = splitc_runtime.gam;
    const uint32_t rank = splitc_team_proc(t, s->peer);
    const uint64_t about = (uint64_t)t->at << (BYTES_BITS + 4) | s->n;
    uint64_t word[4] = {splitc_team_slot(t, s->peer) << SLOT_SHIFT |
                        (uint64_t)round_says(o) << NUMBER_BITS |
                        (o->number & ((1ul << NUMBER_BITS) - 1))};

    if (s->n <= IN_WORDS) {
        word[1] = about | (uint64_t)PIECE_IN_WORDS << BYTES_BITS;
        memcpy(&word[2], s->from, s->n);
        step_is_done(o, s);
        splitc_sent(rank, gam_request(g, rank, SPLITC_MSG_PIECE, 4, word));
    } else if (s->n <= (s->ahead ? AHEAD : EAGER)) {
        word[1] = about | (uint64_t)PIECE_BEHIND << BYTES_BITS;
        step_is_done(o, s);
        splitc_parts_send(rank, s->from, s->n, word);
    } else {
        word[1] = about | (uint64_t)PIECE_ELSEWHERE << BYTES_BITS;
        word[2] = (uintptr_t)s->from;
        word[3] = token_of(o, s);
        splitc_sent(rank, gam_request(g, rank, SPLITC_MSG_PIECE, 4, word));
    }
}

static _Noreturn void die_of_stray(const struct splitc_operation *o, const struct splitc_early *e)
{
    splitc_die("%s: processor %u has sent %zu bytes that this one does not expect; all members "
               "have to give counts that agree",
               splitc_collective_name(o->team, e->what), splitc_team_proc(o->team, e->peer), e->n);
}

static bool is_of_other_call(const struct splitc_early *e, const void *operation)
{
    const struct splitc_operation *o = operation;

    return e->number != o->number || e->what != o->what;
}

/* From the first round on in which members know that they make the same call, all that comes is of
 * this one. */
static void round_check_early(const struct splitc_operation *o)
{
    const struct splitc_inbox *early = &o->team->operations->ring[o->number % SPLITC_RING].early;
    const struct splitc_early *e = splitc_inbox_find(early, is_of_other_call, o);

    if (e && e->number != o->number)
        die_of_stray(o, e);
    if (e)
        die_of_other_call(o, splitc_team_proc(o->team, e->peer), e->what);
}

/* What came before this round is taken before anything else can come. */
static void round_take_early(struct splitc_operation *o)
{
    struct splitc_inbox *early = &o->team->operations->ring[o->number % SPLITC_RING].early;

    for (uint32_t i = o->first; early->pieces > 0 && i < o->end; i++) {
        struct splitc_step *s = &o->step[i];
        struct splitc_early *e = splitc_step_takes(s) ? splitc_inbox_first(early, s->peer) : NULL;

        if (!e || e->what != round_says(o))
            continue;
        splitc_inbox_take(early, s->peer);
        step_notice(o, s, e->n, e->there ? NULL : e->bytes, e->there, e->token);
        free(e);
    }
}

void splitc_operation_enter_round(struct splitc_operation *o)
{
    o->first = o->end;
    while (o->end < o->steps && o->step[o->end].round == o->round)
        o->end++;
    o->turn = o->first;
    o->asked = o->first;
    o->ready = 0;
    o->missing = 0;
    for (uint32_t i = o->first; i < o->end; i++)
        o->missing += o->step[i].kind <= SPLITC_TAKE_COMBINE_BEFORE;
    splitc_round_list_takers(o);
    if (o->round == o->checked)
        round_check_early(o);
    round_take_early(o);
    for (uint32_t i = o->first; i < o->end; i++)
        if (o->step[i].kind == SPLITC_SEND)
            piece_send(o, &o->step[i]);
}

/* ---- taking ------------------------------------------------------------------------------- */

/* Where the piece can be read; NULL: only a transfer reaches it. */
static const void *piece_seen(const struct splitc_operation *o, const struct splitc_step *s)
{
    const splitc_ptr g = splitc_make((int)splitc_team_proc(o->team, s->peer), s->there);

    return splitc_is_near(g) && splitc_is_near(g + s->n - 1) ? splitc_near(g) : NULL;
}

static void piece_taken(struct splitc_operation *o, struct splitc_step *s)
{
    const uint32_t rank = splitc_team_proc(o->team, s->peer);

    step_is_done(o, s);
    if (s->there)
        splitc_sent(rank, gam_request_1(splitc_runtime.gam, rank, SPLITC_MSG_TAKEN, s->token));
}

static void piece_pull(struct splitc_operation *o, struct splitc_step *s)
{
    const uint32_t rank = splitc_team_proc(o->team, s->peer);
    void *to = s->to;

    if (s->kind != SPLITC_TAKE)
        to = s->early = malloc(s->n);
    if (!to)
        splitc_die("no memory for %zu bytes of %s", s->n, splitc_collective_name(o->team, o->what));
    s->pulling = true;
    splitc_sent(rank, gam_get(splitc_runtime.gam, rank, s->there, to, s->n, SPLITC_MSG_PULLED,
                              token_of(o, s)));
}

/* Something has happened to a step.  Those that combine wait for their turn. */
static void step_go_on(struct splitc_operation *o, struct splitc_step *s)
{
    const void *seen = s->arrived ? NULL : piece_seen(o, s);

    if (!s->arrived && !seen) {
        piece_pull(o, s);
    } else if (s->kind == SPLITC_TAKE) {
        if (seen)
            memcpy(s->to, seen, s->n);
        s->arrived = true;
        piece_taken(o, s);
    } else {
        s->arrived = true;
    }
}

static void step_combine(struct splitc_operation *o, struct splitc_step *s)
{
    const void *from = s->early ? s->early : piece_seen(o, s);

    if (s->kind == SPLITC_TAKE_COMBINE)
        splitc_combine_arrays(&o->with, s->to, from, s->n);
    else
        splitc_combine_before(&o->with, s->to, from, s->n);
    free(s->early);
    s->early = NULL;
}

/* Combine what has its turn. */
static bool round_combine(struct splitc_operation *o)
{
    bool any = false;

    for (; o->turn < o->end; o->turn++) {
        struct splitc_step *s = &o->step[o->turn];

        if (s->kind != SPLITC_TAKE_COMBINE && s->kind != SPLITC_TAKE_COMBINE_BEFORE)
            continue;
        if (!s->arrived)
            break;
        step_combine(o, s);
        piece_taken(o, s);
        any = true;
    }
    return any;
}

static void round_do_local_steps(struct splitc_operation *o)
{
    for (uint32_t i = o->first; i < o->end; i++) {
        struct splitc_step *s = &o->step[i];

        if (s->kind == SPLITC_LOCAL_COPY)
            memmove(s->to, s->from, s->n);
        else if (s->kind == SPLITC_LOCAL_COMBINE)
            splitc_combine_arrays(&o->with, s->to, s->from, s->n);
        else if (s->kind == SPLITC_LOCAL_COMBINE_BEFORE)
            splitc_combine_before(&o->with, s->to, s->from, s->n);
    }
}

static bool round_is_agreed(const struct splitc_account *account)
{
    const struct splitc_account *mine = &account[0], *first = &account[1];

    return mine->what == first->what && mine->a == first->a && mine->b == first->b;
}

bool splitc_operation_move(struct splitc_operation *o)
{
    bool moved = false;

    if (o->round == o->rounds)
        return false;
    while (o->ready) {
        struct splitc_step *s = &o->step[o->ready - 1];

        o->ready = s->next_ready;
        step_go_on(o, s);
        moved = true;
    }
    moved |= round_combine(o);
    if (o->missing > 0)
        return moved;
    round_do_local_steps(o);
    o->round++;
    if (o->account && o->round == o->checked && !round_is_agreed(o->account))
        splitc_collective_checks->differ(o->team, &o->account[0], &o->account[1]);
    if (o->round == o->fence)
        o->team->operations->fenced = o->number;
    if (o->round < o->rounds)
        splitc_operation_enter_round(o);
    return true;
}

static bool is_any(const struct splitc_early *e, const void *argument)
{
    (void)e;
    (void)argument;
    return true;
}

void splitc_operation_check_ended(const struct splitc_operation *o)
{
    struct splitc_inbox *early = &o->team->operations->ring[o->number % SPLITC_RING].early;
    const struct splitc_early *e = splitc_inbox_find(early, is_any, NULL);

    if (e)
        die_of_stray(o, e);
    splitc_inbox_close(early);
}
