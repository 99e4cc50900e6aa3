/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable.c - a reliable, ordered endpoint on top of one that is neither, as its owner sees it.
 */
#include "reliable_state.h"
#include <errno.h>

enum {
    SETTLE_US = 1000000, /* what closing waits for acknowledgements */
    QUEUED_MS = 1, /* what a wait may sleep while sends wait for their window, or to connect */
};

/* The clock is read behind it: who read it before might find the protocol at a later time. */
static void lock(struct gam_reliable *r)
{
    pthread_mutex_lock(&r->lock);
}

static void unlock(struct gam_reliable *r)
{
    pthread_mutex_unlock(&r->lock);
}

/* ---- sending ------------------------------------------------------------------------------- */

void gam_reliable_flush(struct unet_endpoint *ep, bool acknowledge)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    uint64_t now;

    lock(r);
    now = gam_now_us();
    r->gathering = false;
    if (gam_take_sends(r, now) > 0 || r->gathered || acknowledge)
        gam_send_packets(r, now);
    r->gathered = false;
    unlock(r);
}

void gam_reliable_gather(struct unet_endpoint *ep)
{
    gam_reliable_of(ep)->gathering = true;
}

static void send_or_gather(struct gam_reliable *r, uint64_t now)
{
    if (r->gathering)
        r->gathered = true;
    else
        gam_send_packets(r, now);
}

static void kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    uint64_t now;

    (void)channel;
    lock(r);
    now = gam_now_us();
    gam_take_sends(r, now);
    send_or_gather(r, now);
    unlock(r);
}

/* Behind what is queued. */
static int send_locked(struct gam_reliable *r, uint16_t channel, uint32_t user,
                       const struct gam_text *text)
{
    const uint64_t now = gam_now_us();

    gam_take_sends(r, now);
    if (gam_reliable_queued(r) ||
        gam_net_send_text(r->net, now, r->line[channel].rank, user, text) != 0)
        return -EAGAIN;
    send_or_gather(r, now);
    return 0;
}

int gam_reliable_send(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                      const struct gam_text *text)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (ep->channel[channel].state != UNET_OPEN)
        return -EAGAIN;
    lock(r);
    rc = send_locked(r, channel, user, text);
    unlock(r);
    if (rc == 0) {
        ep->stats.sent++;
        ep->stats.sent_bytes += text->head_bytes + text->body_bytes;
    }
    return rc;
}

/* ---- channels ------------------------------------------------------------------------------ */

static void set_state(struct gam_reliable *r, uint16_t n, enum unet_channel_state state)
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
static void update(struct gam_reliable *r, uint16_t n)
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
static int move(struct gam_reliable *r)
{
    const uint64_t now = gam_now_us();
    int count = gam_take_sends(r, now);

    r->turns++;
    gam_send_packets(r, now);
    count += unet_progress(r->lower);
    return count + gam_receive_packets(r, now);
}

static int move_and_update(struct gam_reliable *r)
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
    struct gam_reliable *r = gam_reliable_of(ep);
    int count;

    lock(r);
    count = move_and_update(r);
    unlock(r);
    return count;
}

void gam_reliable_keep(struct unet_endpoint *ep)
{
    struct gam_reliable *r = gam_reliable_of(ep);

    if (pthread_mutex_trylock(&r->lock) != 0)
        return;
    if (r->turns == r->kept)
        move(r);
    r->kept = r->turns;
    unlock(r);
}

/* Whom nothing reaches from the start, of that the protocol never hears.  As there, who was away
 * itself starts the wait anew. */
static void give_up_connecting(struct gam_reliable *r, uint16_t channel)
{
    const uint64_t grace = gam_net_grace(r->net), since = r->line[channel].since;

    if (r->ep.channel[channel].state == UNET_CONNECTING &&
        gam_now_us() - (since > grace ? since : grace) > r->timeout_us) {
        r->line[channel].silent = true;
        update(r, channel);
    }
}

static void state(struct unet_endpoint *ep, uint16_t channel)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    bool waits;

    lock(r);
    waits = unet_channel_state(r->lower, channel) == UNET_CONNECTING;
    move_and_update(r);
    if (waits)
        give_up_connecting(r, channel);
    unlock(r);
}

static int connect_channel(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                           uint16_t *channel)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    lock(r);
    rc = unet_connect(r->lower, peer, tag, channel);
    unlock(r);
    if (rc)
        return rc;
    r->ep.channel[*channel].state = UNET_CONNECTING;
    r->line[*channel].since = gam_now_us();
    if (*channel >= ep->rx_rings)
        ep->rx_rings = *channel + 1u;
    return 0;
}

