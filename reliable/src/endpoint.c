/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - the operations of a reliable endpoint.
 */
#include "endpoint.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

enum {
    STATES_US = 100,   /* between two looks at the states of many channels */
    AWAY_US = 50,      /* between two turns: the owner did something else */
    LOOK_MS = 20,      /* between two looks whether peers are dead, while disconnecting */
    UNSENT_MS = 1,     /* of sleep until the network may take packets again */
    KEEP_AWAKE_MS = 1, /* of sleep between two looks for acknowledgements, while disconnecting */
};

/* ---- progress ------------------------------------------------------------------------------ */

static bool endpoint_idle(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    bool idle;

    reliable_lock(r);
    idle = reliable_engine_idle(r->engine) && !reliable_messages_queued(r) &&
           reliable_streams_arrived(r);
    reliable_unlock(r);
    return idle;
}

/* Those that the network has not taken are everybody's; the rest of a stream counts as one. */
static uint32_t packets_unsent(const struct reliable_endpoint *r, uint16_t channel)
{
    return reliable_engine_unsent(r->engine, r->peer[channel].rank) + r->unsent_end -
           r->unsent_first + !reliable_stream_is_given(r, channel);
}

static uint32_t endpoint_push(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);
    uint32_t count = 0;

    reliable_lock(r);
    if (ep->channel[channel].state == UNET_OPEN)
        count = packets_unsent(r, channel);
    if (count > 0) {
        reliable_engine_push_one(r->engine, r->peer[channel].rank);
        reliable_output_send(r, unet_now_us());
        count = packets_unsent(r, channel);
    }
    reliable_unlock(r);
    return count;
}

static int packets_receive(struct reliable_endpoint *r, uint64_t now)
{
    int count;

    r->turn_now = now;
    reliable_engine_arriving(r->engine);
    count = unet_progress(r->lower);
    if (!r->datagrams)
        count += reliable_packets_receive(r, now);
    r->turn_now = 0;
    return count;
}

/* One turn of the network interface.  What arrives is acknowledged in the first turn in which
 * nothing does: until then an answer may carry the acknowledgement.  After sending, which may take
 * longer than a round trip, the time is read anew. */
static int interface_turn(struct reliable_endpoint *r)
{
    uint64_t now = unet_now_us();
    const int sent = reliable_messages_send(r, now);
    int received;

    r->turns++;
    if (now > r->turned + AWAY_US && !r->kept_alive)
        reliable_engine_return(r->engine, now);
    r->turned = now;
    if (reliable_output_send(r, now))
        now = unet_now_us();
    received = packets_receive(r, now);
    received += reliable_streams_turn(r, now);
    if (received == 0 && reliable_engine_lull(r->engine))
        reliable_output_send(r, now);
    return sent + received;
}

static void channel_set_state(struct reliable_endpoint *r, uint16_t n,
                              enum unet_channel_state state)
{
    if (r->ni.ep.channel[n].state == state)
        return;
    unet_ni_set_state(&r->ni, n, state);
    if (state != UNET_DEAD)
        return;
    r->peer[n].silent = true;
    reliable_engine_abort(r->engine, r->peer[n].rank);
}

/* What a dead peer has sent is received before it counts as dead. */
static void channel_update_state(struct reliable_endpoint *r, uint16_t n)
{
    const uint8_t lower = r->lower->channel[n].state;
    const uint8_t state = r->ni.ep.channel[n].state;

    if (state == UNET_CLOSED || state == UNET_DEAD)
        return;
    if (r->peer[n].silent)
        channel_set_state(r, n, UNET_DEAD);
    else if (lower != UNET_DEAD || !(unet_rx_peek(r->lower) || reliable_stream_is_owed(r, n)))
        channel_set_state(r, n, (enum unet_channel_state)lower);
}

static void channels_update_state(struct reliable_endpoint *r)
{
    r->states_at = r->turned;
    for (uint32_t n = 1; n < r->ni.ep.rx_rings; n++) {
        if (r->ni.ep.channel[n].state != r->lower->channel[n].state || r->peer[n].silent)
            channel_update_state(r, (uint16_t)n);
    }
}

/* With many channels that takes longer than a turn.  Who asks for a state has it at once. */
static bool channels_are_due(const struct reliable_endpoint *r)
{
    return r->ni.ep.rx_rings <= RELIABLE_CHANNELS_FEW || r->turned - r->states_at > STATES_US;
}

