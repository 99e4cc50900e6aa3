/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EVENTS_FIRST = 1 << 12, /* room to begin with */
    EVENTS_MAX = 1 << 20,   /* 48 MiB a rank; the first ones are kept */
    QUESTIONS = 8,          /* for the time at processor 0; the fastest answer counts */
    LINE_MAX = 320,         /* an event as JSON */
};

enum kind { WAITED, SENT, ASKED, HANDLED, MOVED };

struct event {
    double began, ended;
    const char *name;
    uint64_t number; /* of the message among its like; of bytes moved */
    uint32_t peer;
    uint16_t handler;
    uint16_t kind;
};

/* What the messages behind a trace are about: their first word. */
enum topic { ASK_TIME, TELL_TIME, LINES, NO_MORE };

static struct event *event;
static uint64_t events, room, forgotten;
static uint32_t (*sent_to)[GAM_HANDLERS]; /* messages so far, by rank and handler */
static uint32_t (*handled_from)[GAM_HANDLERS], (*asked_of)[GAM_HANDLERS];
static double begun, offset; /* our clock is ahead of processor 0's by that */

static const char *path;
static FILE *out; /* processor 0's */
static uint32_t ended;
static double answer;
static bool answered;

/* ---- remembering ---------------------------------------------------------------------- */

static _Noreturn void cannot_write(void)
{
    splitc_die("cannot write the trace %s (SPLITC_TRACE): %s", path, strerror(errno));
}

/* The others' lines may come before we are at our own.  Nothing stays in the buffer, which
 * children by fork would write again. */
static void begin_file(void)
{
    out = fopen(path, "we");
    if (!out ||
        fprintf(out,
                "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"ranks\","
                "\"ph\":\"M\",\"args\":{\"ranks\":%u}}",
                splitc_runtime.ranks) < 0 ||
        fflush(out) != 0)
        cannot_write();
}

void splitc_trace_init(void)
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
    splitc_runtime.traced = splitc_runtime.watched = splitc_runtime.timed = true;
    begun = splitc_get_seconds();
}

static bool make_room(void)
{
    uint64_t more = room ? 2 * room : EVENTS_FIRST;
    struct event *moved = more <= EVENTS_MAX ? realloc(event, more * sizeof *event) : NULL;

    if (!moved)
        return false;
    event = moved;
    room = more;
    return true;
}

static void remember(struct event e)
{
    if (events == room && !make_room()) {
        forgotten++;
        return;
    }
    e.ended = splitc_get_seconds();
    event[events++] = e;
}

void splitc_trace_waited(const struct splitc_wait *w)
{
    if (splitc_runtime.traced)
        remember(
            (struct event){.kind = WAITED, .began = w->began, .name = w->what, .peer = w->whom});
}

void splitc_trace_sent(uint32_t to, uint32_t handler, const char *call)
{
    remember((struct event){.kind = SENT,
                            .name = call,
                            .peer = to,
                            .handler = (uint16_t)handler,
                            .number = sent_to[to][handler]++});
}

void splitc_trace_asked(uint32_t from, uint32_t handler)
{
    remember((struct event){.kind = ASKED,
                            .peer = from,
                            .handler = (uint16_t)handler,
                            .number = asked_of[from][handler]++});
}

void splitc_trace_handled(uint32_t from, uint32_t handler, const char *name, double began)
{
    if (!splitc_runtime.traced)
        return;
    remember((struct event){.kind = HANDLED,
                            .began = began,
                            .name = name,
                            .peer = from,
                            .handler = (uint16_t)handler,
                            .number = handled_from[from][handler]++});
}

void splitc_trace_moved_slow(const char *call, splitc_ptr g, long bytes, double began)
{
    SPLITC_INSIDE;

    splitc_profile_moved(g, bytes);
    if (!splitc_runtime.traced)
        return;
    remember((struct event){.kind = MOVED,
                            .began = began,
                            .name = call,
                            .peer = (uint32_t)splitc_rank(g),
                            .number = (uint64_t)bytes});
}

/* ---- one clock -------------------------------------------------------------------------- */

