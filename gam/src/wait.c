/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.c - waiting for messages, and noticing that a peer is dead.
 */
#include "internal.h"
#include <poll.h>
#include <sched.h>
#include <time.h>

enum {
    SPIN_ROUNDS = 64,   /* empty polls before the processor is offered to others */
    YIELD_ROUNDS = 512, /* and before sleeping */
    CHECK_ROUNDS = 256, /* empty polls between two looks whether the peer lives */
    NAP_MS = 1,         /* what a wait for room in a queue may sleep: nothing wakes it */
    SLICE_MS = 100,     /* what a wait for a message may sleep before it looks for the dead */
    CHECK_MS = 20,      /* a poll looks for the dead no more often than that */
    CHECK_BATCH = 64,   /* peers looked at in one go */
};

/* ---- death -------------------------------------------------------------------- */

static void GAM_COLD bury(struct gam *g, struct gam_peer *peer)
{
    peer->dead = true;
    if (g->dead < 0)
        g->dead = peer->rank;
    gam_deferred_drop(peer);
    gam_transfers_drop(g, peer);
}

bool gam_check(struct gam *g, struct gam_peer *peer)
{
    if (!peer->dead && unet_channel_state(peer->ep, peer->channel) == UNET_DEAD)
        bury(g, peer);
    return peer->dead;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void check_batch(struct gam *g)
{
    for (uint32_t i = 0; i < CHECK_BATCH && i < g->ranks; i++) {
        gam_check(g, &g->peer[g->check_next]);
        g->check_next = (g->check_next + 1) % g->ranks;
    }
}

void gam_check_some(struct gam *g)
{
    const int64_t now = clock_ms(CLOCK_MONOTONIC_COARSE);

    if (now - g->checked_ms < CHECK_MS)
        return;
    g->checked_ms = now;
    check_batch(g);
}

/* ---- waiting -------------------------------------------------------------------- */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleep at all ports at once.  Returns as unet_wait. */
static int wait_at_ports(struct gam *g, int timeout_ms)
{
    struct pollfd fd[GAM_PORTS];
    uint32_t armed = 0;
    int rc = 0;

    for (; rc == 0 && armed < g->ports; armed += rc == 0) {
        fd[armed] = (struct pollfd){.fd = unet_fd(g->port[armed].ep), .events = POLLIN};
        rc = unet_arm(g->port[armed].ep, &timeout_ms);
    }
    if (armed == g->ports && (rc = poll(fd, armed, timeout_ms)) < 0)
        rc = -errno;
    while (armed > 0)
        unet_disarm(g->port[--armed].ep);
    return rc;
}

/* Sleep if the endpoints allow it, else let others run. */
static int nap(struct gam *g, int timeout_ms)
{
    int rc;

    gam_settle_all(g);
    rc = g->ports > 1 ? wait_at_ports(g, timeout_ms) : unet_wait(g->port->ep, timeout_ms);

    if (rc >= 0 || rc == -EINTR)
        return rc;
    return sched_yield();
}

int gam_pause(struct gam *g, struct gam_peer *peer, uint32_t *rounds)
{
    const uint32_t round = ++*rounds;

    if (peer->dead || (round % CHECK_ROUNDS == 0 && gam_check(g, peer)))
        return -EPIPE;
    if (gam_poll(g) > 0)
        return peer->dead ? -EPIPE : 0;
    if (round < SPIN_ROUNDS)
        relax();
    else if (round < YIELD_ROUNDS)
        sched_yield();
    else
        nap(g, NAP_MS);
    return 0;
}

/* How long the next sleep may last, given what is left of the time-out. */
static int slice_ms(const struct gam *g, int64_t deadline)
{
    const int most = g->list[GAM_WORKING] || g->list[GAM_OWING] ? NAP_MS : SLICE_MS;
    const int64_t left = deadline < 0 ? most : deadline - clock_ms(CLOCK_MONOTONIC);

    return left < most ? (int)(left > 0 ? left : 0) : most;
}

int gam_wait(struct gam *g, int timeout_ms)
{
    const int64_t deadline = timeout_ms < 0 ? -1 : clock_ms(CLOCK_MONOTONIC) + timeout_ms;

    if (g->context != GAM_MAIN)
        return 0;
    for (;;) {
        int handled = gam_poll(g);
        int slice, rc;

        if (handled > 0)
            return handled;
        if (g->dead >= 0)
            return -EPIPE;
        slice = slice_ms(g, deadline);
        if (slice == 0)
            return 0;
        rc = nap(g, slice);
        if (rc == -EINTR)
            return rc;
        if (rc == 0 && !g->port->ep->config.polled)
            check_batch(g);
    }
}
