/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pieces.c - what members send each other within an operation.
 *
 * A short piece is in the message that announces it.  Of a longer one the message has the address:
 * the receiver reads it there, through its window or by a transfer, and then says so.  So it goes
 * straight from the sender's array to where it is wanted, also where it is only combined.  But over
 * a network that takes three times as long as the bytes do; so if members send each other something
 * they send up to AHEAD bytes at once, in several messages, and the receiver puts them together
 * where they are wanted.  Who waits for the operation, and has nobody else to send to, sends up to
 * AHEAD_MOST so: the call takes as long as the network has for them.
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
#include "early.h"
#include "parts.h"

#include <stdlib.h>

#define IN_WORDS 16u               /* bytes */
#define EAGER 2048u                /* the longest that is in a message, */
#define AHEAD (4 * GAM_MEDIUM_MAX) /* in several, one behind the other, */
#define AHEAD_MOST (256u << 10)    /* and in those that this rank waits for */

#define NUMBER_BITS 26
#define STEP_BITS 25
#define BYTES_BITS 44
#define SLOT_SHIFT 32

_Static_assert(SPLITC_STEPS_MOST <= 1u << STEP_BITS, "every step has a token");
_Static_assert(SPLITC_RING <= 1u << (SLOT_SHIFT - STEP_BITS), "and every operation");
_Static_assert(SPLITC_COLLECTIVES <= 1u << (SLOT_SHIFT - NUMBER_BITS), "and every kind of them");
_Static_assert(GAM_RANKS_MAX <= 1u << 16, "every member has a number of 16 bits");

enum piece { PIECE_IN_WORDS, PIECE_BEHIND, PIECE_ELSEWHERE };

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

/* Where the bytes wait for their turn. */
static void *step_early(const struct splitc_operation *o, struct splitc_step *s)
{
    s->early = malloc(s->n);
    if (!s->early)
        splitc_die("no memory for %zu bytes of %s", s->n, splitc_collective_name(o->team, o->what));
    return s->early;
}

static void step_has_arrived(struct splitc_operation *o, struct splitc_step *s)
{
    s->arrived = true;
    if (s->kind == SPLITC_TAKE)
        step_is_done(o, s);
}

/* The peer sends what the step takes: this is where the bytes go. */
static void *step_expect(struct splitc_operation *o, struct splitc_step *s, size_t n)
{
    if (n != s->n)
        die_of_length(o, s, n);
    s->noticed = true;
    return s->kind == SPLITC_TAKE ? s->to : step_early(o, s);
}

/* The peer has sent what the step takes; `data` is NULL if it is not here. */
static void step_notice(struct splitc_operation *o, struct splitc_step *s,
                        const struct splitc_early *piece, const void *data)
{
    if (data) {
        memcpy(step_expect(o, s, piece->n), data, piece->n);
        step_has_arrived(o, s);
        return;
    }
    if (piece->n != s->n)
        die_of_length(o, s, piece->n);
    s->noticed = true;
    s->there = piece->there;
    s->token = piece->token;
    step_is_ready(o, s);
}

/* ---- handlers ----------------------------------------------------------------------------- */

/* What the pieces of this round say that they belong to: those of -fcheck come before members know
 * that they make the same call. */
static enum splitc_collective round_says(const struct splitc_operation *o)
{
    return o->round < o->checked ? SPLITC_CHECK : o->what;
}

static struct splitc_operation *operation_numbered(const struct splitc_team *t, uint64_t number)
{
    return t->operations->ring[number % SPLITC_RING].operation;
}

/* The step that takes the piece, or NULL: it is early. */
static struct splitc_step *step_for(const struct splitc_team *t, const struct splitc_early *piece)
{
    struct splitc_operation *o = operation_numbered(t, piece->number);

    if (!o)
        return NULL;
    if (o->round >= o->checked && o->what != piece->what)
        splitc_early_differs(o, splitc_team_proc(t, piece->peer), piece->what);
    if (splitc_inbox_first(&t->operations->ring[piece->number % SPLITC_RING].early, piece->peer))
        return NULL;
    return splitc_round_expecting(o, piece->peer);
}

/* All of a piece is here; `data` is NULL if its bytes are elsewhere. */
static void piece_deliver(struct splitc_team *t, const struct splitc_early *piece, const void *data)
{
    struct splitc_step *s = step_for(t, piece);
    struct splitc_early *e;

    if (s) {
        step_notice(operation_numbered(t, piece->number), s, piece, data);
        return;
    }
    e = splitc_early_new(piece);
    if (data)
        memcpy(e->bytes, data, piece->n);
    splitc_early_keep(t->operations, e);
}

/* The first message of a piece has come. */
static struct splitc_parts *parts_begin(const struct splitc_team *t,
                                        const struct splitc_early *piece,
                                        const struct gam_message *m)
{
    struct splitc_parts *p = splitc_parts_begin(m, piece->n);

    p->step = step_for(t, piece);
    p->operation = operation_numbered(t, piece->number);
    if (p->step) {
        p->to = step_expect(p->operation, p->step, piece->n);
    } else {
        p->early = splitc_early_new(piece);
        p->to = p->early->bytes;
    }
    return p;
}

/* The round that takes it may have begun meanwhile. */
static void early_deliver(struct splitc_team *t, struct splitc_early *e)
{
    struct splitc_step *s = step_for(t, e);

    if (s) {
        step_notice(operation_numbered(t, e->number), s, e, e->bytes);
        free(e);
    } else {
        splitc_early_keep(t->operations, e);
    }
}

static void part_arrived(struct splitc_team *t, const struct splitc_early *piece,
                         const struct gam_message *m)
{
    struct splitc_parts *p = splitc_parts_from(m->source);

    if (!p)
        p = parts_begin(t, piece, m);
    if (!splitc_parts_add(p, m))
        return;
    if (p->step)
        step_has_arrived(p->operation, p->step);
    else
        early_deliver(t, p->early);
    free(p);
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
    const bool goes_on = splitc_parts_from(m->source) != NULL;
    const void *data = NULL;

    (void)g;
    splitc_expect(m, m->words >= 2 && piece.n > 0 && (!goes_on || kind == PIECE_BEHIND));
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
        splitc_expect(m, m->data && m->length > 0 && m->length <= piece.n && piece.n <= AHEAD_MOST);
        if (goes_on || m->length < piece.n) {
            part_arrived(t, &piece, m);
            return;
        }
        data = m->data;
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

/* The most bytes that are sent before they are asked for. */
static size_t eager_most(const struct splitc_operation *o, const struct splitc_step *s)
{
    const bool is_waited_for = o->done != NULL;

    if (!s->ahead)
        return EAGER;
    return is_waited_for && s->n > AHEAD && splitc_round_has_one_receiver(o, s->peer) ? AHEAD_MOST
                                                                                      : AHEAD;
}

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
    } else if (s->n <= eager_most(o, s)) {
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
        step_notice(o, s, e, e->there ? NULL : e->bytes);
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
        splitc_early_check(o);
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
        to = step_early(o, s);
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
    splitc_round_do_local_steps(o);
    o->round++;
    if (o->account && o->round == o->checked && !round_is_agreed(o->account))
        splitc_collective_checks->differ(o->team, &o->account[0], &o->account[1]);
    if (o->round == o->fence)
        o->team->operations->fenced = o->number;
    if (o->round < o->rounds)
        splitc_operation_enter_round(o);
    return true;
}
