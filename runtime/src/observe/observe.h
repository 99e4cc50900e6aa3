/* SPDX-License-Identifier: BSD-3-Clause
 *
 * observe.h - room observe: errors, and the events that statistics, trace, profile and status page
 * are made of.
 *
 * Every room calls it.  It calls no other room; what it needs from above, such as to wait for
 * messages, it is given as arguments.
 */
#ifndef SPLITC_OBSERVE_H
#define SPLITC_OBSERVE_H

#include "runtime.h"

#include <split-c/check.h> /* splitc_place: where in the program an error is */

/* ---- errors (error.c) ------------------------------------------------------- */

/* Whether the user wants to be told what the runtime does without (SPLITC_VERBOSE=1). */
bool splitc_is_verbose(void);

/* End the job: print one line on stderr, "splitc: rank R: ...", and exit with code 1. */
_Noreturn void splitc_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold, noinline));

/* The same for a fault that every rank finds: only processor 0 prints it. */
_Noreturn void splitc_die_together(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold, noinline));

/* The same without a line, because processor 0 finds the fault, too, and prints it. */
_Noreturn void splitc_die_unheard(void) __attribute__((cold, noinline));

/* End the job because a rank has ended before all have met through the launcher. */
_Noreturn void splitc_other_gone(void) __attribute__((cold, noinline));

/* End the job because a rank is dead. */
_Noreturn void splitc_peer_died(uint32_t rank) __attribute__((cold, noinline));

/* End the job because a message to `rank` failed with -errno. */
_Noreturn void splitc_send_failed(uint32_t rank, int error) __attribute__((cold, noinline));

/* The result of sending a message to `rank`. */
static inline void splitc_sent(uint32_t rank, int result)
{
    if (__builtin_expect(result < 0, 0))
        splitc_send_failed(rank, result);
}

/* End the job because `splitc_runtime.running` does what it must not. */
_Noreturn void splitc_must_not_wait(void) __attribute__((cold, noinline));

/* End the job because a message makes no sense. */
_Noreturn void splitc_malformed(const struct gam_message *m) __attribute__((cold, noinline));

/* Handlers check what arrives with this. */
static inline void splitc_expect(const struct gam_message *m, bool sane)
{
    if (__builtin_expect(!sane, 0))
        splitc_malformed(m);
}

/* End the job because a global pointer is null or names a processor that does not exist. */
_Noreturn void splitc_bad_pointer(splitc_ptr g) __attribute__((cold, noinline));

/* Whether the address lies in the program's own file: code, constants or static data, which have
 * the same addresses in every process of the job (caller.c). */
bool splitc_image_contains(uint64_t address);

/* The rank dies: tell on stderr the line of the source of that instruction, or of the call of the
 * library around it (0: the one that runs), unless unetrun tells it.  Says nothing where it is not
 * known.  May be called in a signal handler; takes as long as addr2line does. */
void splitc_place_tell(uint64_t pc);

/* ---- waits ------------------------------------------------------------------- */

/* What waits are for: the columns of the statistics. */
enum splitc_wait_kind {
    SPLITC_WAIT_ACCESS, /* a blocking one */
    SPLITC_WAIT_SYNC,
    SPLITC_WAIT_STORES,
    SPLITC_WAIT_COLLECTIVE,
    SPLITC_WAIT_LOCK,
    SPLITC_WAIT_END,
    SPLITC_WAITS
};

/* One wait.  access.h has the functions that wait. */
struct splitc_wait {
    enum splitc_wait_kind kind;
    const char *what; /* as the program calls it; a constant */
    uint32_t whom;    /* the rank that ends the wait, or SPLITC_ANYBODY */

    uint32_t idle;            /* consecutive steps that found no message */
    bool shown;               /* on the status page, because it has lasted longer than it spins */
    bool trying;              /* a message over a network that may end it is under way */
    uint64_t tries;           /* for the status page (split-c/status.h) */
    double began;             /* 0: it is not timed */
    struct splitc_site *site; /* where the program was when it began */
};

/* ---- events (event.c) ---------------------------------------------------------- */

enum splitc_event_kind {
    SPLITC_EVENT_WAIT_BEGUN,     /* wait; if anybody times waits */
    SPLITC_EVENT_WAIT_CONTINUED, /* wait; it has lasted longer than it spins */
    SPLITC_EVENT_WAIT_SLEPT,     /* stored, landed; no message came during a sleep */
    SPLITC_EVENT_WAIT_ENDED,     /* wait; if it was timed or shown */
    SPLITC_EVENT_ARRIVED,        /* n messages, in a wait */
    SPLITC_EVENT_SENT,           /* name, peer, handler; a message of the program's own */
    SPLITC_EVENT_ASKED,          /* peer, handler; am_get asks for a message of the peer */
    SPLITC_EVENT_HANDLED,        /* name, peer, handler, began; a handler of the program ended */
    SPLITC_EVENT_MOVED,          /* name, peer, n bytes, began; a bulk transfer of the program */
    SPLITC_EVENT_FAULT,          /* n is the address of the instruction at fault */
    SPLITC_EVENTS
};

/* Which fields mean something, the kind tells. */
struct splitc_event {
    enum splitc_event_kind kind;
    uint32_t peer;
    uint32_t handler; /* index in GAM's table */
    const char *name; /* of the call or of the handler; a constant */
    struct splitc_wait *wait;
    uint64_t n;
    uint64_t stored, landed; /* bytes of signalling stores from here, and in place here */
    double began;            /* seconds */
};

/* Tell the observers of an event.  SPLITC_EVENT_FAULT may be told in a signal handler. */
void splitc_event_tell(const struct splitc_event *e) __attribute__((cold, noinline));

/* Whether to tell events of a kind that costs something to tell. */
static inline bool splitc_event_wanted(enum splitc_event_kind kind)
{
    return __builtin_expect((splitc_runtime.observed & 1u << kind) != 0, 0);
}

/* Seconds now if events of that kind are wanted, for their field `began`; else 0. */
double splitc_event_now(void) __attribute__((cold, noinline));

static inline double splitc_event_begin(enum splitc_event_kind kind)
{
    return splitc_event_wanted(kind) ? splitc_event_now() : 0;
}

/* Learn from the environment what the user wants to know.  Errors end the job. */
void splitc_observers_open(void);

/* Serve messages until done().  `whom` is the rank that sends the last one. */
typedef void splitc_await_fn(bool (*done)(void), uint32_t whom);

/* Send what was observed to processor 0, which prints or writes it.  Collective, when all ranks
 * have met at their ends; `stored` as in struct splitc_event. */
void splitc_observers_report(uint64_t stored, splitc_await_fn *await);

gam_handler_fn splitc_on_stats;
gam_handler_fn splitc_on_trace;
gam_handler_fn splitc_on_profile;

#endif
