/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - the operations of a reliable endpoint.
 */
#include "endpoint.h"
#include <errno.h>
#include <string.h>

enum {
    LINGER_US = 1000000, /* what closing waits for acknowledgements, in all */
    QUEUED_MS = 1, /* what a sleep may last while messages are queued or channels connecting, of
                      which the engine knows no deadline */
};

/* ---- sending ------------------------------------------------------------------------------- */

static void send_unless_corked(struct reliable_endpoint *r, uint64_t now)
{
    if (r->corked)
        r->packets_wait = true;
    else
        reliable_packets_send(r, now);
}

static void kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);
    uint64_t now;

    (void)channel;
    reliable_lock(r);
    now = reliable_now_us();
    reliable_messages_send(r, now);
    send_unless_corked(r, now);
    reliable_unlock(r);
}

/* Behind the messages that are queued. */
static int sendv_locked(struct reliable_endpoint *r, uint16_t channel, uint32_t user,
                        const struct iovec *iov, uint32_t count)
{
    const uint64_t now = reliable_now_us();
    int rc;

    reliable_messages_send(r, now);
    if (reliable_messages_queued(r))
        return -EAGAIN;
    rc = reliable_engine_sendv(r->engine, now, r->peer[channel].rank, user, iov, count);
    if (rc == 0)
        send_unless_corked(r, now);
    return rc;
}

static int sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user, const struct iovec *iov,
                 uint32_t count)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    reliable_lock(r);
    rc = sendv_locked(r, channel, user, iov, count);
    reliable_unlock(r);
    return rc == -ENOMEM ? -EAGAIN : rc;
}

static void cork(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);

    r->corked = true;
    r->received_at_cork = ep->stats.received;
}

/* The acknowledgement of a single message waits: the caller may be about to answer it, and then the
 * answer carries it. */
static void uncork(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    const bool acknowledge = ep->stats.received - r->received_at_cork > 1;
    uint64_t now;

    reliable_lock(r);
    now = reliable_now_us();
    r->corked = false;
    if (reliable_messages_send(r, now) > 0 || r->packets_wait || acknowledge)
        reliable_packets_send(r, now);
    r->packets_wait = false;
    reliable_unlock(r);
}

static bool idle(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    bool is_idle;

    reliable_lock(r);
    is_idle = reliable_engine_idle(r->engine) && !reliable_messages_queued(r);
    reliable_unlock(r);
    return is_idle;
}

/* ---- progress ------------------------------------------------------------------------------ */

/* What arrives is acknowledged the next time: until then an answer may carry the
 * acknowledgement. */
static int move(struct reliable_endpoint *r)
{
    const uint64_t now = reliable_now_us();
    int count = reliable_messages_send(r, now);

    r->turns++;
    reliable_packets_send(r, now);
    count += unet_progress(r->lower);
    return count + reliable_packets_receive(r, now);
}

static void set_state(struct reliable_endpoint *r, uint16_t n, enum unet_channel_state state)
{
    struct unet_channel *channel = &r->ep.channel[n];

    if (channel->state == state)
        return;
    channel->state = (uint8_t)state;
    channel->ring = state == UNET_OPEN ? &r->ep.tx : &r->full;
    r->changes++;
    if (state == UNET_DEAD)
        reliable_engine_abort(r->engine, r->peer[n].rank);
}

/* The packets that a dead peer has sent are received before it counts as dead. */
static void update_state(struct reliable_endpoint *r, uint16_t n)
{
    const uint8_t lower = r->lower->channel[n].state;

    if (r->ep.channel[n].state == UNET_CLOSED || r->ep.channel[n].state == UNET_DEAD)
        return;
    if (r->peer[n].silent)
        set_state(r, n, UNET_DEAD);
    else if (lower != UNET_DEAD || !unet_rx_peek(r->lower))
        set_state(r, n, (enum unet_channel_state)lower);
}

static int move_and_update(struct reliable_endpoint *r)
{
    const int count = move(r);

    for (uint32_t n = 1; n < r->ep.rx_rings; n++) {
        if (r->ep.channel[n].state != r->lower->channel[n].state || r->peer[n].silent)
            update_state(r, (uint16_t)n);
    }
    return count;
}

static int progress(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int count;

    reliable_lock(r);
    count = move_and_update(r);
    reliable_unlock(r);
    return count;
}