static int endpoint_progress(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int count;

    reliable_lock(r);
    count = interface_turn(r);
    if (channels_are_due(r))
        channels_update_state(r);
    reliable_unlock(r);
    return count;
}

void reliable_keepalive(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);

    if (pthread_mutex_trylock(&r->lock) != 0)
        return;
    r->kept_alive = true;
    if (r->turns == r->turns_seen)
        interface_turn(r);
    r->turns_seen = r->turns;
    r->kept_alive = false;
    reliable_unlock(r);
}

/* ---- channels ------------------------------------------------------------------------------ */

/* The engine knows nothing of a peer that has never been reached, so its time-out is here.  As in
 * the engine, a pause of our own does not count. */
static void channel_check_connecting(struct reliable_endpoint *r, uint16_t n, uint64_t now)
{
    const uint64_t grace = reliable_engine_grace(r->engine);
    const uint64_t since = r->peer[n].connecting_since;

    if (r->ni.ep.channel[n].state == UNET_CONNECTING &&
        now - (since > grace ? since : grace) > r->timeout_us)
        r->peer[n].silent = true;
}

static void channel_check(struct reliable_endpoint *r, uint16_t n, uint64_t now)
{
    if (r->ni.ep.channel[n].state == UNET_CLOSED)
        return;
    unet_channel_state(r->lower, n);
    channel_check_connecting(r, n, now);
}

/* The entry `state`: channel 0 stands for all of them. */
static void endpoint_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);
    uint64_t now;

    reliable_lock(r);
    interface_turn(r);
    now = unet_now_us();
    if (channel != 0)
        channel_check(r, channel, now);
    for (uint32_t n = 1; channel == 0 && n < ep->rx_rings; n++)
        channel_check(r, (uint16_t)n, now);
    channels_update_state(r);
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

/* The inverse of reliable_address. */
static int address_split(const struct reliable_endpoint *r, const struct unet_address *whole,
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

/* A channel may have been another rank's: of that the buffer of its assembly stays, and where its
 * ring is. */
static void peer_reset(struct reliable_peer *peer, uint32_t rank)
{
    *peer = (struct reliable_peer){
        .rank = rank,
        .connecting_since = unet_now_us(),
        .assembly = {.offset = peer->assembly.offset,
                     .room = peer->assembly.room,
                     .unplaced = peer->assembly.unplaced},
    };
}

static int channel_connect_locked(struct reliable_endpoint *r, const struct unet_address *lower,
                                  uint32_t rank, uint64_t tag, uint16_t *channel)
{
    uint16_t n;
    int rc;

    if (r->channel_of[rank] != 0)
        return -EEXIST;
    if (reliable_engine_aborted(r->engine, rank))
        return -EHOSTUNREACH;
    rc = unet_connect(r->lower, lower, tag, &n);
    if (rc)
        return rc;
    r->channel_of[rank] = n;
    peer_reset(&r->peer[n], rank);
    unet_ni_connecting(&r->ni, n);
    *channel = n;
    return 0;
}

static int endpoint_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                            uint16_t *channel)
{
    struct reliable_endpoint *r = reliable_of(ep);
    struct unet_address lower;
    uint32_t rank;
    int rc = address_split(r, peer, &lower, &rank);

    if (rc)
        return rc;
    reliable_lock(r);
    rc = channel_connect_locked(r, &lower, rank, tag, channel);
    reliable_unlock(r);
    return rc;
}

/* Whether nothing of ours is on its way to the channel's peer, or can get there. */
static bool channel_is_idle(const struct reliable_endpoint *r, uint16_t n)
{
    return r->ni.ep.channel[n].state != UNET_OPEN ||
           (!reliable_messages_queued(r) && reliable_engine_acked(r->engine, r->peer[n].rank) &&
            reliable_stream_arrived(r, n));
}

static void channel_linger(struct reliable_endpoint *r, uint16_t n)
{
    const uint64_t start = unet_now_us();
    uint64_t now = start, looked = start;

    while (!channel_is_idle(r, n) && now - start < r->linger_left_us) {
        interface_turn(r);
        if (now - looked > LOOK_MS * 1000) {
            unet_channel_state(r->lower, n);
            looked = now;
        }
        channels_update_state(r);
        if (!channel_is_idle(r, n))
            unet_wait(r->lower, KEEP_AWAKE_MS);
        now = unet_now_us();
    }
    r->linger_left_us -= now - start < r->linger_left_us ? now - start : r->linger_left_us;
}

