/* SPDX-License-Identifier: BSD-3-Clause
 *
 * handlers.c - active messages of the program's own (split-c/am.h).
 *
 * Each handler has an entry of GAM's table, behind those of the runtime.  Calls
 * name it by its function, which is looked up in a hash of all.
 */
#include "runtime.h"

#include "job/checks.h"
#include "library.h"
#include "observe/trace.h"

#include <errno.h>
#include <split-c/am.h>
#include <stdlib.h>

#define FIRST ((uint32_t)SPLITC_MESSAGES) /* index of the program's first handler */
#define BUCKETS (2 * GAM_HANDLERS)        /* a power of two */
#define ARGUMENTS_MAX (GAM_WORDS_MAX + 2) /* a block's place and size, and words */
#define MAX_SIZE (1ul << 20)              /* what programs are told to cut transfers to */
#define COLD __attribute__((cold, noinline))

static const struct splitc_handler *handler[GAM_HANDLERS];
static uint32_t next = FIRST;
static struct bucket {
    am_handler function;
    uint32_t index; /* 0 = empty */
} bucket[BUCKETS];

/* ---- the table --------------------------------------------------------------- */

/* The bucket of that function, or the empty one where it would be. */
static inline struct bucket *find(am_handler fn)
{
    uintptr_t at = (uintptr_t)fn >> 4;

    while (bucket[at % BUCKETS].index && bucket[at % BUCKETS].function != fn)
        at++;
    return &bucket[at % BUCKETS];
}

void splitc_register_handlers(const struct splitc_handler *h, int count)
{
    for (; count > 0; h++, count--) {
        struct bucket *at = find((am_handler)h->function);

        if (at->index)
            continue; /* another file uses it, too */
        if (next == GAM_HANDLERS)
            splitc_die("too many handlers of active messages: '%s' is one more than %u", h->name,
                       GAM_HANDLERS - FIRST);
        handler[next] = h;
        *at = (struct bucket){(am_handler)h->function, next++};
    }
}

static _Noreturn void COLD die_of_unknown(am_handler fn, const char *call)
{
    splitc_die("%s: the handler at %p is not known; a handler is a function whose name is "
               "used in a file that includes <split-c/am.h>",
               call, (void *)(uintptr_t)fn);
}

static inline uint32_t index_of(am_handler fn, const char *call)
{
    uint32_t index = find(fn)->index; /* no bucket holds a function of 0 */

    if (__builtin_expect(index == 0, 0))
        die_of_unknown(fn, call);
    return index;
}

/* For transfers, which need none. */
static uint32_t index_or_none(am_handler fn, const char *call)
{
    return fn ? index_of(fn, call) : 0;
}

/* ---- arrivals ------------------------------------------------------------------- */

static int source; /* of the message being handled; -1 = none is */

/* The arguments behind the source as a handler takes them that takes more than words; false if
 * it takes others. */
static bool unpack(const struct splitc_handler *h, const struct gam_message *m,
                   union splitc_argument argument[ARGUMENTS_MAX])
{
    if (h->real) {
        memcpy(argument, m->word, sizeof m->word);
        if (m->data && m->length == sizeof(double))
            memcpy(&argument[m->words].real, m->data, sizeof(double));
        return m->data && m->length == sizeof(double) && h->arguments == (int)m->words + 1;
    }
    argument[0].word = (uintptr_t)m->data;
    argument[1].word = m->length;
    memcpy(&argument[2], m->word, sizeof m->word);
    return m->data && h->arguments == 2 + (int)m->words;
}

static void run(const struct splitc_handler *h, const struct gam_message *m,
                const union splitc_argument *argument)
{
    double began;

    source = (int)m->source;
    splitc_runtime.running = h->name;
    splitc_runtime.running_on = __builtin_frame_address(0);
    began = splitc_trace_begin();
    h->run(source, argument);
    if (__builtin_expect(began > 0, 0))
        splitc_trace_handled(m->source, m->handler, h->name, began);
    splitc_runtime.running = NULL;
    source = -1;
}

