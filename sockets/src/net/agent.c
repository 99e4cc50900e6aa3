/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.c - the thread that serves links while the program is in no call of them.
 */
#include "net/agent.h"
#include "net/judge.h"
#include "net/link.h"
#include "net/thread.h"
#include "real/hidden.h"
#include "real/real.h"
#include "record/pause.h"
#include "spin/spin.h"
#include <pthread.h>
#include <sys/eventfd.h>

enum {
    TICK_MS = 1,   /* while something is to be done, or others look */
    BRIEF_MS = 20, /* for the endpoints' timers, while there was traffic lately ... */
    /* ... and else: an endpoint that pauses for a quarter of the time believes that its peer was
     * silent for that reason. */
    LONG_MS = SOCKETS_LINK_PEER_MS / 10,
    BRIEF_TURNS = 50,
};

static struct sockets_link *_Atomic links[SOCKETS_AGENT_LINKS];
static _Atomic int reserved;
static _Atomic int event = -1; /* a slot of real/hidden.h */
static _Atomic uint64_t woken_at;
static _Atomic bool runs;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

bool sockets_agent_reserve(void)
{
    if (atomic_fetch_add(&reserved, 1) < SOCKETS_AGENT_LINKS)
        return true;
    sockets_agent_give();
    return false;
}

void sockets_agent_give(void)
{
    atomic_fetch_sub(&reserved, 1);
}

void sockets_agent_wake(void)
{
    const uint64_t one = 1;
    const int fd = sockets_hidden_fd(atomic_load(&event));

    atomic_store_explicit(&woken_at, sockets_now_ns(), memory_order_relaxed);
    if (fd >= 0 && sockets_real.write(fd, &one, sizeof(one)) < 0)
        return; /* it is awake */
}

/* What a wake-up takes: other hosts do not tell when they have woken one of this process. */
static void learn_wake(uint64_t slept_at)
{
    const uint64_t at = atomic_load_explicit(&woken_at, memory_order_relaxed);

    if (at > slept_at)
        sockets_spin_learn(sockets_now_ns() - at);
}

/* Serve all.  Returns for how long nothing has to be done, in ms; 0: a tick. */
static int serve_all(uint32_t *idle_turns)
{
    bool again = false;

    for (int i = 0; i < SOCKETS_AGENT_LINKS; i++) {
        struct sockets_link *link = atomic_load(&links[i]);
        enum sockets_link_served served;

        if (!link)
            continue;
        served = sockets_link_serve(link);
        if (served == SOCKETS_LINK_GONE) {
            atomic_store(&links[i], NULL);
            sockets_link_free(link);
            sockets_agent_give();
            continue;
        }
        again |= served == SOCKETS_LINK_AGAIN || sockets_link_is_looked_at(link);
    }
    if (again)
        *idle_turns = 0;
    else
        (*idle_turns)++;
    return again ? 0 : *idle_turns < BRIEF_TURNS ? BRIEF_MS : LONG_MS;
}

/* For so long, in ms, or a tick if messages wait for the agent to send them. */
static int may_sleep(int ms)
{
    sockets_road_uncork_all();
    if (ms > 0 && sockets_road_agent_sleeps())
        return ms;
    sockets_road_agent_ticks();
    return 0;
}

static nfds_t watch(struct pollfd *fds)
{
    nfds_t n = 0;

    fds[n++] = (struct pollfd){.fd = sockets_hidden_fd(atomic_load(&event)), .events = POLLIN};
    for (int i = 0; i < SOCKETS_AGENT_LINKS; i++) {
        const struct sockets_link *link = atomic_load(&links[i]);

        if (!link)
            continue;
        if (link->state == SOCKETS_LINK_NETWORK)
            fds[n++] = (struct pollfd){.fd = sockets_lane_fd(link->lane), .events = POLLIN};
        if (link->state != SOCKETS_LINK_LOST && link->ended_ns == 0)
            fds[n++] = (struct pollfd){.fd = link->control, .events = POLLIN};
    }
    return n;
}

static void *run(void *none)
{
    struct pollfd fds[1 + 2 * SOCKETS_AGENT_LINKS];
    uint32_t idle_turns = 0;
    uint64_t count;

    (void)none;
    for (;;) {
        const int ms = may_sleep(serve_all(&idle_turns));
        const nfds_t all = watch(fds);
        const uint64_t slept_at = sockets_now_ns();

        if (sockets_real.poll(fds, ms ? all : 1, ms ? ms : TICK_MS) > 0)
            idle_turns = 0;
        if (!fds[0].revents)
            continue;
        learn_wake(slept_at);
        if (sockets_real.read(fds[0].fd, &count, sizeof(count)) < 0)
            continue;
    }
    return NULL;
}

static bool start(void)
{
    pthread_mutex_lock(&starting);
    if (!atomic_load(&runs)) {
        const bool hidden = sockets_hidden_begin();
        atomic_store(&event, sockets_hidden_keep(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)));
        sockets_hidden_end(hidden);
        atomic_store(&runs, atomic_load(&event) >= 0 && sockets_thread_start(run, NULL));
    }
    pthread_mutex_unlock(&starting);
    return atomic_load(&runs);
}

bool sockets_agent_add(struct sockets_link *link)
{
    if (!start())
        return false;
    for (int i = 0; i < SOCKETS_AGENT_LINKS; i++) {
        struct sockets_link *none = NULL;

        if (!atomic_compare_exchange_strong(&links[i], &none, link))
            continue;
        sockets_agent_wake();
        return true;
    }
    return false;
}

void sockets_agent_after_fork(void)
{
    for (int i = 0; i < SOCKETS_AGENT_LINKS; i++)
        atomic_store(&links[i], NULL);
    atomic_store(&reserved, 0);
    atomic_store(&event, -1);
    atomic_store(&runs, false);
    pthread_mutex_init(&starting, NULL);
    sockets_judge_after_fork();
}