void reliable_keepalive(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);

    if (pthread_mutex_trylock(&r->lock) != 0)
        return;
    if (r->turns == r->turns_seen)
        move(r);
    r->turns_seen = r->turns;
    reliable_unlock(r);
}

/* ---- channels ------------------------------------------------------------------------------ */

/* The engine knows nothing of a peer that has never been reached, so its time-out is here.  As in
 * the engine, a pause of our own does not count. */
static void give_up_connecting(struct reliable_endpoint *r, uint16_t channel)
{
    const uint64_t grace = reliable_engine_grace(r->engine);
    const uint64_t since = r->peer[channel].connecting_since;

    if (r->ep.channel[channel].state == UNET_CONNECTING &&
        reliable_now_us() - (since > grace ? since : grace) > r->timeout_us) {
        r->peer[channel].silent = true;
        update_state(r, channel);
    }
}

static void state(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);
    bool connecting;

    reliable_lock(r);
    connecting = unet_channel_state(r->lower, channel) == UNET_CONNECTING;
    move_and_update(r);
    if (connecting)
        give_up_connecting(r, channel);
    reliable_unlock(r);
}

int reliable_address(const struct unet_address *lower, uint32_t rank, struct unet_address *address)
{
    if (lower->length > UNET_ADDRESS_MAX - sizeof(rank))
        return -EADDRNOTAVAIL;
    *address = *lower;
    memcpy(address->bytes + address->length, &rank, sizeof(rank));
    address->length += sizeof(rank);
    return 0;
}

static void address(const struct unet_endpoint *ep, struct unet_address *where)
{
    const struct reliable_endpoint *r = (const struct reliable_endpoint *)ep;
    struct unet_address lower;

    unet_address(r->lower, &lower);
    reliable_address(&lower, r->rank, where);
}

/* The inverse of reliable_address. */
static int split_address(const struct reliable_endpoint *r, const struct unet_address *whole,
                         struct unet_address *lower, uint32_t *rank)
{
    if (whole->length < sizeof(*rank))
        return -EADDRNOTAVAIL;
    *lower = *whole;
    lower->length -= sizeof(*rank);
    memcpy(rank, lower->bytes + lower->length, sizeof(*rank));
    memset(lower->bytes + lower->length, 0, sizeof(*rank));
    return *rank < r->ranks ? 0 : -EADDRNOTAVAIL;
}

static int connect_locked(struct reliable_endpoint *r, const struct unet_address *lower,
                          uint32_t rank, uint64_t tag, uint16_t *channel)
{
    uint16_t n;
    int rc;

    if (r->channel_of[rank] != 0)
        return -EEXIST;
    rc = unet_connect(r->lower, lower, tag, &n);
    if (rc)
        return rc;
    r->channel_of[rank] = n;
    r->peer[n].rank = rank;
    r->peer[n].connecting_since = reliable_now_us();
    r->ep.channel[n].state = UNET_CONNECTING;
    if (n >= r->ep.rx_rings)
        r->ep.rx_rings = n + 1u;
    *channel = n;
    return 0;
}

static int connect_channel(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                           uint16_t *channel)
{
    struct reliable_endpoint *r = reliable_of(ep);
    struct unet_address lower;
    uint32_t rank;
    int rc = split_address(r, peer, &lower, &rank);

    if (rc)
        return rc;
    reliable_lock(r);
    rc = connect_locked(r, &lower, rank, tag, channel);
    reliable_unlock(r);
    return rc;
}

/* Waits until what was sent is acknowledged or its receiver dead, once: if that takes too long for
 * one channel, the others need not wait, too. */
static void linger(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    const uint64_t end = reliable_now_us() + LINGER_US;

    while (!r->lingered && !idle(ep)) {
        for (uint32_t n = 1; n < ep->rx_rings; n++)
            unet_channel_state(ep, (uint16_t)n);
        r->lingered = reliable_now_us() >= end;
    }
}

static void disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);

    linger(ep);
    reliable_lock(r);
    set_state(r, channel, UNET_DEAD);
    r->ep.channel[channel].state = UNET_CLOSED;
    unet_disconnect(r->lower, channel);
    reliable_unlock(r);
}

/* ---- sleeping ------------------------------------------------------------------------------- */