static void COLD on_more_than_words(const struct splitc_handler *h, const struct gam_message *m)
{
    union splitc_argument argument[ARGUMENTS_MAX];

    if (!unpack(h, m, argument)) {
        splitc_place = (struct splitc_place){0}; /* it is not where we poll that is at fault */
        splitc_die("processor %u sends handler '%s' other arguments than it takes", m->source,
                   h->name);
    }
    run(h, m, argument);
}

static void on_message(struct gam *g, const struct gam_message *m)
{
    const struct splitc_handler *h = handler[m->handler];

    (void)g;
    if (__builtin_expect(!m->data && !h->real && h->arguments == (int)m->words, 1))
        run(h, m, (const union splitc_argument *)m->word);
    else
        on_more_than_words(h, m);
}

void splitc_handlers_open(void)
{
    source = -1;
    for (uint32_t i = FIRST; i < next; i++)
        if (gam_register(splitc_runtime.gam, i, on_message) < 0)
            splitc_die("cannot register handler '%s'", handler[i]->name);
}

/* ---- sending ---------------------------------------------------------------------- */

static _Noreturn void COLD die_of_target(int dest, const char *call)
{
    if (splitc_runtime.running)
        splitc_die("%s in '%s', which was run by a message or atomic(): it may at most reply", call,
                   splitc_runtime.running);
    splitc_die("%s to processor %d, but PROCS is %u", call, dest, splitc_runtime.ranks);
}

static inline uint32_t target(int dest, const char *call)
{
    if (__builtin_expect(splitc_runtime.running || (uint32_t)dest >= splitc_runtime.ranks, 0))
        die_of_target(dest, call);
    if (splitc_is_foreign_thread())
        splitc_foreign_thread(call);
    return (uint32_t)dest;
}

/* Where a request goes, and what it runs there. */
struct route {
    uint32_t rank, index;
};

static struct route route_of(int dest, am_handler h, const char *call)
{
    struct route to = {target(dest, call), index_of(h, call)};

    if (__builtin_expect(splitc_runtime.traced, 0))
        splitc_trace_sent(to.rank, to.index, call);
    return to;
}

/* The same of a transfer, which need not run anything. */
static struct route transfer_to(int dest, am_handler h, const char *call)
{
    struct route to = {target(dest, call), index_or_none(h, call)};

    if (__builtin_expect(splitc_runtime.traced, 0) && h)
        splitc_trace_sent(to.rank, to.index, call);
    return to;
}

static int sent(uint32_t rank, int result, const char *call)
{
    if (result == -EMSGSIZE)
        splitc_die("%s of more than %u bytes; use am_store", call, GAM_MEDIUM_MAX);
    splitc_sent(rank, result);
    return 0;
}

/* Small requests go straight to GAM unless another thread runs handlers, or a trace is made. */
static inline bool guarded(void)
{
    return __builtin_expect(splitc_runtime.threaded || splitc_runtime.traced, 0);
}

static int COLD request_guarded(const char *call, int dest, am_handler h, uint32_t words,
                                const am_word word[])
{
    SPLITC_INSIDE;
    struct route to = route_of(dest, h, call);

    return sent(to.rank, gam_request(splitc_runtime.gam, to.rank, to.index, words, word), call);
}

static int request_medium(const char *call, int dest, am_handler h, const void *data, size_t n,
                          uint32_t words, const am_word word[])
{
    SPLITC_INSIDE;
    struct route to = route_of(dest, h, call);

    return sent(to.rank,
                gam_request_medium(splitc_runtime.gam, to.rank, to.index, data, n, words, word),
                call);
}

static int replied(int result, const char *call)
{
    if (result == -EPERM)
        splitc_die("%s in '%s', which is no request's handler or has replied already", call,
                   splitc_runtime.running);
    return sent((uint32_t)source, result, call);
}

/* A reply goes to the source of its request. */
static void check_reply(int dest, const char *call)
{
    if (source < 0)
        splitc_die("%s outside of a handler; it answers a request, within its handler", call);
    if (dest != source)
        splitc_die("%s to processor %d, but the request came from processor %d", call, dest,
                   source);
}

