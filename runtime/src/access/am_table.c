/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am_table.c - the handlers of the program's own active messages: their registration, and what runs
 * them.
 */
#include "am_table.h"

#include <errno.h>
#include <split-c/gam.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX (GAM_WORDS_MAX + 2) /* address and size of a block, and words */
#define COLD __attribute__((cold, noinline))

struct splitc_am_bucket splitc_am_bucket[SPLITC_AM_BUCKETS];
int splitc_am_source;

static const struct splitc_handler *handler[GAM_HANDLERS];
static uint32_t next_index = SPLITC_AM_FIRST;
static uint32_t library_index = GAM_HANDLERS; /* the lowest of those that libraries have */

/* ---- registration ------------------------------------------------------------- */

void splitc_register_handlers(const struct splitc_handler *h, int count)
{
    for (; count > 0; h++, count--) {
        struct splitc_am_bucket *at = splitc_am_find((am_handler)h->function);

        if (at->index) { /* another file uses it, too */
            if (handler[at->index]->real & SPLITC_HANDLER_ELSEWHERE)
                handler[at->index] = h;
            continue;
        }
        if (next_index == GAM_HANDLERS)
            splitc_die("too many handlers of active messages: '%s' is one more than %u", h->name,
                       GAM_HANDLERS - SPLITC_AM_FIRST);
        handler[next_index] = h;
        *at = (struct splitc_am_bucket){(am_handler)h->function, next_index++};
    }
}

void splitc_am_open(void)
{
    splitc_am_source = -1;
    for (uint32_t i = SPLITC_AM_FIRST; i < next_index; i++)
        if (gam_register(splitc_runtime.gam, i, splitc_am_run) < 0)
            splitc_die("cannot register handler '%s'", handler[i]->name);
}

bool splitc_am_is_handler(uint64_t index)
{
    return index >= SPLITC_AM_FIRST && index < next_index;
}

struct gam *splitc_gam(uint32_t handlers, uint32_t *first)
{
    const char *progress = getenv("SPLITC_PROGRESS");

    if (progress && strcmp(progress, "poll") != 0)
        splitc_die(
            "splitc_gam: SPLITC_PROGRESS=%s has another thread handle messages, beside which "
            "the program may not; unset it",
            progress);
    if (handlers > library_index - next_index)
        splitc_die("splitc_gam: %u handlers are wanted, and %u of %u are left", handlers,
                   library_index - next_index, GAM_HANDLERS);
    library_index -= handlers;
    *first = library_index;
    return splitc_runtime.gam;
}

/* ---- arrivals ------------------------------------------------------------------- */

/* How many arguments the handler needs, at most as many as there can be. */
static int am_least(const struct splitc_handler *h)
{
    const int least = h->arguments >= 0 ? h->arguments : -1 - h->arguments;

    return least < (int)ARGUMENTS_MAX ? least : (int)ARGUMENTS_MAX;
}

static bool am_takes(const struct splitc_handler *h, uint32_t sent)
{
    return h->arguments >= 0 ? h->arguments == (int)sent : am_least(h) <= (int)sent;
}

/* The arguments behind the source, for a handler that takes more than words, or not all of them.
 * Returns false if the message has not what it takes. */
static bool am_unpack(const struct splitc_handler *h, const struct gam_message *m,
                      union splitc_argument argument[ARGUMENTS_MAX])
{
    const bool real = m->data && m->length == sizeof(double);

    if (h->real & SPLITC_HANDLER_REAL) {
        memcpy(argument, m->word, sizeof m->word);
        if (real && am_least(h) > 0)
            memcpy(&argument[am_least(h) - 1].real, m->data, sizeof(double));
        return real && am_takes(h, m->words + 1);
    }
    if (!m->data || h->real & SPLITC_HANDLER_WORDS) {
        memcpy(argument, m->word, sizeof m->word);
        return (!m->data || real) && am_takes(h, m->words);
    }
    argument[0].word = (uintptr_t)m->data;
    argument[1].word = m->length;
    memcpy(&argument[2], m->word, sizeof m->word);
    return am_takes(h, 2 + m->words);
}

static COLD void am_tell_handled(const struct splitc_handler *h, const struct gam_message *m,
                                 double began)
{
    splitc_event_tell(&(struct splitc_event){.kind = SPLITC_EVENT_HANDLED,
                                             .peer = m->source,
                                             .handler = m->handler,
                                             .name = h->name,
                                             .began = began});
}

static void am_call(const struct splitc_handler *h, const struct gam_message *m,
                    const union splitc_argument *argument)
{
    double began;

    splitc_am_source = (int)m->source;
    splitc_runtime.running = h->name;
    splitc_runtime.running_on = __builtin_frame_address(0);
    began = splitc_event_begin(SPLITC_EVENT_HANDLED);
    h->run(splitc_am_source, argument);
    if (__builtin_expect(began > 0, 0))
        am_tell_handled(h, m, began);
    splitc_runtime.running = NULL;
    splitc_am_source = -1;
}

static COLD void am_call_unpacked(const struct splitc_handler *h, const struct gam_message *m)
{
    union splitc_argument argument[ARGUMENTS_MAX] = {0};

    if (!am_unpack(h, m, argument)) {
        splitc_place = (struct splitc_place){0}; /* the fault is not where the program polls */
        splitc_die("processor %u sends handler '%s' other arguments than it takes", m->source,
                   h->name);
    }
    am_call(h, m, argument);
}

void splitc_am_run(struct gam *g, const struct gam_message *m)
{
    const struct splitc_handler *h = handler[m->handler];

    (void)g;
    if (__builtin_expect(!m->data && !h->real && h->arguments == (int)m->words, 1))
        am_call(h, m, (const union splitc_argument *)m->word);
    else
        am_call_unpacked(h, m);
}

/* ---- checks of calls ---------------------------------------------------------------- */

_Noreturn void splitc_am_unknown(am_handler fn, const char *call)
{
    splitc_die("%s: the handler at %p is not known; a handler is a function whose name is "
               "used in a file that includes <split-c/am.h>",
               call, (void *)(uintptr_t)fn);
}

_Noreturn void splitc_am_bad_target(int dest, const char *call)
{
    if (splitc_runtime.running)
        splitc_die("%s in '%s', which was run by a message or atomic(): it may at most reply", call,
                   splitc_runtime.running);
    splitc_die("%s to processor %d, but PROCS is %u", call, dest, splitc_runtime.ranks);
}

_Noreturn void splitc_am_bad_reply(int dest, const char *call)
{
    if (splitc_am_source < 0)
        splitc_die("%s outside of a handler; it answers a request, within its handler", call);
    splitc_die("%s to processor %d, but the request came from processor %d", call, dest,
               splitc_am_source);
}

_Noreturn void splitc_am_not_sent(uint32_t rank, int result, const char *call)
{
    if (result == -EMSGSIZE)
        splitc_die("%s of more than %u bytes; use am_store", call, GAM_MEDIUM_MAX);
    splitc_send_failed(rank, result);
}

_Noreturn void splitc_am_not_replied(int result, const char *call)
{
    if (result == -EPERM)
        splitc_die("%s in '%s', which is no request's handler or has replied already", call,
                   splitc_runtime.running);
    splitc_am_not_sent((uint32_t)splitc_am_source, result, call);
}
