/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.c - waiting for messages, and noticing that a peer is dead.
 */
#include "internal.h"
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unet/unet_rest.h>

enum {
    CHECK_ROUNDS = 256, /* empty polls between two checks whether the peer is dead */
    NAP_MS = 1,         /* a sleep while waiting for room in a queue, which wakes nobody */
    SLICE_MS = 100,     /* a sleep while waiting for a message, until peers are checked */
    CHECK_MS = 20,      /* the least time between two checks by polls */
    CHECK_BATCH = 64,   /* peers in one check */
    PUSH_US = 50,       /* without anything going, until what waits for the network is left; */
    PUSH_LEFT_US = 300, /* the same for all ranks together for which something was left */
};

/* ---- death -------------------------------------------------------------------- */

static void GAM_COLD peer_mark_dead(struct gam *g, struct gam_peer *peer)
{
    peer->dead = true;
    if (g->dead < 0)
        g->dead = peer->rank;
    gam_deferred_drop(peer);
    gam_transfers_drop(g, peer);
}

bool gam_peer_check(struct gam *g, struct gam_peer *peer)
{
    if (!peer->dead && unet_channel_state(peer->ep, peer->channel) == UNET_DEAD)
        peer_mark_dead(g, peer);
    return peer->dead;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t clock_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void peers_check_batch(struct gam *g)
{
    for (uint32_t i = 0; i < CHECK_BATCH && i < g->ranks; i++) {
        gam_peer_check(g, &g->peer[g->check_next]);
        g->check_next = (g->check_next + 1) % g->ranks;
    }
}

void gam_peers_check(struct gam *g)
{
    const int64_t now = clock_ms(CLOCK_MONOTONIC_COARSE);

    if (now - g->checked_ms < CHECK_MS)
        return;
    g->checked_ms = now;
    peers_check_batch(g);
}

/* ---- waiting -------------------------------------------------------------------- */

/* Sleep at all ports at once.  Returns as unet_wait. */
static int sleep_at_all(struct gam *g, int timeout_ms)
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

/* Sleep if the endpoints allow it, otherwise yield the processor. */
static int sleep_at_ports(struct gam *g, int timeout_ms)
{
    int rc;

    gam_credits_return_all(g);
    rc = g->ports > 1 ? sleep_at_all(g, timeout_ms) : unet_wait(g->port->ep, timeout_ms);

    if (rc >= 0 || rc == -EINTR)
        return rc;
    return sched_yield();
}

int gam_wait_step(struct gam *g, struct gam_peer *peer, uint32_t *rounds)
{
    const uint32_t round = ++*rounds;

    if (peer->dead || (round % CHECK_ROUNDS == 0 && gam_peer_check(g, peer)))
        return -EPIPE;
    if (gam_poll(g) > 0)
        return peer->dead ? -EPIPE : 0;
    if (!unet_rest_after(&unet_rest_room, round))
        sleep_at_ports(g, NAP_MS);
    return 0;
}

static void note_left(struct gam *g, uint32_t dest)
{
    uint32_t i = 0;

    while (i < g->left_count && g->left[i] != dest)
        i++;
    if (i == GAM_LEFT_MOST)
        return;
    g->left[i] = dest;
    g->left_count += i == g->left_count;
}

static uint32_t still_unsent(const struct gam_peer *peer)
{
    return peer->dead ? 0 : unet_push_packets(peer->ep, peer->channel);
}

/* True: all has gone. */
static bool push_for(struct gam *g, uint32_t dest, int64_t most_us)
{
    const struct gam_peer *peer = &g->peer[dest];
    uint32_t left = still_unsent(peer), least = left;
    int64_t since = left > 0 ? clock_us() : 0;

    while (left > 0) {
        int64_t now;

        gam_poll(g);
        left = still_unsent(peer);
        now = clock_us();
        if (left < least) {
            least = left;
            since = now;
        } else if (now - since > most_us) {
            note_left(g, dest);
            return false;
        }
    }
    return true;
}

bool gam_push(struct gam *g, uint32_t dest)
{
    return push_for(g, dest, PUSH_US);
}

void gam_push_left(struct gam *g)
{
    uint32_t left[GAM_LEFT_MOST];
    const uint32_t count = g->left_count;
    int64_t end;

    if (count == 0)
        return;
    memcpy(left, g->left, count * sizeof(*left));
    end = clock_us() + PUSH_LEFT_US;
    g->left_count = 0;
    for (uint32_t i = 0; i < count; i++)
        push_for(g, left[i], end - clock_us());
}

/* How long the next sleep may last until `deadline`; -1: there is none. */
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
        rc = sleep_at_ports(g, slice);
        if (rc == -EINTR)
            return rc;
        if (rc == 0 && !g->port->ep->config.polled)
            peers_check_batch(g);
    }
}
