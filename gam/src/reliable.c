/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable.c - a reliable, ordered endpoint on top of one that is neither.
 *
 * GAM writes into the send queue and reads from the receive rings of an endpoint like any other.
 * Its network interface is here: it moves messages between these queues and the protocol
 * (net.h), and packets between the protocol and the endpoint below.
 *
 *        GAM
 *         |  send queue        ^  receive rings, one per channel
 *         v                    |
 *     take_sends            deliver
 *         |                    ^
 *         v    the protocol    |
 *     send_packets        receive_packets
 *         |                    ^
 *         v                    |
 *        the endpoint below: packets in buffers of its segment
 *
 * As a network interface of its own it may work while its owner computes: then another thread
 * calls gam_reliable_keep.  The lock guards all but the queues, which need none, and the states
 * of channels, which are the owner's.
 */
#include "reliable.h"
#include "net.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    BATCH_BYTES = 32768, /* of packets that wait to go together */
    SEND_BUFFERS = 32,   /* packets below us on their way out */
    BUDGET = 256,        /* packets taken in at a time */
    PACKET_LEAST = 512,  /* below that a message of GAM takes too many */
    PACKET_MOST = 16384, /* beyond that a packet holds the longest message twice over */
    SETTLE_US = 1000000, /* what closing waits for acknowledgements */
    TIMEOUT_MS = 10000,  /* of peers, by default */
    QUEUED_MS = 1,       /* what a wait may sleep while sends wait for their window */
};

/* A message that has not yet arrived in whole. */
struct assembly {
    uint32_t offset; /* of its buffer */
    uint32_t room;   /* of that buffer; 0: it has none */
    uint32_t length; /* so far */
    bool begun;
    bool spoilt; /* it found no buffer, or is longer than that */
};

/* What we keep of a channel beside `struct unet_channel`. */
struct line {
    uint32_t rank;
    struct unet_ring in; /* rx[n], the NI's side */
    uint64_t since;      /* when it began to connect */
    struct assembly assembly;
    bool silent; /* its peer does not answer */
};

struct reliable {
    struct unet_endpoint ep; /* first: the interface knows only this */
    struct unet_endpoint *lower;
    pthread_mutex_t lock;
    uint32_t turns;      /* of the interface so far */
    uint32_t kept;       /* as gam_reliable_keep last saw it */
    uint64_t timeout_us; /* of peers */
    struct gam_net *net;
    struct line *line;     /* by channel */
    uint16_t *channel;     /* by rank */
    struct unet_ring tx;   /* the send queue, the NI's side */
    struct unet_ring free; /* the free queue, the NI's side */
    struct unet_ring full; /* always looks full: where a channel sends that cannot */
    uint32_t bell;         /* always set: every send wants a kick */
    uint32_t changes;      /* channels that opened or died so far */
    uint32_t buffer_bytes; /* of each packet below */
    bool gathering;        /* messages wait for others: the owner's */
    uint32_t buffer_next;  /* the send buffer whose turn it is */
    uint32_t ticket[SEND_BUFFERS];
    bool busy[SEND_BUFFERS];
    void *memory; /* rings and segment */
    size_t memory_bytes;
};

static struct reliable *reliable_of(struct unet_endpoint *ep)
{
    return (struct reliable *)ep;
}

static void lock(struct reliable *r)
{
    pthread_mutex_lock(&r->lock);
}

static void unlock(struct reliable *r)
{
    pthread_mutex_unlock(&r->lock);
}

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- messages that arrived ---------------------------------------------------------- */

static void deliver_inline(struct reliable *r, uint16_t channel, uint32_t user, const void *data,
                           size_t length)
{
    struct unet_ring *in = &r->line[channel].in;
    struct unet_desc *slot = unet_ring_reserve(in);

    if (!slot) {
        r->ep.stats.overruns++;
        return;
    }
    slot->channel = channel;
    slot->kind = UNET_INLINE;
    slot->pieces = 0;
    slot->length = (uint32_t)length;
    slot->user = user;
    if (length > 0)
        memcpy(slot->data, data, length);
    unet_ring_submit(in);
}