/* What a reply runs. */
static uint32_t answering(int dest, am_handler h, const char *call)
{
    uint32_t index;

    check_reply(dest, call);
    index = index_of(h, call);
    if (__builtin_expect(splitc_runtime.traced, 0))
        splitc_trace_sent((uint32_t)dest, index, call);
    return index;
}

static int reply_medium(const char *call, int dest, am_handler h, const void *data, size_t n,
                        uint32_t words, const am_word word[])
{
    uint32_t index = answering(dest, h, call);

    return replied(gam_reply_medium(splitc_runtime.gam, index, data, n, words, word), call);
}

/* ---- the library's names ------------------------------------------------------------- */

int am_enable(void); /* whatever arguments it is given */

int am_enable(void)
{
    return 0;
}

int am_disable(void)
{
    return 0;
}

void am_exit(int code)
{
    splitc_exit(code);
}

int am_procs(void)
{
    return splitc_job.procs;
}

int am_my_proc(void)
{
    return splitc_job.myproc;
}

splitc_size am_max_size(void)
{
    return MAX_SIZE;
}

splitc_size am_max_medium(void)
{
    return GAM_MEDIUM_MAX;
}

int am_poll(void)
{
    return splitc_poll_once();
}

int am_request_0(int dest, am_handler h)
{
    static const char call[] = "am_request_0";
    uint32_t rank;

    if (guarded())
        return request_guarded(call, dest, h, 0, NULL);
    rank = target(dest, call);
    splitc_sent(rank, gam_request_0(splitc_runtime.gam, rank, index_of(h, call)));
    return 0;
}

int am_request_1(int dest, am_handler h, am_word w0)
{
    static const char call[] = "am_request_1";
    uint32_t rank;

    if (guarded())
        return request_guarded(call, dest, h, 1, &w0);
    rank = target(dest, call);
    splitc_sent(rank, gam_request_1(splitc_runtime.gam, rank, index_of(h, call), w0));
    return 0;
}

int am_request_2(int dest, am_handler h, am_word w0, am_word w1)
{
    static const char call[] = "am_request_2";
    uint32_t rank;

    if (guarded())
        return request_guarded(call, dest, h, 2, (am_word[]){w0, w1});
    rank = target(dest, call);
    splitc_sent(rank, gam_request_2(splitc_runtime.gam, rank, index_of(h, call), w0, w1));
    return 0;
}

int am_request_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
{
    static const char call[] = "am_request_3";
    uint32_t rank;

    if (guarded())
        return request_guarded(call, dest, h, 3, (am_word[]){w0, w1, w2});
    rank = target(dest, call);
    splitc_sent(rank, gam_request_3(splitc_runtime.gam, rank, index_of(h, call), w0, w1, w2));
    return 0;
}

int am_request_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
{
    static const char call[] = "am_request_4";
    uint32_t rank;

    if (guarded())
        return request_guarded(call, dest, h, 4, (am_word[]){w0, w1, w2, w3});
    rank = target(dest, call);
    splitc_sent(rank, gam_request_4(splitc_runtime.gam, rank, index_of(h, call), w0, w1, w2, w3));
    return 0;
}

int am_request_0_df(int dest, am_handler h, double d)
{
    return request_medium("am_request_0_df", dest, h, &d, sizeof d, 0, NULL);
}

int am_request_1_df(int dest, am_handler h, am_word w0, double d)
{
    return request_medium("am_request_1_df", dest, h, &d, sizeof d, 1, &w0);
}

int am_request_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
{
    return request_medium("am_request_2_df", dest, h, &d, sizeof d, 2, (am_word[]){w0, w1});
}

int am_request_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
{
    return request_medium("am_request_3_df", dest, h, &d, sizeof d, 3, (am_word[]){w0, w1, w2});
}

int am_request_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3,
                    double d)
{
    return request_medium("am_request_4_df", dest, h, &d, sizeof d, 4, (am_word[]){w0, w1, w2, w3});
}

int am_request_medium_0(int dest, am_handler h, const void *address, splitc_size n)
{
    return request_medium("am_request_medium", dest, h, address, n, 0, NULL);
}