static void endpoint_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);

    reliable_lock(r);
    channel_linger(r, channel);
    /* The peer may be lingering for these acknowledgements. */
    if (reliable_engine_lull(r->engine))
        reliable_output_send(r, unet_now_us());
    channel_set_state(r, channel, UNET_DEAD);
    unet_ni_set_state(&r->ni, channel, UNET_CLOSED);
    reliable_stream_close(r, channel);
    r->channel_of[r->peer[channel].rank] = 0;
    unet_disconnect(r->lower, channel);
    reliable_messages_send(r, unet_now_us()); /* completes what is still queued for it */
    reliable_unlock(r);
    unet_drop_unread(&ep->rx[channel]);
}

/* ---- sleeping ------------------------------------------------------------------------------- */

/* What of a sleep is allowed, in milliseconds.  Before the network has taken what is left, the
 * engine has nothing to send; and what streams bring or take wakes nobody. */
static int until_deadline_ms(const struct reliable_endpoint *r, int ms)
{
    const uint64_t due = reliable_engine_deadline(r->engine), now = unet_now_us();
    uint64_t most = due > now ? (due - now) / 1000 : 0;

    if (r->unsent_first < r->unsent_end || (r->streams.work && most > UNSENT_MS))
        most = UNSENT_MS;
    if (reliable_streams_are_hot(r))
        most = 0;
    return most < (uint64_t)ms && most <= INT_MAX ? (int)most : ms; /* -1 is the longest */
}

/* The entry `sleep` of struct unet_ni_kind.  It keeps the lock, because nobody else has to work
 * meanwhile; what another thread has taken in before is there by then. */
static int endpoint_sleep(struct unet_ni *ni, int ms)
{
    struct reliable_endpoint *r = reliable_of(&ni->ep);
    int rc;

    reliable_lock(r);
    rc = unet_rx_peek(&ni->ep) ? 1 : unet_wait(r->lower, until_deadline_ms(r, ms));
    reliable_unlock(r);
    return rc;
}

/* The lock is kept until endpoint_disarm. */
static int endpoint_arm(struct unet_endpoint *ep, int *timeout_ms)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    reliable_lock(r);
    *timeout_ms = until_deadline_ms(r, *timeout_ms);
    if (r->ni.connecting > 0 && *timeout_ms > reliable_endpoint_kind.retry_ms)
        *timeout_ms = reliable_endpoint_kind.retry_ms;
    rc = unet_rx_peek(ep) ? 1 : unet_arm(r->lower, timeout_ms);
    r->armed = rc == 0;
    if (!r->armed)
        reliable_unlock(r);
    return rc;
}

static void endpoint_disarm(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);

    if (!r->armed)
        return;
    r->armed = false;
    unet_disarm(r->lower);
    channels_update_state(r);
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
        .messages_sent = engine.messages_out + r->streams.messages_out,
        .messages_received = engine.messages_in + r->streams.messages_in,
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

/* It is never opened by name, because it needs a struct reliable_config. */
static int endpoint_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    (void)config;
    (void)endpoint;
    return -EOPNOTSUPP;
}

static void endpoint_set_placement(struct unet_endpoint *ep, unet_placement_fn *fn, void *arg)
{
    struct reliable_endpoint *r = reliable_of(ep);

    reliable_lock(r);
    r->placement = fn;
    r->placement_arg = arg;
    reliable_unlock(r);
}

static const struct unet_packet_ops packet_ops = {
    .sendv = reliable_output_sendv,
    .cork = reliable_output_cork,
    .uncork = reliable_output_uncork,
    .idle = endpoint_idle,
    .push = endpoint_push,
    .set_placement = endpoint_set_placement,
    .arm = endpoint_arm,
    .disarm = endpoint_disarm,
};

const struct unet_ni_kind reliable_endpoint_kind = {
    .link_bytes = sizeof(struct reliable_peer),
    .memory = UNET_NI_ALL,
    .retry_ms = 1,
    .look_ms = 100,
    .sleep = endpoint_sleep,
};

const struct unet_ops reliable_endpoint_ops = {
    .name = "reliable",
    .network = true,
    .open = endpoint_open,
    .close = reliable_endpoint_close,
    .address = unet_ni_address,
    .connect = endpoint_connect,
    .disconnect = endpoint_disconnect,
    .state = endpoint_state,
    .kick = reliable_output_kick,
    .progress = endpoint_progress,
    .wait = unet_ni_wait,
    .packets = &packet_ops,
};