static bool any_connecting(const struct reliable_endpoint *r)
{
    for (uint32_t n = 1; n < r->ep.rx_rings; n++) {
        if (r->ep.channel[n].state == UNET_CONNECTING)
            return true;
    }
    return false;
}

/* What a sleep that should end at time `end` may last. */
static int sleep_ms(const struct reliable_endpoint *r, uint64_t now, uint64_t end)
{
    const uint64_t due = reliable_engine_deadline(r->engine);
    const uint64_t until = due < end ? due : end;
    uint64_t ms = until > now ? (until - now) / 1000 : 0;

    if (ms > QUEUED_MS && (reliable_messages_queued(r) || any_connecting(r)))
        ms = QUEUED_MS;
    return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static int wait_locked(struct reliable_endpoint *r, int timeout_ms)
{
    struct unet_endpoint *ep = &r->ep;
    const uint64_t start = reliable_now_us();
    const uint64_t end =
        timeout_ms < 0 ? RELIABLE_NEVER : start + (uint64_t)timeout_ms * (uint64_t)1000;
    const uint32_t changes = r->changes;

    for (;;) {
        uint64_t now;
        int rc;

        move_and_update(r);
        if (unet_rx_peek(ep))
            return 1;
        now = reliable_now_us();
        if (now >= end || r->changes != changes)
            return 0;
        rc = unet_wait(r->lower, sleep_ms(r, now, end));
        if (rc < 0)
            return rc;
    }
}

/* It keeps the lock while it sleeps: nobody else has to work meanwhile. */
static int wait_for(struct unet_endpoint *ep, int timeout_ms)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    reliable_lock(r);
    rc = wait_locked(r, timeout_ms);
    reliable_unlock(r);
    return rc;
}

/* The lock is kept until `disarm`, as in wait_for. */
static int arm(struct unet_endpoint *ep, int *timeout_ms)
{
    struct reliable_endpoint *r = reliable_of(ep);
    uint64_t now;
    int rc;

    reliable_lock(r);
    now = reliable_now_us();
    *timeout_ms = sleep_ms(r, now, now + (uint64_t)*timeout_ms * 1000);
    rc = unet_rx_peek(ep) ? 1 : unet_arm(r->lower, timeout_ms);
    if (rc != 0)
        reliable_unlock(r);
    return rc;
}

static void disarm(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);

    unet_disarm(r->lower);
    reliable_unlock(r);
}

/* ---- looking at one ------------------------------------------------------------------------- */

void reliable_stats(struct unet_endpoint *ep, struct reliable_stats *stats)
{
    struct reliable_endpoint *r = reliable_of(ep);
    struct reliable_engine_stats engine;

    reliable_lock(r);
    reliable_engine_stats(r->engine, &engine);
    *stats = (struct reliable_stats){
        .messages_sent = engine.messages_out,
        .messages_received = engine.messages_in,
        .narrow = engine.narrow,
        .queued = reliable_messages_queued(r),
    };
    reliable_unlock(r);
}

bool reliable_answers(struct unet_endpoint *ep, uint32_t rank)
{
    struct reliable_endpoint *r = reliable_of(ep);
    bool answers;

    reliable_lock(r);
    answers = reliable_engine_answers(r->engine, rank);
    reliable_unlock(r);
    return answers;
}

bool reliable_reaches(struct unet_endpoint *ep, uint32_t rank)
{
    struct reliable_endpoint *r = reliable_of(ep);
    bool reaches;

    reliable_lock(r);
    reaches = reliable_engine_reaches(r->engine, rank);
    reliable_unlock(r);
    return reaches;
}

static int never_by_name(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    (void)config;
    (void)endpoint;
    return -EOPNOTSUPP;
}

static const struct unet_packet_ops packet_ops = {
    .sendv = sendv,
    .cork = cork,
    .uncork = uncork,
    .idle = idle,
    .arm = arm,
    .disarm = disarm,
};

const struct unet_ops reliable_endpoint_ops = {
    .name = "reliable",
    .network = true,
    .open = never_by_name,
    .close = reliable_endpoint_close,
    .address = address,
    .connect = connect_channel,
    .disconnect = disconnect,
    .state = state,
    .kick = kick,
    .progress = progress,
    .wait = wait_for,
    .packets = &packet_ops,
};