int am_request_medium_1(int dest, am_handler h, const void *address, splitc_size n, am_word arg)
{
    return request_medium("am_request_medium", dest, h, address, n, 1, &arg);
}

int am_request_medium_2(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                        am_word w1)
{
    return request_medium("am_request_medium", dest, h, address, n, 2, (am_word[]){w0, w1});
}

int am_request_medium_3(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                        am_word w1, am_word w2)
{
    return request_medium("am_request_medium", dest, h, address, n, 3, (am_word[]){w0, w1, w2});
}

int am_request_medium_4(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                        am_word w1, am_word w2, am_word w3)
{
    return request_medium("am_request_medium", dest, h, address, n, 4, (am_word[]){w0, w1, w2, w3});
}

int am_reply_0(int dest, am_handler h)
{
    uint32_t index = answering(dest, h, "am_reply_0");

    return replied(gam_reply_0(splitc_runtime.gam, index), "am_reply_0");
}

int am_reply_1(int dest, am_handler h, am_word w0)
{
    uint32_t index = answering(dest, h, "am_reply_1");

    return replied(gam_reply_1(splitc_runtime.gam, index, w0), "am_reply_1");
}

int am_reply_2(int dest, am_handler h, am_word w0, am_word w1)
{
    uint32_t index = answering(dest, h, "am_reply_2");

    return replied(gam_reply_2(splitc_runtime.gam, index, w0, w1), "am_reply_2");
}

int am_reply_3(int dest, am_handler h, am_word w0, am_word w1, am_word w2)
{
    uint32_t index = answering(dest, h, "am_reply_3");

    return replied(gam_reply_3(splitc_runtime.gam, index, w0, w1, w2), "am_reply_3");
}

int am_reply_4(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3)
{
    uint32_t index = answering(dest, h, "am_reply_4");

    return replied(gam_reply_4(splitc_runtime.gam, index, w0, w1, w2, w3), "am_reply_4");
}

int am_reply_0_df(int dest, am_handler h, double d)
{
    return reply_medium("am_reply_0_df", dest, h, &d, sizeof d, 0, NULL);
}

int am_reply_1_df(int dest, am_handler h, am_word w0, double d)
{
    return reply_medium("am_reply_1_df", dest, h, &d, sizeof d, 1, &w0);
}

int am_reply_2_df(int dest, am_handler h, am_word w0, am_word w1, double d)
{
    return reply_medium("am_reply_2_df", dest, h, &d, sizeof d, 2, (am_word[]){w0, w1});
}

int am_reply_3_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, double d)
{
    return reply_medium("am_reply_3_df", dest, h, &d, sizeof d, 3, (am_word[]){w0, w1, w2});
}

int am_reply_4_df(int dest, am_handler h, am_word w0, am_word w1, am_word w2, am_word w3, double d)
{
    return reply_medium("am_reply_4_df", dest, h, &d, sizeof d, 4, (am_word[]){w0, w1, w2, w3});
}

int am_reply_medium_0(int dest, am_handler h, const void *address, splitc_size n)
{
    return reply_medium("am_reply_medium", dest, h, address, n, 0, NULL);
}

int am_reply_medium_1(int dest, am_handler h, const void *address, splitc_size n, am_word arg)
{
    return reply_medium("am_reply_medium", dest, h, address, n, 1, &arg);
}

int am_reply_medium_2(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                      am_word w1)
{
    return reply_medium("am_reply_medium", dest, h, address, n, 2, (am_word[]){w0, w1});
}

int am_reply_medium_3(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                      am_word w1, am_word w2)
{
    return reply_medium("am_reply_medium", dest, h, address, n, 3, (am_word[]){w0, w1, w2});
}

int am_reply_medium_4(int dest, am_handler h, const void *address, splitc_size n, am_word w0,
                      am_word w1, am_word w2, am_word w3)
{
    return reply_medium("am_reply_medium", dest, h, address, n, 4, (am_word[]){w0, w1, w2, w3});
}

/* ---- am_reply_xfer --------------------------------------------------------------------- */

/* A block that fits into a message comes with it.  Of a larger one the message tells where it is,
 * and who requested it fetches it when out of the handler, which must send nothing. */
