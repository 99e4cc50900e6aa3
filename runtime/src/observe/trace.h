/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trace.h - SPLITC_TRACE=FILE: what each rank did and when, for Perfetto and chrome://tracing.
 *
 * A rank keeps its events in memory of its own.  When all ranks are at their ends, processor 0
 * collects them as lines of JSON ("Trace Event Format") and writes the file.
 *
 * Direct accesses are not traced.
 */
#ifndef SPLITC_TRACE_H
#define SPLITC_TRACE_H

#include "observe/observe.h"

void splitc_trace_open(void);
void splitc_trace_wait_ended(const struct splitc_event *e);

/* Messages that run one handler arrive in the order in which they were sent. */
void splitc_trace_sent(const struct splitc_event *e);
void splitc_trace_asked(const struct splitc_event *e);
void splitc_trace_handled(const struct splitc_event *e);
void splitc_trace_moved(const struct splitc_event *e);
void splitc_trace_report(splitc_await_fn *await);

#endif
