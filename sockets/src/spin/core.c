/* SPDX-License-Identifier: BSD-3-Clause
 *
 * core.c - two threads that ask and answer in turns wait for one another on one core.
 */
#include "spin/core.h"
#include "real/real.h"
#include "record/pause.h"
#include "record/record.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In turns. */
enum {
    STRICT = 8,  /* with the same stream, and it is tried whether one core for both is better */
    WINDOW = 16, /* of such a trial, with a core each, and as many on one ... */
    SETTLE = 4,  /* ... after those that it takes to come together */
    FOLLOW = 4,  /* after which the other end's core is waited on */
};

enum {
    HOLD_NS = 200000000,  /* between two trials, ... */
    MOST_HOLDS = 16,      /* ... or up to so many times as long if they are in vain */
    VALID_NS = 50000000,  /* so long after it was announced a core is waited on */
    LATE_NS = 1000000,    /* a stranger's core is busy where a wake-up takes so long ... */
    WARY_NS = 1000000000, /* ... and none is followed for so long */
    MOST_TURNS = 1000,    /* of waiting for a thread that is about to be free */
};

/* What the leader of two does. */
enum step { COUNT, APART, JOIN, JOINED, STAY_APART, STAY_JOINED };

static _Atomic bool is_off;
static uint32_t cores; /* that are online, or 0 if that is not known */

/* The threads of this process that are confined, and to which core. */
static struct {
    _Atomic uint32_t thread; /* 0: nobody; RELEASED and it: is just being given all cores */
    uint32_t core;
} confined[64];
#define RELEASED (UINT32_C(1) << 31)

/* Of this thread. */
static _Thread_local struct {
    const void *stream;             /* with which it takes turns ... */
    uint32_t turns;                 /* ... for so many; in this step or window of it, if it leads */
    uint64_t received;              /* from there, when it last woke the other end */
    enum step step;                 /* of one who leads ... */
    uint64_t since_ns, since_bytes; /* ... which began then, or its window did ... */
    uint64_t until_ns;              /* ... and ends then */
    uint32_t holds;                 /* so many HOLD_NS */
    uint64_t apart;                 /* how fast it was with a core each */
    uint32_t named;                 /* of one who follows: by the other end */
    uint32_t core;                  /* where it is to sleep, counted from 1; 0: anywhere ... */
    uint64_t valid_until_ns;        /* ... from then on */
    bool wary;                      /* the other end is a stranger's, ... */
    uint64_t wary_until_ns;         /* ... who is not followed before that */
    uint32_t place;                 /* among those that are confined, from 1 */
    bool shared;                    /* the last sleep was on such a core */
} own __attribute__((tls_model("initial-exec"))) = {.holds = 1};

/* ---- what the kernel is told ------------------------------------------------------------ */

static bool get_mask(uint32_t thread, cpu_set_t *mask)
{
    return sockets_real.sched_getaffinity((pid_t)thread, sizeof(*mask), mask) == 0;
}

static bool set_mask(uint32_t thread, const cpu_set_t *mask)
{
    return sockets_real.sched_setaffinity((pid_t)thread, sizeof(*mask), mask) == 0;
}

/* All cores that there are and may be, as who never asked for some has them; unless somebody has
 * given it others meanwhile. */
static void give_all(uint32_t thread, uint32_t core)
{
    cpu_set_t mask;

    if (!get_mask(thread, &mask) || CPU_COUNT(&mask) != 1 || !CPU_ISSET(core - 1, &mask))
        return;
    memset(&mask, 0xff, sizeof(mask));
    set_mask(thread, &mask);
}

/* By whoever is first, the thread itself or one that has all of them released. */
static void release(uint32_t place, uint32_t thread)
{
    uint32_t expected = thread;

    if (!atomic_compare_exchange_strong(&confined[place].thread, &expected, thread | RELEASED))
        return;
    give_all(thread, confined[place].core);
    atomic_store(&confined[place].thread, 0);
}

