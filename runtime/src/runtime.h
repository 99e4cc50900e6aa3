/* SPDX-License-Identifier: BSD-3-Clause
 *
 * runtime.h - what the files of the runtime share.
 *
 * Everything here belongs to the program's one thread of control.  Handlers run
 * inside gam_poll, so they never interrupt anything but a wait.  Every symbol
 * that the library exports begins with splitc_: the rest of the name space is
 * the program's.
 */
#ifndef SPLITC_RUNTIME_H
#define SPLITC_RUNTIME_H

#include <gam/gam.h>
#include <split-c/abi.h>
#include <split-c/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPLITC_LEVELS 16 /* log2 of GAM_RANKS_MAX: rounds of a barrier, depth of a tree */

_Static_assert(1u << SPLITC_LEVELS == GAM_RANKS_MAX, "levels of a tree over all ranks");
_Static_assert(sizeof(splitc_ptr) == 8, "a global pointer has 64 bits");

/* ---- state --------------------------------------------------------------- */

struct splitc_runtime {
    struct gam *gam;
    uint32_t rank;
    uint32_t ranks;
    const uint32_t *near; /* the ranks whose windows are open, ourselves among them */
    uint32_t near_ranks;
    uint32_t near_at;       /* where among them we stand */
    const uint32_t *first;  /* of nodes whose ranks share memory, each one's first rank */
    uint32_t nodes;         /* how many; 0: there is one node, or nobody shares memory */
    uint32_t node_at;       /* where among them ours stands */
    bool crowded;           /* all ranks are near, and there are more than cores */
    bool timed;             /* waits are, for the statistics or the trace */
    bool watched;           /* messages and bulk transfers are, for the trace or the profile */
    bool threaded;          /* a second thread runs handlers */
    bool traced;            /* what happens is remembered (trace.h) */
    uint64_t gets;          /* begun here and not yet complete */
    uint64_t puts;          /* the same */
    uint64_t stored_out;    /* bytes of signalling stores sent in messages */
    uint64_t stored_in;     /* of those that came, bytes in place here */
    uint64_t consumed;      /* of these, what store_sync and its kin have taken */
    uint64_t vain;          /* messages of locks that were tried in vain; they change nothing */
    uint64_t vain_far;      /* of these, those that came over a network: as many as were sent */
    const char *running;    /* a function of the program that must not wait; NULL = none */
    const void *running_on; /* the stack, which its frames lie below */
};
extern struct splitc_runtime splitc_runtime;

/* ---- the monitor (keeper.c) ------------------------------------------------ */

/* With SPLITC_PROGRESS=thread or upcall another thread runs handlers while the program computes.
 * Functions of the library that send, wait, or use what handlers use keep it out from this line to
 * their ends.  It may be done within one another, and by handlers. */
#define SPLITC_INSIDE                                                                              \
    __attribute__((cleanup(splitc_monitor_leave), unused)) bool inside = splitc_monitor_enter()

void splitc_monitor_lock(void) __attribute__((cold, noinline));
void splitc_monitor_unlock(void) __attribute__((cold, noinline));

static inline bool splitc_monitor_enter(void)
{
    const bool threaded = splitc_runtime.threaded;

    if (__builtin_expect(threaded, 0))
        splitc_monitor_lock();
    return threaded;
}

static inline void splitc_monitor_leave(const bool *inside)
{
    if (__builtin_expect(*inside, 0))
        splitc_monitor_unlock();
}

/* ---- threads (keeper.c) ---------------------------------------------------- */

/* Where there is no monitor, messages are the business of one thread: that which runs the program,
 * or what it has in its exit handlers. */
extern __thread bool splitc_own_thread;

/* End the job because another thread does `what`, which needs messages; or let it pass, if they go
 * over no network. */
_Noreturn void splitc_foreign_thread(const char *what) __attribute__((cold, noinline));
void splitc_foreign_wait(const char *what) __attribute__((cold, noinline));

static inline bool splitc_is_foreign_thread(void)
{
    return __builtin_expect(!splitc_own_thread, 0) && !splitc_runtime.threaded;
}

