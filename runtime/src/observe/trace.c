/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include "library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EVENTS_FIRST = 1 << 12, /* room to begin with */
    EVENTS_MAX = 1 << 20,   /* 48 MiB per rank; later events are dropped */
    QUESTIONS = 8,          /* for the time at processor 0; the fastest answer counts */
    LINE_MAX = 320,         /* an event as JSON */
};

struct traced {
    double began, ended;
    const char *name;
    uint64_t number; /* of bytes; of a message among those of its peer and handler */
    uint32_t peer;
    uint16_t handler;
    uint16_t kind; /* enum splitc_event_kind */
};

/* The first word of a SPLITC_MSG_TRACE. */
enum topic { ASK_TIME, TELL_TIME, LINES, NO_MORE };

static bool trace_wanted;
static struct traced *event;
static uint64_t events, room, dropped;
static uint32_t (*sent_to)[GAM_HANDLERS]; /* messages so far, by rank and handler */
static uint32_t (*handled_from)[GAM_HANDLERS], (*asked_of)[GAM_HANDLERS];
static double start;
static double offset; /* seconds by which this clock is ahead of processor 0's */

static const char *path;
static FILE *out;      /* at processor 0 */
static uint32_t ended; /* ranks that have sent their whole trace */
static double answer;
static bool answered;

/* ---- remembering ---------------------------------------------------------------------- */

static _Noreturn void fail_to_write(void)
{
    splitc_die(
        "cannot write the trace %s: %s; name a file that can be written, in a directory that "
        "is there (unetrun --trace, or SPLITC_TRACE)",
        path, strerror(errno));
}

/* The file is begun at the start, because lines of other ranks may come before processor 0 is at
 * its end.  It is flushed, because a child by fork would write the buffer again. */
static void begin_file(void)
{
    out = fopen(path, "we");
    if (!out ||
        fprintf(out,
                "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"ranks\","
                "\"ph\":\"M\",\"args\":{\"ranks\":%u}}",
                splitc_runtime.ranks) < 0 ||
        fflush(out) != 0)
        fail_to_write();
}

void splitc_trace_open(void)
{
    path = getenv("SPLITC_TRACE");
    if (!path || !*path)
        return;
    sent_to = calloc(splitc_runtime.ranks, sizeof *sent_to);
    handled_from = calloc(splitc_runtime.ranks, sizeof *handled_from);
    asked_of = calloc(splitc_runtime.ranks, sizeof *asked_of);
    if (!sent_to || !handled_from || !asked_of)
        splitc_die("no memory for a trace of %u ranks", splitc_runtime.ranks);
    if (splitc_runtime.rank == 0)
        begin_file();
    trace_wanted = true;
    splitc_runtime.observed |= 1u << SPLITC_EVENT_WAIT_BEGUN | 1u << SPLITC_EVENT_SENT |
                               1u << SPLITC_EVENT_ASKED | 1u << SPLITC_EVENT_HANDLED |
                               1u << SPLITC_EVENT_MOVED;
    start = splitc_get_seconds();
}

static bool make_room(void)
{
    uint64_t more = room ? 2 * room : EVENTS_FIRST;
    struct traced *moved = more <= EVENTS_MAX ? realloc(event, more * sizeof *event) : NULL;

    if (!moved)
        return false;
    event = moved;
    room = more;
    return true;
}

static void append(const struct splitc_event *e, uint64_t number)
{
    if (events == room && !make_room()) {
        dropped++;
        return;
    }
    event[events++] = (struct traced){.began = e->began,
                                      .ended = splitc_get_seconds(),
                                      .name = e->name,
                                      .number = number,
                                      .peer = e->peer,
                                      .handler = (uint16_t)e->handler,
                                      .kind = (uint16_t)e->kind};
}

void splitc_trace_wait_ended(const struct splitc_event *e)
{
    const struct splitc_event span = {
        .kind = e->kind, .began = e->wait->began, .name = e->wait->what, .peer = e->wait->whom};

    if (trace_wanted && span.began > 0)
        append(&span, 0);
}

void splitc_trace_sent(const struct splitc_event *e)
{
    append(e, sent_to[e->peer][e->handler]++);
}

void splitc_trace_asked(const struct splitc_event *e)
{
    append(e, asked_of[e->peer][e->handler]++);
}

void splitc_trace_handled(const struct splitc_event *e)
{
    append(e, handled_from[e->peer][e->handler]++);
}

/* Only the profile may want it. */
void splitc_trace_moved(const struct splitc_event *e)
{
    if (trace_wanted)
        append(e, e->n);
}

/* ---- one clock -------------------------------------------------------------------------- */

static bool is_answered(void)
{
    return answered;
}

static void ask_time(splitc_await_fn *await)
{
    answered = false;
    splitc_sent(0, gam_request_1(splitc_runtime.gam, 0, SPLITC_MSG_TRACE, ASK_TIME));
    await(is_answered, 0);
}

/* Clocks that differ by no more than the time an answer takes count as equal. */
static void compare_clocks(splitc_await_fn *await)
{
    double fastest = 1e9;

    for (int i = 0; i < QUESTIONS; i++) {
        double asked = splitc_get_seconds(), took, ahead;

        ask_time(await);
        took = splitc_get_seconds() - asked;
        ahead = asked + took / 2 - answer;
        if (took < fastest)
            offset = ahead > took || -ahead > took ? ahead : 0;
        if (took < fastest)
            fastest = took;
    }
}