void sockets_core_release(void)
{
    const uint32_t place = own.place;
    const int error = errno;

    if (__builtin_expect(place == 0, 1))
        return;
    own.place = 0;
    release(place - 1, sockets_thread_id());
    errno = error;
}

static bool find_place(uint32_t core)
{
    for (uint32_t i = 0; i < sizeof(confined) / sizeof(*confined); i++) {
        uint32_t nobody = 0;

        if (!atomic_compare_exchange_strong(&confined[i].thread, &nobody, sockets_thread_id()))
            continue;
        confined[i].core = core;
        atomic_signal_fence(memory_order_seq_cst);
        own.place = i + 1;
        return true;
    }
    return false;
}

static bool may_be_confined(uint32_t core)
{
    cpu_set_t mask;

    return core <= CPU_SETSIZE && get_mask(0, &mask) && (uint32_t)CPU_COUNT(&mask) == cores &&
           CPU_ISSET(core - 1, &mask);
}

/* A handler of a signal, or another thread, may release this one before the kernel is told to
 * confine it. */
static bool confine(uint32_t core)
{
    cpu_set_t mask;

    if (!may_be_confined(core) || !find_place(core)) {
        own.core = 0;
        return false;
    }
    CPU_ZERO(&mask);
    CPU_SET(core - 1, &mask);
    if (!atomic_load(&is_off))
        set_mask(0, &mask);
    if (own.place == 0 || atomic_load(&is_off)) {
        sockets_core_release();
        give_all(0, core);
        return false;
    }
    return true;
}

void sockets_core_init(void)
{
    const char *text = getenv("UNETSOCK_CORE");
    const long online = sysconf(_SC_NPROCESSORS_ONLN);

    cores = online > 0 && online <= CPU_SETSIZE ? (uint32_t)online : 0;
    atomic_store(&is_off,
                 (text && strcmp(text, "0") == 0) || cores < 2 || sockets_process_is_filtered());
}

void sockets_core_after_fork(void)
{
    memset(confined, 0, sizeof(confined));
    own.place = 0;
}

/* One that just does that itself is waited for; it may have died, and somebody else may have its
 * number. */
static void release_other(uint32_t place)
{
    const uint32_t thread = atomic_load(&confined[place].thread);

    for (uint32_t turn = 1;
         turn < MOST_TURNS && (thread & RELEASED) && atomic_load(&confined[place].thread) == thread;
         turn++)
        sockets_wait_turn(turn);
    if (thread != 0 && !(thread & RELEASED) && syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) == 0)
        release(place, thread);
}

void sockets_core_never(void)
{
    const int error = errno;

    atomic_store(&is_off, true);
    for (uint32_t i = 0; i < sizeof(confined) / sizeof(*confined); i++)
        release_other(i);
    errno = error;
}

/* ---- who takes turns, and whether that is faster on one core ---------------------------- */

static void begin_step(enum step step, uint64_t now, uint64_t bytes)
{
    own.step = step;
    own.turns = 0;
    own.since_ns = now;
    own.since_bytes = bytes;
}

static void hold(enum step step, uint64_t now, uint64_t bytes)
{
    own.holds = step == STAY_JOINED ? 1 : own.holds < MOST_HOLDS ? 2 * own.holds : MOST_HOLDS;
    own.until_ns = now + own.holds * (uint64_t)HOLD_NS;
    begin_step(step, now, bytes);
}

/* Bytes of both directions in 2^20 ns. */
static uint64_t speed(uint64_t now, uint64_t bytes)
{
    return ((bytes - own.since_bytes) << 20) / (now - own.since_ns + 1);
}