/* ---- errors (error.c) ---------------------------------------------------- */

/* End the job: one line on stderr, "splitc: rank R: ...", then exit code 1. */
_Noreturn void splitc_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold, noinline));

/* The same where every rank finds the same fault: processor 0 tells it. */
_Noreturn void splitc_die_together(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold, noinline));

/* The same without a word: processor 0 has found the fault, too. */
_Noreturn void splitc_die_unheard(void) __attribute__((cold, noinline));

/* End the job because a rank has ended where all meet by the launcher. */
_Noreturn void splitc_other_gone(void) __attribute__((cold, noinline));

/* End the job because a rank is dead. */
_Noreturn void splitc_peer_died(uint32_t rank) __attribute__((cold, noinline));

/* End the job because a message to `rank` failed with -errno. */
_Noreturn void splitc_send_failed(uint32_t rank, int error) __attribute__((cold, noinline));

static inline void splitc_sent(uint32_t rank, int result)
{
    if (__builtin_expect(result < 0, 0))
        splitc_send_failed(rank, result);
}

/* End the job because `splitc_runtime.running` does what it must not. */
_Noreturn void splitc_must_not_wait(void) __attribute__((cold, noinline));

/* End the job because a message makes no sense. */
_Noreturn void splitc_malformed(const struct gam_message *m) __attribute__((cold, noinline));

static inline void splitc_expect(const struct gam_message *m, bool sane)
{
    if (__builtin_expect(!sane, 0))
        splitc_malformed(m);
}

/* ---- progress and waiting (progress.c) ----------------------------------- */

/* Learn from the environment how patiently to wait for messages.  `network`: some come that way. */
void splitc_progress_init(uint32_t local_ranks, bool network);

/* Whether ranks share cores, so that waiting must not keep one from running. */
bool splitc_shares_cores(void);

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

/* One wait:
 *
 *     struct splitc_wait w = {.kind = ..., .what = "sync", .whom = SPLITC_ANYBODY};
 *
 *     while (!done)
 *         splitc_wait_step(&w);
 *     splitc_wait_end(&w);
 */
struct splitc_wait {
    enum splitc_wait_kind kind;
    const char *what; /* as the program calls it; a constant */
    uint32_t whom;    /* the rank that has to do something, or SPLITC_ANYBODY */

    uint32_t idle;  /* steps in a row that found nothing: it spins, then yields, then sleeps */
    bool shown;     /* on the status page: it has lasted longer than it spins */
    bool trying;    /* a message over a network tries to end it */
    uint64_t tries; /* what the status page shows (split-c/status.h) */
    double began;   /* 0 = not timed */
    struct splitc_site *site; /* where the program was then */
};

/* Serve messages once.  Ends the job when a peer is dead. */
void splitc_wait_step(struct splitc_wait *w);

/* The same where what is waited for is written through windows, and then splitc_wake
 * called. */
void splitc_wait_step_shared(struct splitc_wait *w);

/* The same where nothing wakes us: looks again every millisecond. */
void splitc_wait_step_unrung(struct splitc_wait *w);

/* It takes long, and we wait some other way. */
void splitc_wait_show(struct splitc_wait *w);

void splitc_wait_over(struct splitc_wait *w) __attribute__((cold, noinline));

static inline void splitc_wait_end(struct splitc_wait *w)
{
    if (__builtin_expect(w->shown || w->began > 0, 0))
        splitc_wait_over(w);
}

/* After a write into the memory of `rank` that it may wait for; a full fence. */
void splitc_wake(uint32_t rank);

/* After a write that any rank may wait for. */
void splitc_wake_all(void);

/* The old value of an int anywhere in the global address space, as part of that wait. */
int splitc_exchange_in(struct splitc_wait *w, splitc_ptr object, int value);

/* Serve messages until *done, which the handler of a message of `whom` sets. */
void splitc_await(const bool *done, const char *what, uint32_t whom);

/* Serve messages once, as a step of a loop that the program waits in.  Returns how many there
 * were. */
