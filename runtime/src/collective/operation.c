/* SPDX-License-Identifier: BSD-3-Clause
 *
 * operation.c - writing operations down, and their order within a team.
 *
 * Members begin the operations of a team in the same order, so each has a number.  One that has
 * little to wait for may run ahead of the others.  What they cannot take yet waits with them, in a
 * ring of RING operations, so every FENCE-th begins with rounds in which all members tell each
 * other that they have completed those before it.  An operation starts when the fence before it is
 * passed.
 */
#include "operation.h"

#include "access/access.h"
#include "early.h"
#include "inquiry.h"
#include "pieces.h"

#include <stdlib.h>

#define SPARES 16u
#define SPARE_STEPS 64u

struct scratch {
    struct scratch *next;
    _Alignas(max_align_t) uint8_t bytes[];
};

static _Noreturn void die_of_memory(const struct splitc_operation *o, size_t n)
{
    splitc_die("no memory for %s: %zu bytes", splitc_collective_name(o->team, o->what), n);
}

/* ---- writing down -------------------------------------------------------------------- */

static struct splitc_step *step_add(struct splitc_operation *o, enum splitc_step_kind kind,
                                    uint32_t peer, size_t n)
{
    struct splitc_step *s;

    if (o->steps == o->room) {
        o->room = o->room ? 2 * o->room : 8;
        o->step = realloc(o->step, o->room * sizeof *o->step);
        if (!o->step || o->room > SPLITC_STEPS_MOST)
            die_of_memory(o, o->room * sizeof *o->step);
    }
    s = &o->step[o->steps++];
    *s = (struct splitc_step){.kind = kind, .round = o->rounds, .peer = peer, .n = n};
    return s;
}

void splitc_operation_send(struct splitc_operation *o, uint32_t peer, const void *from, size_t n)
{
    if (n > 0)
        step_add(o, SPLITC_SEND, peer, n)->from = from;
}

void splitc_operation_send_ahead(struct splitc_operation *o, uint32_t peer, const void *from,
                                 size_t n)
{
    struct splitc_step *s;

    if (n == 0)
        return;
    s = step_add(o, SPLITC_SEND, peer, n);
    s->from = from;
    s->ahead = splitc_is_by_network(splitc_team_proc(o->team, peer));
}

void splitc_operation_take(struct splitc_operation *o, uint32_t peer, void *to, size_t n)
{
    if (n > 0)
        step_add(o, SPLITC_TAKE, peer, n)->to = to;
}

void splitc_operation_take_combine(struct splitc_operation *o, uint32_t peer, void *to, size_t n)
{
    if (n > 0)
        step_add(o, SPLITC_TAKE_COMBINE, peer, n)->to = to;
}

void splitc_operation_take_combine_before(struct splitc_operation *o, uint32_t peer, void *to,
                                          size_t n)
{
    if (n > 0)
        step_add(o, SPLITC_TAKE_COMBINE_BEFORE, peer, n)->to = to;
}

static void local_add(struct splitc_operation *o, enum splitc_step_kind kind, void *to,
                      const void *from, size_t n)
{
    struct splitc_step *s;

    if (n == 0 || to == from)
        return;
    s = step_add(o, kind, 0, n);
    s->to = to;
    s->from = from;
}

void splitc_operation_copy(struct splitc_operation *o, void *to, const void *from, size_t n)
{
    local_add(o, SPLITC_LOCAL_COPY, to, from, n);
}

void splitc_operation_combine(struct splitc_operation *o, void *to, const void *from, size_t n)
{
    local_add(o, SPLITC_LOCAL_COMBINE, to, from, n);
}

void splitc_operation_combine_before(struct splitc_operation *o, void *to, const void *from,
                                     size_t n)
{
    local_add(o, SPLITC_LOCAL_COMBINE_BEFORE, to, from, n);
}

void splitc_operation_end_round(struct splitc_operation *o)
{
    if (o->steps > 0 && o->step[o->steps - 1].round == o->rounds)
        o->rounds++;
}

void *splitc_operation_scratch(struct splitc_operation *o, size_t n)
{
    struct scratch *s = malloc(sizeof *s + n);

    if (!s)
        die_of_memory(o, n);
    s->next = o->scratch;
    o->scratch = s;
    return s->bytes;
}

/* ---- the order of operations -------------------------------------------------------------- */

/* A dissemination barrier of messages of one byte. */
void splitc_operation_add_barrier(struct splitc_operation *o)
{
    static uint8_t token, tokens[SPLITC_LEVELS];
    const struct splitc_team *t = o->team;

    for (unsigned k = 0; 1u << k < t->size; k++) {
        splitc_operation_send(o, (t->at + (1u << k)) % t->size, &token, sizeof token);
        splitc_operation_take(o, (t->at + t->size - (1u << k)) % t->size, &tokens[k], sizeof token);
        splitc_operation_end_round(o);
    }
}

/* Small ones that are complete, with their lists of steps, for those to come. */
static struct splitc_operation *spare;
static uint32_t spares;

static struct splitc_operation *operation_allocate(void)
{
    struct splitc_operation *o = spare;

    if (o) {
        spare = o->next;
        spares--;
        *o = (struct splitc_operation){.step = o->step, .room = o->room};
        return o;
    }
    o = calloc(1, sizeof *o);
    if (!o)
        splitc_die("no memory for one more collective operation");
    return o;
}

static void operation_release(struct splitc_operation *o)
{
    if (spares < SPARES && o->room <= SPARE_STEPS) {
        o->next = spare;
        spare = o;
        spares++;
        return;
    }
    free(o->step);
    free(o);
}

struct splitc_operation *splitc_operation_new(struct splitc_team *t, enum splitc_collective what)
{
    struct splitc_operations *all = splitc_operations_of(t);
    struct splitc_operation *o = operation_allocate();