static void ask_time(void)
{
    struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = 0};

    answered = false;
    splitc_sent(0, gam_request_1(splitc_runtime.gam, 0, SPLITC_MSG_TRACE, ASK_TIME));
    while (!answered)
        splitc_wait_step(&w);
}

/* Clocks that do not differ by more than the answer took are one clock. */
static void compare_clocks(void)
{
    double fastest = 1e9;

    for (int i = 0; i < QUESTIONS; i++) {
        double asked = splitc_get_seconds(), took, ahead;

        ask_time();
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

static int whom(char *text, size_t size, uint32_t rank)
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
static int print_arrow(char *line, char end, double time, const struct event *e, uint32_t from,
                       uint32_t to)
{
    return snprintf(line, LINE_MAX,
                    ",\n{\"name\":\"message\",\"cat\":\"message\",\"ph\":\"%c\",\"bp\":\"e\","
                    "\"id\":\"%u-%u-%u-%lu\",\"ts\":%.3f,\"pid\":%u,\"tid\":0}",
                    end, from, to, e->handler, e->number, microseconds(time), splitc_runtime.rank);
}

static int print_event(char *line, const struct event *e)
{
    char arguments[64];
    int n;

    switch (e->kind) {
    case WAITED:
        whom(arguments, sizeof arguments, e->peer);
        return print_span(line, e->name, "wait", e->began, e->ended, arguments);
    case MOVED:
        snprintf(arguments, sizeof arguments, "{\"rank\":%u,\"bytes\":%lu}", e->peer, e->number);
        return print_span(line, e->name, "bulk", e->began, e->ended, arguments);
    case HANDLED:
        whom(arguments, sizeof arguments, e->peer);
        n = print_span(line, e->name, "handler", e->began, e->ended, arguments);
        return n + print_arrow(line + n, 'f', e->began, e, e->peer, splitc_runtime.rank);
    case ASKED:
        return print_arrow(line, 's', e->ended, e, e->peer, splitc_runtime.rank);
    default:
        return print_arrow(line, 's', e->ended, e, splitc_runtime.rank, e->peer);
    }
}

/* ---- gathering --------------------------------------------------------------------------- */

static void write_lines(const char *text, size_t length)
{
    if (fwrite(text, 1, length, out) != length)
        cannot_write();
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

static void tell_events(void)
{
    static char text[GAM_MEDIUM_MAX];
    size_t length = (size_t)snprintf(text, sizeof text,
                                     ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
                                     "\"args\":{\"name\":\"rank %u\"}}",
                                     splitc_runtime.rank, splitc_runtime.rank);

    length +=
        (size_t)print_span(text + length, "program", "program", begun, splitc_get_seconds(), "{}");
    for (uint64_t i = 0; i < events; i++) {
        if (length + 2 * LINE_MAX > sizeof text) {
            send_lines(text, length);
            length = 0;
        }
        length += (size_t)print_event(text + length, &event[i]);
    }
    send_lines(text, length);
}

static void take_end(uint64_t count)
{
    forgotten += count;
    ended++;
}

void splitc_on_trace(struct gam *g, const struct gam_message *m)
{
    double now = splitc_get_seconds();
    uint64_t bits;

    splitc_expect(m, splitc_runtime.traced && m->words > 0 && (out || m->word[0] == TELL_TIME));
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
        take_end(m->word[1]);
    }
}

static void finish_file(void)
{
    if (fputs("\n]}\n", out) < 0 || fclose(out) != 0)
        cannot_write();
    out = NULL;
    if (forgotten)
        fprintf(stderr, "splitc: the trace lacks %lu events: a rank keeps %d\n", forgotten,
                EVENTS_MAX);
}

/* Processor 0 writes while the others send. */
static void collect(void)
{
    struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = SPLITC_ANYBODY};

    while (ended < splitc_runtime.ranks - 1)
        splitc_wait_step(&w);
    finish_file();
}

void splitc_trace_tell(void)
{
    if (!splitc_runtime.traced)
        return;
    if (splitc_runtime.rank == 0) {
        tell_events();
        collect();
        return;
    }
    compare_clocks();
    tell_events();
    splitc_sent(0, gam_request_2(splitc_runtime.gam, 0, SPLITC_MSG_TRACE, NO_MORE, forgotten));
}
