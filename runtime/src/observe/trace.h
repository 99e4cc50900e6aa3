/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trace.h - SPLITC_TRACE=FILE: what each rank did and when, for Perfetto and chrome://tracing.
 *
 * A rank remembers events in memory of its own.  When all are at their ends, processor 0
 * collects them as lines of JSON ("Trace Event Format") and writes the file.
 *
 * Nothing is traced on the way of a direct access.
 */
#ifndef SPLITC_TRACE_H
#define SPLITC_TRACE_H

#include "runtime.h"

#include "library.h"

/* Learn whether it is wanted. */
void splitc_trace_init(void);

/* Collective, when all ranks have met at their ends. */
void splitc_trace_tell(void);

/* When something began that may be traced; 0 = nobody wants to know. */
static inline double splitc_trace_begin(void)
{
    return __builtin_expect(splitc_runtime.watched, 0) ? splitc_get_seconds() : 0;
}

/* A wait is over that was timed. */
void splitc_trace_waited(const struct splitc_wait *w);

/* A message of the program goes to run a handler; `call` is a constant.  Messages that run one
 * handler arrive in the order in which they were sent. */
void splitc_trace_sent(uint32_t to, uint32_t handler, const char *call);

/* The same where the message comes from there, and we caused it. */
void splitc_trace_asked(uint32_t from, uint32_t handler);

/* A handler has run that began at `began`. */
void splitc_trace_handled(uint32_t from, uint32_t handler, const char *name, double began);

/* A bulk transfer was made or begun; nothing happens if `began` is 0. */
void splitc_trace_moved_slow(const char *call, splitc_ptr g, long bytes, double began)
    __attribute__((cold, noinline));

static inline void splitc_trace_moved(const char *call, splitc_ptr g, long bytes, double began)
{
    if (__builtin_expect(began > 0, 0))
        splitc_trace_moved_slow(call, g, bytes, began);
}

#endif