int splitc_poll_once(void);

/* ---- the job (job.c), its end (end.c) ------------------------------------ */

/* Join the job; after it everything here works.  Errors end the process. */
void splitc_job_open(void);

/* Leave it, once all ranks do. */
void splitc_job_close(void);

/* Wait, serving messages, until all ranks are at their ends. */
void splitc_meet_at_end(void);

/* The same for a rank that fails: it waits so many seconds at most. */
void splitc_fail_at_end(double seconds);

/* Everything before it is seen by all before anything behind it is done. */
static inline void splitc_full_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Where another rank has what is at `here` among our static objects, or NULL. */
static inline void *splitc_peers_copy(uint32_t rank, const void *here)
{
    splitc_ptr g = splitc_make((int)rank, here);

    return splitc_is_near(g) ? splitc_near(g) : NULL;
}

/* Signalling stores: bytes stored from here, and bytes stored to here that are in place. */
void splitc_store_counts(uint64_t *stored, uint64_t *landed);

/* ---- small payloads -------------------------------------------------------- */

/* A request names an address and a small size in one word. */
static inline uint64_t splitc_pack(const volatile void *address, size_t n)
{
    return (uint64_t)n << SPLITC_ADDRESS_BITS | ((uintptr_t)address & SPLITC_ADDRESS_MASK);
}

static inline void *splitc_packed_address(uint64_t word)
{
    return (void *)(uintptr_t)(word & SPLITC_ADDRESS_MASK);
}

static inline size_t splitc_packed_size(uint64_t word)
{
    return word >> SPLITC_ADDRESS_BITS;
}

static inline uint32_t splitc_words(size_t n)
{
    return (uint32_t)((n + 7) / 8);
}

/* Copy few bytes; the sizes of scalars move in one access. */
static inline void splitc_copy(void *to, const void *from, size_t n)
{
    switch (n) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 0:
        break; /* `to` may be NULL */
    default:
        memcpy(to, from, n);
    }
}

_Noreturn void splitc_bad_pointer(splitc_ptr g) __attribute__((cold, noinline));

#define SPLITC_NULL_PAGE 4096ul /* nothing is ever mapped below it */

/* The rank a far access, `what`, goes to; ends the job unless the pointer can be followed, and
 * here. */
static inline uint32_t splitc_target(splitc_ptr g, const char *what)
{
    uint32_t rank = (uint32_t)splitc_rank(g);

    if (__builtin_expect(
            rank >= splitc_runtime.ranks || (g & SPLITC_ADDRESS_MASK) < SPLITC_NULL_PAGE, 0))
        splitc_bad_pointer(g);
    if (__builtin_expect(splitc_runtime.running != NULL, 0))
        splitc_must_not_wait();
    if (splitc_is_foreign_thread())
        splitc_foreign_thread(what);
    return rank;
}

/* A blocking operation waits for one of these, on the caller's stack, whose
 * address travels to the owner and back. */
struct splitc_cell {
    void *to; /* where the answer's bytes go */
    size_t n; /* how many they are */
    bool done;
};

static inline uint64_t splitc_cell_word(const struct splitc_cell *cell)
{
    return (uintptr_t)cell;
}

/* ---- messages -------------------------------------------------------------- */