struct fetch {
    struct fetch *next;
    uint32_t rank;
    const void *from;
    void *to;
    uint64_t n, handler, arg;
};

struct fetch *splitc_fetches;
static struct fetch **fetches_end = &splitc_fetches;

static void check_xfer(const struct gam_message *m, uint64_t index)
{
    splitc_expect(m, index == 0 || (index >= FIRST && index < next));
}

/* To, handler, arg. */
void splitc_on_xfer(struct gam *g, const struct gam_message *m)
{
    const struct gam_message landed = {.source = m->source,
                                       .words = 1,
                                       .handler = (uint16_t)m->word[1],
                                       .word = {m->word[2]},
                                       .data = (void *)(uintptr_t)m->word[0],
                                       .length = m->length};

    splitc_expect(m, m->words == 3);
    check_xfer(m, m->word[1]);
    if (m->length > 0)
        memcpy(landed.data, m->data, m->length);
    if (landed.handler)
        on_message(g, &landed);
}

void splitc_on_xfer_large(struct gam *g, const struct gam_message *m)
{
    struct fetch *fetch = malloc(sizeof *fetch);

    (void)g;
    splitc_expect(m, m->words == 0 && m->length == sizeof *fetch);
    if (!fetch)
        splitc_die("no memory for a transfer from processor %u", m->source);
    memcpy(fetch, m->data, sizeof *fetch);
    check_xfer(m, fetch->handler);
    fetch->rank = m->source;
    fetch->next = NULL;
    *fetches_end = fetch;
    fetches_end = &fetch->next;
}

void splitc_begin_fetches(void)
{
    while (splitc_fetches) {
        const struct fetch fetch = *splitc_fetches;

        free(splitc_fetches);
        splitc_fetches = fetch.next;
        if (!splitc_fetches)
            fetches_end = &splitc_fetches;
        splitc_sent(fetch.rank, gam_get(splitc_runtime.gam, fetch.rank, fetch.from, fetch.to,
                                        fetch.n, (uint32_t)fetch.handler, fetch.arg));
    }
}

int am_reply_xfer(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg)
{
    static const char call[] = "am_reply_xfer";
    const uint64_t index = h ? answering(dest, h, call) : 0;
    const struct fetch large = {.from = lva, .to = rva, .n = n, .handler = index, .arg = arg};
    const uint64_t word[] = {(uintptr_t)rva, index, arg};
    struct gam *g = splitc_runtime.gam;

    check_reply(dest, call);
    if (n <= GAM_MEDIUM_MAX)
        return replied(gam_reply_medium(g, SPLITC_MSG_XFER, lva, n, 3, word), call);
    return replied(gam_reply_medium(g, SPLITC_MSG_XFER_LARGE, &large, sizeof large, 0, NULL), call);
}

/* ---- transfers ------------------------------------------------------------------------- */

int am_store(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg)
{
    SPLITC_INSIDE;
    struct route to = transfer_to(dest, h, "am_store");

    return sent(to.rank, gam_store(splitc_runtime.gam, to.rank, lva, rva, n, to.index, arg),
                "am_store");
}

int am_store_async(int dest, const void *lva, void *rva, splitc_size n, am_handler h, am_word arg,
                   void (*endfunc)(void *endarg), void *endarg)
{
    SPLITC_INSIDE;
    struct route to = transfer_to(dest, h, "am_store_async");

    return sent(
        to.rank,
        gam_store_async(splitc_runtime.gam, to.rank, lva, rva, n, to.index, arg, endfunc, endarg),
        "am_store_async");
}

/* Its handler runs here, in the name of the owner. */
int am_get(int dest, const void *rva, void *lva, splitc_size n, am_handler h, am_word arg)
{
    SPLITC_INSIDE;
    uint32_t rank = target(dest, "am_get"), index = index_or_none(h, "am_get");

    if (__builtin_expect(splitc_runtime.traced, 0) && h)
        splitc_trace_asked(rank, index);
    return sent(rank, gam_get(splitc_runtime.gam, rank, rva, lva, n, index, arg), "am_get");
}