    if (splitc_runtime.running)
        splitc_must_not_wait();
    if (!splitc_own_thread)
        splitc_foreign_collective(splitc_collective_name(t, what));
    splitc_coalesced_go();
    splitc_runtime.collectives++;
    o->team = t;
    o->what = what;
    o->number = ++all->begun;
    o->episode = t->episode;
    all->last = what;
    if (o->number % SPLITC_FENCE == 0) {
        splitc_operation_add_barrier(o);
        o->fence = o->rounds;
    }
    return o;
}

/* All operations under way, in the order in which they were begun. */
static struct splitc_operation *first, **last = &first;

static bool is_first_of_team(const struct splitc_operation *o)
{
    const struct splitc_operation *other = first;

    while (other->team != o->team)
        other = other->next;
    return other == o;
}

static bool operation_may_start(const struct splitc_operation *o)
{
    if (o->number % SPLITC_FENCE == 0)
        return is_first_of_team(o);
    return o->number < o->team->operations->fenced + SPLITC_FENCE;
}

static void operation_end(struct splitc_operation *o)
{
    struct splitc_operations *all = o->team->operations;

    splitc_early_check_ended(o);
    all->ring[o->number % SPLITC_RING].operation = NULL;
    all->under_way--;
    splitc_takers_close(&o->takers);
    while (o->scratch) {
        struct scratch *s = o->scratch;

        o->scratch = s->next;
        free(s);
    }
    if (o->done) {
        *o->done = true;
    } else {
        splitc_runtime.puts--;
        splitc_handle_less(o->handle);
    }
    operation_release(o);
}

static void operation_start(struct splitc_operation *o)
{
    o->started = true;
    if (o->number % SPLITC_FENCE == 0 && o->fence == 0) /* there are no others */
        o->team->operations->fenced = o->number;
    o->team->operations->ring[o->number % SPLITC_RING].operation = o;
    splitc_operation_enter_round(o);
}

/* Returns whether anything was done. */
static bool operation_go_on(struct splitc_operation *o)
{
    bool moved = false;

    if (!o->started) {
        if (!operation_may_start(o))
            return false;
        operation_start(o);
        moved = true;
    }
    while (splitc_operation_move(o))
        moved = true;
    return moved;
}

/* ---- operations that do not go on --------------------------------------------------------- */

#define VAIN 32u /* looks in vain until the clock is looked at; a wait sleeps after some more */
#define ASK 64u  /* members at a time */

/* Ask those that this member waits for in its current round whether they make the call. */
static uint32_t operation_inquire(struct splitc_operation *o)
{
    const struct splitc_call call = {o->what, o->episode, o->number};
    uint32_t asked = 0;

    for (; o->asked < o->end && asked < ASK; o->asked++) {
        const struct splitc_step *s = &o->step[o->asked];

        if (s->kind > SPLITC_TAKE_COMBINE_BEFORE || s->done)
            continue;
        splitc_inquire(o->team, s->peer, &call);
        asked++;
    }
    return asked;
}

static void operations_look(bool moved)
{
    static struct splitc_patience patience;
    static uint32_t vain;
    uint32_t asked = 0;

    if (moved) {
        vain = 0;
        patience = (struct splitc_patience){.over = false};
        return;
    }
    if (vain++ < VAIN || !splitc_patience_ends(&patience))
        return;
    for (struct splitc_operation *o = first; o; o = o->next)
        asked += o->started ? operation_inquire(o) : 0;
    if (asked > 0) /* there may be more of them */
        patience = (struct splitc_patience){.over = false};
}

/* Messages that it sends let handlers run, which leave more to be done. */
static bool operations_move(void)
{
    static bool moving;
    bool moved = false, again;

    if (moving || gam_in_handler(splitc_runtime.gam))
        return false;
    moving = true;
    do {
        struct splitc_operation **at = &first;

        again = false;
        while (*at) {
            struct splitc_operation *o = *at;

            again |= operation_go_on(o);
            if (o->started && o->round == o->rounds) {
                *at = o->next;
                if (!*at)
                    last = at;
                operation_end(o);
                again = true;
            } else {
                at = &o->next;
            }
        }
        moved |= again;
    } while (again);
    if (!first)
        splitc_operations_step = NULL;
    moving = false;
    operations_look(moved);
    return moved;
}

static void operation_enqueue(struct splitc_operation *o)
{
    splitc_operation_end_round(o);
    o->team->operations->under_way++;
    *last = o;
    last = &o->next;
    splitc_operations_step = operations_move;
    operations_move();
}

void splitc_operation_run(struct splitc_operation *o)
{
    const char *name = splitc_collective_name(o->team, o->what);
    struct splitc_wait w = {.kind = SPLITC_WAIT_COLLECTIVE, .what = name, .whom = SPLITC_ANYBODY};
    bool done = false;

    o->done = &done;
    operation_enqueue(o);
    while (!done)
        splitc_wait_step(&w);
    gam_push_left(splitc_runtime.gam); /* before this rank computes */
    splitc_wait_end(&w);
}

uint64_t splitc_operation_begin(struct splitc_operation *o)
{
    const uint64_t handle = splitc_handle_open();

    o->handle = handle;
    splitc_runtime.puts++;
    operation_enqueue(o);
    return handle;
}

void splitc_operations_finish(struct splitc_team *t)
{
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_COLLECTIVE, .what = "team_free", .whom = SPLITC_ANYBODY};

    while (t->operations->under_way > 0)
        splitc_wait_step(&w);
    splitc_wait_end(&w);
}

void splitc_operations_free(struct splitc_team *t)
{
    free(t->operations);
    t->operations = NULL;
}