/* Index of each handler in GAM's table, the same on every rank. */
enum splitc_message {
    SPLITC_MSG_READ = 1,
    SPLITC_MSG_WRITE,
    SPLITC_MSG_WRITE_LANDED, /* a blocking bulk write is in place */
    SPLITC_MSG_ANSWER,       /* fills a cell */
    SPLITC_MSG_UNCHANGED,    /* the same, and tells that nothing has changed */
    SPLITC_MSG_BULK_READ,    /* a blocking bulk read is complete */
    SPLITC_MSG_GET,
    SPLITC_MSG_GET_ANSWER,
    SPLITC_MSG_PUT,
    SPLITC_MSG_PUT_LANDED,
    SPLITC_MSG_GOT,      /* a bulk get is complete */
    SPLITC_MSG_PUT_DONE, /* a put is complete */
    SPLITC_MSG_STORE,
    SPLITC_MSG_STORE_LANDED,
    SPLITC_MSG_ATOMIC,
    SPLITC_MSG_MASKED,
    SPLITC_MSG_RUN, /* atomic(fn, ...) */
    SPLITC_MSG_COLLECTIVE,
    SPLITC_MSG_END,
    SPLITC_MSG_WAKE,  /* somebody asleep looks up */
    SPLITC_MSG_STATS, /* what a rank tells at its end */
    SPLITC_MSG_TRACE,
    SPLITC_MSG_PROFILE,
    SPLITC_MSG_DIRECT_ASK, /* direct.c has the conversation */
    SPLITC_MSG_DIRECT_READY,
    SPLITC_MSG_DIRECT_CHECK,
    SPLITC_MSG_DIRECT_LANDED,
    SPLITC_MSG_XFER, /* am_reply_xfer */
    SPLITC_MSG_XFER_LARGE,
    SPLITC_MSG_PROBE, /* of -fcheck; checks.c registers it */
    SPLITC_MESSAGES
};

gam_handler_fn splitc_on_read;
gam_handler_fn splitc_on_write;
gam_handler_fn splitc_on_write_landed;
gam_handler_fn splitc_on_answer;
gam_handler_fn splitc_on_unchanged;
gam_handler_fn splitc_on_bulk_read;
gam_handler_fn splitc_on_get;
gam_handler_fn splitc_on_get_answer;
gam_handler_fn splitc_on_put;
gam_handler_fn splitc_on_put_landed;
gam_handler_fn splitc_on_got;
gam_handler_fn splitc_on_put_done;
gam_handler_fn splitc_on_store;
gam_handler_fn splitc_on_store_landed;
gam_handler_fn splitc_on_atomic;
gam_handler_fn splitc_on_masked;
gam_handler_fn splitc_on_run;
gam_handler_fn splitc_on_collective;
gam_handler_fn splitc_on_end;
gam_handler_fn splitc_on_wake;
gam_handler_fn splitc_on_stats;
gam_handler_fn splitc_on_trace;
gam_handler_fn splitc_on_profile;
gam_handler_fn splitc_on_direct_ask;
gam_handler_fn splitc_on_direct_ready;
gam_handler_fn splitc_on_direct_check;
gam_handler_fn splitc_on_direct_landed;
gam_handler_fn splitc_on_xfer;
gam_handler_fn splitc_on_xfer_large;

/* Give the program's own handlers (handlers.c) their indices behind these. */
void splitc_handlers_open(void);

/* Large blocks that handlers were told of, to be fetched outside of them. */
extern struct fetch *splitc_fetches;
void splitc_begin_fetches(void) __attribute__((cold, noinline));

/* ---- collective operations (collective.c) ----------------------------------- */

/* What a collective combines; values travel as 64 bits. */
enum splitc_combine {
    SPLITC_ADD, /* integers */
    SPLITC_MAX, /* those that 64 bits hold with a sign */
    SPLITC_MIN,
    SPLITC_MAX_UNSIGNED,
    SPLITC_MIN_UNSIGNED,
    SPLITC_ADD_REAL,
    SPLITC_MAX_REAL,
    SPLITC_MIN_REAL,
};

uint64_t splitc_combine(enum splitc_combine with, uint64_t a, uint64_t b);

/* The combination of every rank's value, in the order of ranks, on every rank. */
uint64_t splitc_reduce_to_all(enum splitc_combine with, uint64_t value);

/* See which ranks meet within nodes first.  Collective, after the windows. */
void splitc_collectives_open(void);

/* ---- spread heap (spread_heap.c) --------------------------------------------- */

/* Get the range that is the same on every rank, of `size` bytes if all have as
 * much.  Collective. */
void splitc_spread_heap_open(uint64_t size);
void splitc_spread_heap_close(void);

/* Allocate the spread arrays with static storage.  Collective. */
void splitc_allocate_statics(void);

#endif