static void take_buffer(struct reliable *r, struct assembly *a)
{
    const struct unet_desc *slot = unet_ring_peek(&r->free);

    if (!slot)
        return;
    a->offset = (uint32_t)slot->word[0];
    a->room = (uint32_t)(slot->word[0] >> 32);
    unet_ring_release(&r->free);
}

static void assembly_begin(struct reliable *r, struct assembly *a)
{
    if (a->room == 0)
        take_buffer(r, a);
    a->length = 0;
    a->begun = true;
    a->spoilt = a->room == 0;
}

static void assembly_add(struct reliable *r, struct assembly *a, const void *data, size_t length)
{
    if (a->spoilt || length > a->room - a->length) {
        a->spoilt = true;
        return;
    }
    memcpy(r->ep.segment + a->offset + a->length, data, length);
    a->length += (uint32_t)length;
}

static void assembly_end(struct reliable *r, uint16_t channel, uint32_t user)
{
    struct unet_ring *in = &r->line[channel].in;
    struct assembly *a = &r->line[channel].assembly;
    struct unet_desc *slot = a->spoilt ? NULL : unet_ring_reserve(in);

    a->begun = false;
    if (!slot) { /* the next one may have its buffer */
        r->ep.stats.overruns++;
        return;
    }
    slot->channel = channel;
    slot->kind = UNET_PIECES;
    slot->pieces = 1;
    slot->length = a->length;
    slot->user = user;
    slot->piece[0] = (struct unet_piece){a->offset, a->length};
    a->room = 0;
    unet_ring_submit(in);
}

/* GAM's windows leave room for every message; who exceeds them loses messages. */
static void deliver(void *arg, uint32_t source, uint32_t user, const void *data, size_t length,
                    bool more)
{
    struct reliable *r = arg;
    const uint16_t channel = r->channel[source];
    struct assembly *a = &r->line[channel].assembly;

    if (channel == 0)
        return;
    if (!a->begun && !more && length <= UNET_INLINE_MAX) {
        deliver_inline(r, channel, user, data, length);
        return;
    }
    if (!a->begun)
        assembly_begin(r, a);
    assembly_add(r, a, data, length);
    if (!more)
        assembly_end(r, channel, user);
}

static void died(void *arg, uint32_t rank)
{
    struct reliable *r = arg;

    r->line[r->channel[rank]].silent = true;
}

/* ---- packets that arrived ------------------------------------------------------------ */

static void give_buffers_back(struct reliable *r, const struct unet_desc *desc)
{
    for (uint32_t i = 0; i < desc->pieces; i++)
        unet_free_put(r->lower, desc->piece[i].offset, r->buffer_bytes);
}

static void receive_one(struct reliable *r, uint64_t now, const struct unet_desc *slot)
{
    const struct unet_desc desc = *slot;

    unet_rx_release(r->lower);
    if (desc.kind == UNET_INLINE)
        gam_net_receive(r->net, now, desc.data, desc.length);
    if (desc.kind != UNET_PIECES)
        return;
    if (desc.pieces == 1 && desc.piece[0].offset % 8 == 0)
        gam_net_receive(r->net, now, r->lower->segment + desc.piece[0].offset, desc.length);
    else
        r->ep.stats.malformed++;
    give_buffers_back(r, &desc);
}

static int receive_packets(struct reliable *r, uint64_t now)
{
    const struct unet_desc *slot;
    int count = 0;

    while (count < BUDGET && (slot = unet_rx_peek(r->lower)) != NULL) {
        receive_one(r, now, slot);
        count++;
    }
    return count;
}

/* ---- messages to be sent --------------------------------------------------------------- */

static int take_one(struct reliable *r, uint64_t now, const struct unet_desc *desc)
{
    const uint8_t *bytes =
        desc->kind == UNET_INLINE ? desc->data : r->ep.segment + desc->piece[0].offset;

    return gam_net_send(r->net, now, r->line[desc->channel].rank, desc->user, bytes, desc->length);
}

/* In order; one that finds no room in its peer's window holds up the others.  Sends to the dead
 * vanish: GAM asks for the channel's state. */
