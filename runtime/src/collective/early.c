/* SPDX-License-Identifier: BSD-3-Clause */
#include "early.h"

#include "collective.h"

#include <stdlib.h>

static struct splitc_inbox *inbox_of(struct splitc_operations *all, uint64_t number)
{
    return &all->ring[number % SPLITC_RING].early;
}

struct splitc_early *splitc_early_new(const struct splitc_early *piece)
{
    struct splitc_early *e = malloc(sizeof *e + (piece->there ? 0 : piece->n));

    if (!e)
        splitc_die("no memory for %zu bytes that others send of collective operations", piece->n);
    *e = *piece;
    return e;
}

void splitc_early_keep(struct splitc_operations *all, struct splitc_early *e)
{
    if (!splitc_inbox_put(inbox_of(all, e->number), e))
        splitc_die("no memory for what others send of collective operations");
}

_Noreturn void splitc_early_differs(const struct splitc_operation *o, uint32_t rank,
                                    enum splitc_collective what)
{
    splitc_die("collective calls differ: %s on rank %u, %s on rank %u",
               splitc_collective_name(o->team, what), rank,
               splitc_collective_name(o->team, o->what), splitc_runtime.rank);
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

void splitc_early_check(const struct splitc_operation *o)
{
    const struct splitc_early *e =
        splitc_inbox_find(inbox_of(o->team->operations, o->number), is_of_other_call, o);

    if (e && e->number != o->number)
        die_of_stray(o, e);
    if (e)
        splitc_early_differs(o, splitc_team_proc(o->team, e->peer), e->what);
}

static bool is_any(const struct splitc_early *e, const void *argument)
{
    (void)e;
    (void)argument;
    return true;
}

void splitc_early_check_ended(const struct splitc_operation *o)
{
    struct splitc_inbox *early = inbox_of(o->team->operations, o->number);
    const struct splitc_early *e = splitc_inbox_find(early, is_any, NULL);

    if (e)
        die_of_stray(o, e);
    splitc_inbox_close(early);
}