static void disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct gam_reliable *r = gam_reliable_of(ep);

    lock(r);
    set_state(r, channel, UNET_DEAD);
    r->ep.channel[channel].state = UNET_CLOSED;
    unet_disconnect(r->lower, channel);
    unlock(r);
}

static void address(const struct unet_endpoint *ep, struct unet_address *where)
{
    unet_address(((const struct gam_reliable *)ep)->lower, where);
}

void gam_reliable_bind(struct unet_endpoint *ep, uint16_t channel, uint32_t rank)
{
    struct gam_reliable *r = gam_reliable_of(ep);

    lock(r);
    r->line[channel].rank = rank;
    r->channel[rank] = channel;
    unlock(r);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool connecting(const struct gam_reliable *r)
{
    for (uint32_t n = 1; n < r->ep.rx_rings; n++) {
        if (r->ep.channel[n].state == UNET_CONNECTING)
            return true;
    }
    return false;
}

/* Of channels that connect the protocol knows no deadline. */
static int nap_ms(const struct gam_reliable *r, uint64_t now, uint64_t end)
{
    const uint64_t due = gam_net_deadline(r->net);
    const uint64_t until = due < end ? due : end;
    uint64_t ms = until > now ? (until - now) / 1000 : 0;

    if (ms > QUEUED_MS && (gam_reliable_queued(r) || connecting(r)))
        ms = QUEUED_MS;
    return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static int wait_locked(struct gam_reliable *r, int timeout_ms)
{
    struct unet_endpoint *ep = &r->ep;
    const uint64_t start = gam_now_us();
    const uint64_t end =
        timeout_ms < 0 ? GAM_NET_NEVER : start + (uint64_t)timeout_ms * (uint64_t)1000;
    const uint32_t changes = r->changes;

    for (;;) {
        uint64_t now;
        int rc;

        move_and_update(r);
        if (unet_rx_peek(ep))
            return 1;
        now = gam_now_us();
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
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    lock(r);
    rc = wait_locked(r, timeout_ms);
    unlock(r);
    return rc;
}

/* From here to gam_reliable_disarm, as wait_for. */
int gam_reliable_arm(struct unet_endpoint *ep, int *timeout_ms)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    uint64_t now;
    int rc;

    lock(r);
    now = gam_now_us();
    *timeout_ms = nap_ms(r, now, now + (uint64_t)*timeout_ms * 1000);
    rc = unet_rx_peek(ep) ? 1 : unet_arm(r->lower);
    if (rc != 0)
        unlock(r);
    return rc;
}

void gam_reliable_disarm(struct unet_endpoint *ep)
{
    struct gam_reliable *r = gam_reliable_of(ep);

    unet_disarm(r->lower);
    unlock(r);
}

bool gam_reliable_settled(struct unet_endpoint *ep)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    bool settled;

    lock(r);
    settled = gam_net_idle(r->net) && !gam_reliable_queued(r);
    unlock(r);
    return settled;
}

static struct gam_net_stats stats_of(struct gam_reliable *r)
{
    struct gam_net_stats stats;

    lock(r);
    gam_net_stats(r->net, &stats);
    unlock(r);
    return stats;
}

uint64_t gam_reliable_narrow(struct unet_endpoint *ep)
{
    return stats_of(gam_reliable_of(ep)).narrow;
}

void gam_reliable_add_traffic(struct unet_endpoint *ep, struct gam_traffic *traffic)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    const struct gam_net_stats stats = stats_of(r);

    traffic->held |= gam_reliable_queued(r);
    traffic->sent += stats.messages_out;
    traffic->received += stats.messages_in;
}

bool gam_reliable_answers(struct unet_endpoint *ep, uint32_t rank)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    bool answers;

    lock(r);
    answers = gam_net_answers(r->net, rank);
    unlock(r);
    return answers;
}

bool gam_reliable_reaches(struct unet_endpoint *ep, uint32_t rank)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    bool reaches;

    lock(r);
    reaches = gam_net_reaches(r->net, rank);
    unlock(r);
    return reaches;
}

void gam_reliable_settle(struct unet_endpoint *ep)
{
    const uint64_t end = gam_now_us() + SETTLE_US;

    while (!gam_reliable_settled(ep) && gam_now_us() < end) {
        for (uint32_t n = 1; n < ep->rx_rings; n++)
            unet_channel_state(ep, (uint16_t)n);
    }
}

static int never_by_name(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    (void)config;
    (void)endpoint;
    return -EOPNOTSUPP;
}

const struct unet_ops gam_reliable_ops = {
    .name = "reliable",
    .open = never_by_name,
    .close = gam_reliable_close,
    .address = address,
    .connect = connect_channel,
    .disconnect = disconnect,
    .state = state,
    .kick = kick,
    .progress = progress,
    .wait = wait_for,
};