static int take_sends(struct reliable *r, uint64_t now)
{
    const struct unet_desc *slot;
    int count = 0;

    while ((slot = unet_ring_peek(&r->tx)) != NULL) {
        const int rc = take_one(r, now, slot);

        if (rc == -EAGAIN || rc == -ENOMEM)
            break;
        unet_ring_release(&r->tx);
        count++;
    }
    unet_ring_publish(&r->tx);
    return count;
}

/* ---- packets to be sent ------------------------------------------------------------------ */

static bool buffer_free(struct reliable *r)
{
    const uint32_t n = r->buffer_next;

    if (r->busy[n] && unet_sent(r->lower, r->ticket[n]))
        r->busy[n] = false;
    return !r->busy[n];
}

/* A packet that has been copied into the send buffer whose turn it was. */
struct departure {
    uint32_t buffer;
    uint16_t channel;
    uint32_t length;
};

static bool next_departure(struct reliable *r, uint64_t now, struct departure *next)
{
    const void *packet;
    uint32_t rank;
    size_t length;

    if (!buffer_free(r) || !(packet = gam_net_transmit(r->net, now, &rank, &length)))
        return false;
    *next = (struct departure){r->buffer_next, r->channel[rank], (uint32_t)length};
    memcpy(r->lower->segment + next->buffer * r->buffer_bytes, packet, length);
    r->buffer_next = (next->buffer + 1) % SEND_BUFFERS;
    return true;
}

/* What the endpoint below does not take is lost, as it may be on the way. */
static void depart(struct reliable *r, const struct departure *d, bool more)
{
    const struct unet_piece piece = {d->buffer * r->buffer_bytes, d->length};
    uint32_t *ticket = &r->ticket[d->buffer];

    if (d->length <= UNET_INLINE_MAX)
        unet_send_inline(r->lower, d->channel, 0, r->lower->segment + piece.offset, piece.length);
    else if (more)
        r->busy[d->buffer] = unet_send_more(r->lower, d->channel, 0, &piece, 1, ticket) == 0;
    else
        r->busy[d->buffer] = unet_send(r->lower, d->channel, 0, &piece, 1, ticket) == 0;
}

/* One ahead, so that the endpoint below can take all at once. */
static void send_packets(struct reliable *r, uint64_t now)
{
    struct departure one, next;
    bool more = next_departure(r, now, &one);

    while (more) {
        more = next_departure(r, now, &next);
        depart(r, &one, more);
        one = next;
    }
}

void gam_reliable_flush(struct unet_endpoint *ep)
{
    struct reliable *r = reliable_of(ep);
    const uint64_t now = now_us();

    lock(r);
    r->gathering = false;
    take_sends(r, now);
    send_packets(r, now);
    unlock(r);
}

void gam_reliable_gather(struct unet_endpoint *ep)
{
    reliable_of(ep)->gathering = true;
}

static void kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable *r = reliable_of(ep);
    const uint64_t now = now_us();

    (void)channel;
    lock(r);
    take_sends(r, now);
    if (!r->gathering)
        send_packets(r, now);
    unlock(r);
}

/* ---- channels ------------------------------------------------------------------------------ */

static void set_state(struct reliable *r, uint16_t n, enum unet_channel_state state)
{
    struct unet_channel *channel = &r->ep.channel[n];

    if (channel->state == state)
        return;
    channel->state = (uint8_t)state;
    channel->ring = state == UNET_OPEN ? &r->ep.tx : &r->full;
    r->changes++;
    if (state == UNET_DEAD)
        gam_net_give_up(r->net, r->line[n].rank);
}

/* What has arrived below is taken in before its sender is dead. */
static void update(struct reliable *r, uint16_t n)
{
    const uint8_t lower = r->lower->channel[n].state;

    if (r->ep.channel[n].state == UNET_CLOSED || r->ep.channel[n].state == UNET_DEAD)
        return;
    if (r->line[n].silent)
        set_state(r, n, UNET_DEAD);
    else if (lower != UNET_DEAD || !unet_rx_peek(r->lower))
        set_state(r, n, (enum unet_channel_state)lower);
}