/* ---- JSON ------------------------------------------------------------------------------- */

static double microseconds(double time)
{
    return 1e6 * (time - offset);
}

static int print_peer(char *text, size_t size, uint32_t rank)
{
    if (rank == SPLITC_ANYBODY)
        return snprintf(text, size, "{}");
    return snprintf(text, size, "{\"rank\":%u}", rank);
}

static int print_span(char *line, const char *name, const char *category, double began, double end,
                      const char *arguments)
{
    return snprintf(line, LINE_MAX,
                    ",\n{\"name\":\"%.64s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,"
                    "\"pid\":%u,\"tid\":0,\"args\":%s}",
                    name, category, microseconds(began), 1e6 * (end - began), splitc_runtime.rank,
                    arguments);
}

/* One end of an arrow between ranks. */
static int print_arrow(char *line, char end, double time, const struct traced *e, uint32_t from,
                       uint32_t to)
{
    return snprintf(line, LINE_MAX,
                    ",\n{\"name\":\"message\",\"cat\":\"message\",\"ph\":\"%c\",\"bp\":\"e\","
                    "\"id\":\"%u-%u-%u-%lu\",\"ts\":%.3f,\"pid\":%u,\"tid\":0}",
                    end, from, to, e->handler, e->number, microseconds(time), splitc_runtime.rank);
}

static int print_event(char *line, const struct traced *e)
{
    char arguments[64];
    int n;

    switch (e->kind) {
    case SPLITC_EVENT_WAIT_ENDED:
        print_peer(arguments, sizeof arguments, e->peer);
        return print_span(line, e->name, "wait", e->began, e->ended, arguments);
    case SPLITC_EVENT_MOVED:
        snprintf(arguments, sizeof arguments, "{\"rank\":%u,\"bytes\":%lu}", e->peer, e->number);
        return print_span(line, e->name, "bulk", e->began, e->ended, arguments);
    case SPLITC_EVENT_HANDLED:
        print_peer(arguments, sizeof arguments, e->peer);
        n = print_span(line, e->name, "handler", e->began, e->ended, arguments);
        return n + print_arrow(line + n, 'f', e->began, e, e->peer, splitc_runtime.rank);
    case SPLITC_EVENT_ASKED:
        return print_arrow(line, 's', e->ended, e, e->peer, splitc_runtime.rank);
    default:
        return print_arrow(line, 's', e->ended, e, splitc_runtime.rank, e->peer);
    }
}

/* ---- gathering --------------------------------------------------------------------------- */

static void write_lines(const char *text, size_t length)
{
    if (fwrite(text, 1, length, out) != length)
        fail_to_write();
}

static void send_lines(const char *text, size_t length)
{
    uint64_t topic = LINES;

    if (splitc_runtime.rank == 0)
        write_lines(text, length);
    else
        splitc_sent(0, gam_request_medium(splitc_runtime.gam, 0, SPLITC_MSG_TRACE, text, length, 1,
                                          &topic));
}

static void send_events(void)
{
    static char text[GAM_MEDIUM_MAX];
    size_t length = (size_t)snprintf(text, sizeof text,
                                     ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
                                     "\"args\":{\"name\":\"rank %u\"}}",
                                     splitc_runtime.rank, splitc_runtime.rank);

    length +=
        (size_t)print_span(text + length, "program", "program", start, splitc_get_seconds(), "{}");
    for (uint64_t i = 0; i < events; i++) {
        if (length + 2 * LINE_MAX > sizeof text) {
            send_lines(text, length);
            length = 0;
        }
        length += (size_t)print_event(text + length, &event[i]);
    }
    send_lines(text, length);
}

static void add_end(uint64_t count)
{
    dropped += count;
    ended++;
}

void splitc_on_trace(struct gam *g, const struct gam_message *m)
{
    double now = splitc_get_seconds();
    uint64_t bits;

    splitc_expect(m, trace_wanted && m->words > 0 && (out || m->word[0] == TELL_TIME));
    switch (m->word[0]) {
    case ASK_TIME:
        memcpy(&bits, &now, sizeof bits);
        splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_TRACE, TELL_TIME, bits));
        break;
    case TELL_TIME:
        memcpy(&answer, &m->word[1], sizeof answer);
        answered = true;
        break;
    case LINES:
        write_lines(m->data, m->length);
        break;
    default:
        add_end(m->word[1]);
    }
}

static void finish_file(void)
{
    if (fputs("\n]}\n", out) < 0 || fclose(out) != 0)
        fail_to_write();
    out = NULL;
    if (dropped)
        fprintf(stderr, "splitc: the trace lacks %lu events: a rank keeps %d\n", dropped,
                EVENTS_MAX);
}

static bool all_ended(void)
{
    return ended == splitc_runtime.ranks - 1;
}

/* Processor 0 writes while the others send. */
void splitc_trace_report(splitc_await_fn *await)
{
    if (!trace_wanted)
        return;
    if (splitc_runtime.rank == 0) {
        send_events();
        await(all_ended, SPLITC_ANYBODY);
        finish_file();
        return;
    }
    compare_clocks(await);
    send_events();
    splitc_sent(0, gam_request_2(splitc_runtime.gam, 0, SPLITC_MSG_TRACE, NO_MORE, dropped));
    trace_wanted = false; /* the trace is complete */
}
