/* SPDX-License-Identifier: BSD-3-Clause
 *
 * event.c - the one place where events are told, and the table of who hears which.
 */
#include "observe/observe.h"

#include "library.h"
#include "profile.h"
#include "stats.h"
#include "status.h"
#include "trace.h"

typedef void listener_fn(const struct splitc_event *e);

static listener_fn *const event_listeners[SPLITC_EVENTS][5] = {
    [SPLITC_EVENT_WAIT_BEGUN] = {splitc_profile_wait_begun},
    [SPLITC_EVENT_WAIT_CONTINUED] = {splitc_status_wait_continued},
    [SPLITC_EVENT_WAIT_SLEPT] = {splitc_status_wait_slept},
    [SPLITC_EVENT_WAIT_ENDED] = {splitc_status_wait_ended, splitc_stats_wait_ended,
                                 splitc_trace_wait_ended, splitc_profile_wait_ended},
    [SPLITC_EVENT_ARRIVED] = {splitc_status_arrived},
    [SPLITC_EVENT_SENT] = {splitc_trace_sent},
    [SPLITC_EVENT_ASKED] = {splitc_trace_asked},
    [SPLITC_EVENT_HANDLED] = {splitc_trace_handled},
    [SPLITC_EVENT_MOVED] = {splitc_trace_moved, splitc_profile_moved},
    [SPLITC_EVENT_FAULT] = {splitc_status_fault},
};

void splitc_event_tell(const struct splitc_event *e)
{
    for (listener_fn *const *listener = event_listeners[e->kind]; *listener; listener++)
        (*listener)(e);
}

double splitc_event_now(void)
{
    return splitc_get_seconds();
}

void splitc_observers_open(void)
{
    splitc_status_open();
    splitc_stats_open();
    splitc_trace_open();
    splitc_profile_open();
}

void splitc_observers_report(uint64_t stored, splitc_await_fn *await)
{
    splitc_stats_report(stored, await);
    splitc_trace_report(await);
    splitc_profile_report(await);
}