/* What arrives is acknowledged the next time: until then an answer may take that along. */
static int move(struct reliable *r)
{
    const uint64_t now = now_us();
    int count = take_sends(r, now);

    r->turns++;
    send_packets(r, now);
    count += unet_progress(r->lower);
    return count + receive_packets(r, now);
}

static int move_and_update(struct reliable *r)
{
    const int count = move(r);

    for (uint32_t n = 1; n < r->ep.rx_rings; n++) {
        if (r->ep.channel[n].state != r->lower->channel[n].state || r->line[n].silent)
            update(r, (uint16_t)n);
    }
    return count;
}

static int progress(struct unet_endpoint *ep)
{
    struct reliable *r = reliable_of(ep);
    int count;

    lock(r);
    count = move_and_update(r);
    unlock(r);
    return count;
}

void gam_reliable_keep(struct unet_endpoint *ep)
{
    struct reliable *r = reliable_of(ep);

    if (pthread_mutex_trylock(&r->lock) != 0)
        return;
    if (r->turns == r->kept)
        move(r);
    r->kept = r->turns;
    unlock(r);
}

/* Whom nothing reaches from the start, of that the protocol never hears. */
static void give_up_connecting(struct reliable *r, uint16_t channel)
{
    if (r->ep.channel[channel].state == UNET_CONNECTING &&
        now_us() - r->line[channel].since > r->timeout_us)
        r->line[channel].silent = true;
}

static void state(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable *r = reliable_of(ep);

    lock(r);
    if (unet_channel_state(r->lower, channel) == UNET_CONNECTING)
        give_up_connecting(r, channel);
    move_and_update(r);
    unlock(r);
}

static int connect_channel(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                           uint16_t *channel)
{
    struct reliable *r = reliable_of(ep);
    int rc;

    lock(r);
    rc = unet_connect(r->lower, peer, tag, channel);
    unlock(r);
    if (rc)
        return rc;
    r->ep.channel[*channel].state = UNET_CONNECTING;
    r->line[*channel].since = now_us();
    if (*channel >= ep->rx_rings)
        ep->rx_rings = *channel + 1u;
    return 0;
}

static void disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable *r = reliable_of(ep);

    lock(r);
    set_state(r, channel, UNET_DEAD);
    r->ep.channel[channel].state = UNET_CLOSED;
    unet_disconnect(r->lower, channel);
    unlock(r);
}

static void address(const struct unet_endpoint *ep, struct unet_address *where)
{
    unet_address(((const struct reliable *)ep)->lower, where);
}