/* A window is over. */
static void judge(uint64_t now, uint64_t bytes)
{
    const uint64_t fast = speed(now, bytes);

    switch (own.step) {
    case APART:
        own.apart = fast;
        begin_step(JOIN, now, bytes);
        break;
    case JOINED:
        hold(fast > own.apart + own.apart / 2 ? STAY_JOINED : STAY_APART, now, bytes);
        break;
    case STAY_APART: /* the kernel itself may have had both on one core */
        begin_step(now >= own.until_ns || fast < own.apart / 2 ? APART : STAY_APART, now, bytes);
        break;
    case STAY_JOINED:
        begin_step(now >= own.until_ns || fast < own.apart ? APART : STAY_JOINED, now, bytes);
        break;
    default:
        break;
    }
}

/* One turn more of the leader's. */
static void lead(uint64_t now, uint64_t bytes)
{
    const bool tries = own.step == JOIN || own.step == JOINED;

    own.turns++;
    if (tries && speed(now, bytes) < own.apart / WINDOW) /* one turn takes as long as all did */
        hold(STAY_APART, now, bytes);
    else if (own.step == COUNT && own.turns == STRICT) /* not after what was in vain just now */
        begin_step(own.holds > 1 && now < own.until_ns ? STAY_APART : APART, now, bytes);
    else if (own.step == JOIN && own.turns == SETTLE)
        begin_step(JOINED, now, bytes);
    else if (own.turns == WINDOW)
        judge(now, bytes);
}

static uint32_t leads_to(void)
{
    const int core = sched_getcpu();

    return own.step == COUNT || own.step == APART || own.step == STAY_APART || core < 0
               ? 0
               : (uint32_t)core + 1;
}

/* Whoever names another core time and again is not followed to it, and no stranger once he has
 * named one that is busy. */
static uint32_t follows_to(uint32_t theirs, uint64_t now)
{
    if (own.wary && now < own.wary_until_ns)
        return 0;
    if (theirs != own.named)
        own.turns = 0;
    own.named = theirs;
    return ++own.turns > FOLLOW ? theirs : 0;
}

/* Two that take turns need not both sleep each time: on one core who wakes the other may be
 * interrupted by that before it sleeps. */
uint32_t sockets_core_announce(const void *stream, bool leads, bool is_strangers, uint32_t theirs,
                               uint64_t received, uint64_t sent)
{
    const bool is_turn = own.stream == stream && own.received != received;
    uint64_t now;

    sockets_core_release(); /* who has left a sleep by a jump */
    if (atomic_load_explicit(&is_off, memory_order_relaxed))
        return 0;
    own.stream = stream;
    own.received = received;
    own.wary = is_strangers;
    own.core = 0;
    now = sockets_now_ns();
    if (!is_turn)
        begin_step(COUNT, now, received + sent);
    else if (leads)
        lead(now, received + sent);
    if (is_turn)
        own.core = leads ? leads_to() : follows_to(theirs, now);
    own.valid_until_ns = now + VALID_NS;
    return own.core;
}

/* ---- sleeping --------------------------------------------------------------------------- */

static bool is_announced(void)
{
    return own.core != 0 && sockets_now_ns() < own.valid_until_ns;
}

static void cancelled(void *nothing)
{
    (void)nothing;
    sockets_core_release();
}

/* Who is confined already has left a sleep by a jump, or sleeps and runs a handler of a signal. */
ssize_t sockets_core_sleep(ssize_t (*wait)(void *arg), void *arg)
{
    ssize_t n;

    sockets_core_release();
    own.shared = false;
    if (atomic_load_explicit(&is_off, memory_order_relaxed) || !is_announced() ||
        !confine(own.core))
        return wait(arg);
    own.shared = true;
    atomic_fetch_add_explicit(&sockets_counters->joined, 1, memory_order_relaxed);
    pthread_cleanup_push(cancelled, NULL);
    n = wait(arg);
    pthread_cleanup_pop(0);
    sockets_core_release();
    return n;
}

bool sockets_core_learn(uint64_t took_ns)
{
    if (own.shared && own.wary && took_ns > LATE_NS)
        own.wary_until_ns = sockets_now_ns() + WARY_NS;
    return own.shared;
}