void gam_reliable_bind(struct unet_endpoint *ep, uint16_t channel, uint32_t rank)
{
    struct reliable *r = reliable_of(ep);

    lock(r);
    r->line[channel].rank = rank;
    r->channel[rank] = channel;
    unlock(r);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool sends_wait(const struct reliable *r)
{
    return r->tx.position != r->ep.tx.position;
}

/* How long nothing has to be done, in whole milliseconds: a shorter time is spun away. */
static int nap_ms(const struct reliable *r, uint64_t now, uint64_t end)
{
    const uint64_t due = gam_net_deadline(r->net);
    const uint64_t until = due < end ? due : end;
    uint64_t ms = until > now ? (until - now) / 1000 : 0;

    if (sends_wait(r) && ms > QUEUED_MS)
        ms = QUEUED_MS;
    return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static int wait_locked(struct reliable *r, int timeout_ms)
{
    struct unet_endpoint *ep = &r->ep;
    const uint64_t start = now_us();
    const uint64_t end =
        timeout_ms < 0 ? GAM_NET_NEVER : start + (uint64_t)timeout_ms * (uint64_t)1000;
    const uint32_t changes = r->changes;

    for (;;) {
        uint64_t now;
        int rc;

        move_and_update(r);
        if (unet_rx_peek(ep))
            return 1;
        now = now_us();
        if (now >= end || r->changes != changes)
            return 0;
        rc = unet_wait(r->lower, nap_ms(r, now, end));
        if (rc < 0)
            return rc;
    }
}

/* Nobody else has to work meanwhile, so it keeps the lock. */
static int wait_for(struct unet_endpoint *ep, int timeout_ms)
{
    struct reliable *r = reliable_of(ep);
    int rc;

    lock(r);
    rc = wait_locked(r, timeout_ms);
    unlock(r);
    return rc;
}

static bool connecting(const struct reliable *r)
{
    for (uint32_t n = 1; n < r->ep.rx_rings; n++) {
        if (r->ep.channel[n].state == UNET_CONNECTING)
            return true;
    }
    return false;
}

/* From here to gam_reliable_disarm, as wait_for. */
int gam_reliable_arm(struct unet_endpoint *ep, int *timeout_ms)
{
    struct reliable *r = reliable_of(ep);
    const uint64_t now = now_us();
    int nap, rc;

    lock(r);
    nap = nap_ms(r, now, now + (uint64_t)*timeout_ms * 1000);
    if (connecting(r) && nap > QUEUED_MS)
        nap = QUEUED_MS;
    *timeout_ms = nap;
    rc = unet_rx_peek(ep) ? 1 : unet_arm(r->lower);
    if (rc != 0)
        unlock(r);
    return rc;
}

void gam_reliable_disarm(struct unet_endpoint *ep)
{
    struct reliable *r = reliable_of(ep);

    unet_disarm(r->lower);
    unlock(r);
}

bool gam_reliable_settled(struct unet_endpoint *ep)
{
    struct reliable *r = reliable_of(ep);
    bool settled;

    lock(r);
    settled = gam_net_idle(r->net) && !sends_wait(r);
    unlock(r);
    return settled;
}

bool gam_reliable_answers(struct unet_endpoint *ep, uint32_t rank)
{
    struct reliable *r = reliable_of(ep);
    bool answers;

    lock(r);
    answers = gam_net_answers(r->net, rank);
    unlock(r);
    return answers;
}

void gam_reliable_settle(struct unet_endpoint *ep)
{
    const uint64_t end = now_us() + SETTLE_US;

    while (!gam_reliable_settled(ep) && now_us() < end) {
        for (uint32_t n = 1; n < ep->rx_rings; n++)
            unet_channel_state(ep, (uint16_t)n);
    }
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static void close_endpoint(struct unet_endpoint *ep)
{
    struct reliable *r = reliable_of(ep);

    gam_net_close(r->net);
    pthread_mutex_destroy(&r->lock);
    if (r->memory)
        munmap(r->memory, r->memory_bytes);
    free(r->line);
    free(r->channel);
    free(ep->channel);
    free(ep->rx);
    free(r);
}

static int never_by_name(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    (void)config;
    (void)endpoint;
    return -EOPNOTSUPP;
}

static const struct unet_ops reliable_ops = {
    .name = "reliable",
    .open = never_by_name,
    .close = close_endpoint,
    .address = address,
    .connect = connect_channel,
    .disconnect = disconnect,
    .state = state,
    .kick = kick,
    .progress = progress,
    .wait = wait_for,
};

/* The next `bytes` of our memory. */
static void *carve(uint8_t **at, size_t bytes)
{
    void *part = *at;

    *at += bytes;
    return part;
}

static int open_memory(struct reliable *r)
{
    const struct unet_config *c = &r->ep.config;
    struct unet_endpoint *ep = &r->ep;
    uint8_t *at;

    r->memory_bytes = c->segment_bytes + unet_ring_bytes(c->send_slots) +
                      unet_ring_bytes(c->free_slots) + unet_ring_bytes(4) * 2 +
                      unet_ring_bytes(c->recv_slots) * c->channels;
    at = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    r->memory = at;
    ep->segment = carve(&at, c->segment_bytes);
    unet_ring_attach(&ep->tx, at, c->send_slots);
    unet_ring_attach(&r->tx, carve(&at, unet_ring_bytes(c->send_slots)), c->send_slots);
    unet_ring_attach(&ep->free, at, c->free_slots);
    unet_ring_attach(&r->free, carve(&at, unet_ring_bytes(c->free_slots)), c->free_slots);
    unet_ring_attach(&r->full, carve(&at, unet_ring_bytes(4)), 4);
    r->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    unet_ring_attach(&ep->rx[0], carve(&at, unet_ring_bytes(4)), 4);
    for (uint32_t n = 1; n <= c->channels; n++) {
        unet_ring_attach(&ep->rx[n], at, c->recv_slots);
        unet_ring_attach(&r->line[n].in, carve(&at, unet_ring_bytes(c->recv_slots)), c->recv_slots);
    }
    return 0;
}

static int open_tables(struct reliable *r, uint32_t ranks)
{
    const uint32_t n = r->ep.config.channels + 1;
    struct unet_endpoint *ep = &r->ep;

    ep->channel = calloc(n, sizeof(*ep->channel));
    ep->rx = calloc(n, sizeof(*ep->rx));
    r->line = calloc(n, sizeof(*r->line));
    r->channel = calloc(ranks, sizeof(*r->channel));
    if (!ep->channel || !ep->rx || !r->line || !r->channel)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &r->full,
            .bell = &r->bell,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
    }
    ep->rx_rings = 1;
    return 0;
}

/* The segment below is send buffers, and then receive buffers as far as it goes.  Returns how many
 * of these there are, or -errno. */
static int post_buffers(struct reliable *r)
{
    const struct unet_config *c = &r->lower->config;
    uint32_t offset = SEND_BUFFERS * r->buffer_bytes;
    int count = 0;

    for (; (uint64_t)offset + r->buffer_bytes <= c->segment_bytes; offset += r->buffer_bytes) {
        const int rc = unet_free_put(r->lower, offset, r->buffer_bytes);

        if (rc == -EAGAIN)
            break;
        if (rc)
            return rc;
        count++;
    }
    return count > 0 ? count : -EINVAL;
}

static int open_net(struct reliable *r, const struct gam_config *config, int backlog)
{
    const struct gam_net_config c = {
        .ranks = config->ranks,
        .rank = config->rank,
        .key = {config->key[0], config->key[1]},
        .seed = now_us() + config->rank,
        .packet_bytes = r->buffer_bytes,
        .batch = BATCH_BYTES / r->buffer_bytes,
        .backlog = (uint32_t)backlog,
        .peer_timeout_us = r->timeout_us,
        .deliver = deliver,
        .died = died,
        .arg = r,
    };

    return gam_net_open(&c, &r->net);
}

/* As long as the network takes, but three quarters of the segment are for packets that arrive.
 * Buffers begin at cache lines. */
static uint32_t packet_bytes(const struct unet_endpoint *lower)
{
    const uint32_t part = lower->config.segment_bytes / (4 * SEND_BUFFERS);
    uint32_t most = PACKET_MOST;

    most = lower->packet_bytes < most ? lower->packet_bytes : most;
    most = part < most ? part : most;
    return most & ~63u;
}

int gam_reliable_open(struct unet_endpoint *lower, const struct gam_config *config,
                      struct unet_endpoint **endpoint)
{
    struct reliable *r = aligned_alloc(64, sizeof(*r));
    int rc;

    if (!r)
        return -ENOMEM;
    *r = (struct reliable){
        .ep = {.ops = &reliable_ops,
               .config = lower->config,
               .capabilities = lower->capabilities | UNET_CAP_RELIABLE | UNET_CAP_ORDERED,
               .packet_bytes = UNET_MESSAGE_MAX,
               .fd = lower->fd,
               .bell = {-1, -1}},
        .lower = lower,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .timeout_us = (config->peer_timeout_ms ? config->peer_timeout_ms : TIMEOUT_MS) * 1000ull,
        .bell = 1,
        .buffer_bytes = packet_bytes(lower),
    };
    gam_endpoint_config(config->ranks, config->window, &r->ep.config);
    r->ep.config.channels = lower->config.channels;
    rc = r->buffer_bytes < PACKET_LEAST ? -EOPNOTSUPP : open_tables(r, config->ranks);
    if (rc == 0)
        rc = open_memory(r);
    if (rc == 0)
        rc = post_buffers(r);
    if (rc > 0)
        rc = open_net(r, config, rc);
    if (rc) {
        close_endpoint(&r->ep);
        return rc;
    }
    *endpoint = &r->ep;
    return 0;
}
