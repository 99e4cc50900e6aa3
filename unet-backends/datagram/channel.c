/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channel.c - opening, closing, and noticing that a peer is gone.
 *
 * Each side tells the other that it has opened the channel, until it is told that the other has
 * done so, too.  Every opening has a random number of its own, its life, which the answer repeats:
 * frames of an earlier conversation under the same tag open nothing and close nothing.
 *
 *   a: OPEN, life x  -->            (b has not opened: dropped)
 *   a: OPEN, life x  -->  b: answers OPENED to x, from y
 *   a: is open, to y <--             b in turn learns of x when a answers its OPEN
 *
 * A closed channel is told once.  If that gets lost, the peer's next question whether we are alive
 * is answered by GONE.  Where nobody is left to answer, the transport may know.  Who was heard of
 * need not be asked, and who has many channels asks each the less often.
 */
#include "datagram/datagram.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum {
    PAUSE_FIRST_US = 200,
    PAUSE_LAST_US = 50000,
    PROBE_US = 20000, /* between two questions whether a peer is alive, at least */
    ASK_US = 1000,    /* between two questions, on average over all channels */
    ASK_MOST = 64,    /* channels in one look */
};

bool unet_emu_same(const struct emu_place *a, const struct emu_place *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- channels by their keys ----------------------------------------------------------- */

/* Keys are random enough to be their own hash. */
static uint16_t *bucket_of(const struct emu_endpoint *ee, uint64_t key)
{
    return &ee->bucket[key & ee->bucket_mask];
}

uint16_t unet_emu_find(const struct emu_endpoint *ee, uint64_t key)
{
    uint16_t n = *bucket_of(ee, key);

    while (n != 0 && ee->link[n].key_in != key)
        n = ee->link[n].same_bucket;
    return n;
}

static void remember(struct emu_endpoint *ee, uint16_t n)
{
    uint16_t *bucket = bucket_of(ee, ee->link[n].key_in);

    ee->link[n].same_bucket = *bucket;
    *bucket = n;
}

static void forget(struct emu_endpoint *ee, uint16_t n)
{
    uint16_t *at = bucket_of(ee, ee->link[n].key_in);

    while (*at != n)
        at = &ee->link[*at].same_bucket;
    *at = ee->link[n].same_bucket;
}

/* ---- frames without a message ----------------------------------------------------------- */

/* What does not go is told again, or found out. */
void unet_emu_say(struct emu_endpoint *ee, const struct emu_place *to,
                  const struct unet_frame *frame)
{
    sendto(ee->socket, frame, sizeof *frame, 0, &to->any, to->length);
}

static void tell(struct emu_endpoint *ee, uint16_t n, enum unet_frame_kind kind, uint32_t life,
                 uint32_t user)
{
    const struct emu_link *link = &ee->link[n];
    const struct unet_frame frame = {
        .version = UNET_FRAME_VERSION,
        .kind = (uint8_t)kind,
        .to_port = link->peer_port,
        .from_port = ee->port,
        .key = link->key_out,
        .life = life,
        .user = user,
    };

    ee->transport->say(ee, &link->peer, &frame);
}

struct unet_frame unet_emu_gone_frame(const struct unet_frame *question)
{
    return (struct unet_frame){
        .version = UNET_FRAME_VERSION,
        .kind = UNET_FRAME_GONE,
        .to_port = question->from_port,
        .from_port = question->to_port,
        .key = question->key,
        .life = question->user,
        .user = question->life,
    };
}

/* No channel of ours is the one that was asked for. */
static void answer_gone(struct emu_endpoint *ee, const struct unet_frame *question,
                        const struct emu_place *to)
{
    const struct unet_frame frame = unet_emu_gone_frame(question);

    ee->transport->say(ee, to, &frame);
}

/* ---- states ------------------------------------------------------------------------------ */

static void set_state(struct emu_endpoint *ee, uint16_t n, enum unet_channel_state state)
{
    struct unet_channel *channel = &ee->ep.channel[n];

    if (channel->state == UNET_CONNECTING)
        ee->connecting--;
    if (state == UNET_CONNECTING)
        ee->connecting++;
    if (state == UNET_OPEN || state == UNET_DEAD)
        ee->changes++;
    channel->state = (uint8_t)state;
    channel->ring = state == UNET_OPEN ? &ee->ep.tx : &ee->full;
}

void unet_emu_gone(struct emu_endpoint *ee, uint16_t n)
{
    if (ee->ep.channel[n].state == UNET_OPEN)
        set_state(ee, n, UNET_DEAD);
}

static void opened(struct emu_endpoint *ee, uint16_t n, const struct unet_frame *frame)
{
    if (ee->ep.channel[n].state != UNET_CONNECTING)
        return;
    ee->link[n].peer_life = frame->user;
    set_state(ee, n, UNET_OPEN);
}

static bool comes_from_peer(const struct emu_link *link, const struct unet_frame *frame,
                            const struct emu_place *from)
{
    return link->peer_port == frame->from_port && unet_emu_same(&link->peer, from);
}

/* The number of our channel came back, with the key that we had said. */
static bool is_gone(struct emu_endpoint *ee, const struct unet_frame *frame,
                    const struct emu_place *from)
{
    const uint32_t n = frame->life;

    if (!emu_is_channel(ee, n) || ee->ep.channel[n].state != UNET_OPEN ||
        ee->link[n].key_out != frame->key || ee->link[n].peer_life != frame->user ||
        !comes_from_peer(&ee->link[n], frame, from))
        return false;
    unet_emu_gone(ee, (uint16_t)n);
    return true;
}

/* Who opens to us while we are open to another life of his may have closed that, or this may be
 * late: he knows.  He has no use for our answer before we have opened anew. */
static void answer_open(struct emu_endpoint *ee, uint16_t n, const struct unet_frame *frame)
{
    const struct emu_link *link = &ee->link[n];

    if (ee->ep.channel[n].state == UNET_OPEN && frame->user != link->peer_life)
        tell(ee, n, UNET_FRAME_ALIVE, link->peer_life, n);
    else
        tell(ee, n, UNET_FRAME_OPENED, frame->user, link->life);
}

/* A frame about channel n, from its peer; false: it is for none that we have. */
static bool control(struct emu_endpoint *ee, uint16_t n, const struct unet_frame *frame)
{
    struct emu_link *link = &ee->link[n];

    if (frame->kind == UNET_FRAME_OPEN) {
        answer_open(ee, n, frame);
        return true;
    }
    if (frame->life != link->life)
        return false;
    link->heard = true;
    if (frame->kind == UNET_FRAME_OPENED)
        opened(ee, n, frame);
    else if (frame->kind == UNET_FRAME_CLOSE && frame->user == link->peer_life)
        unet_emu_gone(ee, n);
    return true;
}

void unet_emu_control(struct emu_endpoint *ee, const struct unet_frame *frame,
                      const struct emu_place *from)
{
    const uint16_t n = unet_emu_find(ee, frame->key);
    bool ours;

    if (frame->kind == UNET_FRAME_GONE)
        ours = is_gone(ee, frame, from);
    else
        ours = n != 0 && comes_from_peer(&ee->link[n], frame, from) && control(ee, n, frame);
    if (ours)
        return;
    ee->ep.stats.foreign++;
    if (frame->kind == UNET_FRAME_ALIVE)
        answer_gone(ee, frame, from);
}

/* ---- asking and telling -------------------------------------------------------------------- */

void unet_emu_tell(struct emu_endpoint *ee)
{
    const uint64_t now = unet_now_us();

    for (uint32_t n = 1; n < ee->ep.rx_rings; n++) {
        struct emu_link *link = &ee->link[n];

        if (ee->ep.channel[n].state != UNET_CONNECTING || now < link->next_open_us)
            continue;
        tell(ee, (uint16_t)n, UNET_FRAME_OPEN, 0, link->life);
        link->next_open_us = now + link->pause_us;
        if (link->pause_us < PAUSE_LAST_US)
            link->pause_us *= 2;
    }
}

/* Ask channel n's peer whether it is alive, if it is time to and it was not heard of since. */
static bool ask(struct emu_endpoint *ee, uint16_t n, uint64_t now)
{
    struct emu_link *link = &ee->link[n];
    const uint64_t share = (uint64_t)ee->ep.rx_rings * ASK_US;

    if (ee->ep.channel[n].state != UNET_OPEN ||
        now - link->probed_us < (share > PROBE_US ? share : PROBE_US))
        return false;
    link->probed_us = now;
    if (link->heard) {
        link->heard = false;
        link->refused_us = 0;
        return false;
    }
    tell(ee, n, UNET_FRAME_ALIVE, link->peer_life, n);
    return true;
}

/* Ask some; the next look goes on where this one ends.  Returns how many. */
static unsigned ask_some(struct emu_endpoint *ee, uint64_t now, uint16_t asked[ASK_MOST])
{
    const uint32_t rings = ee->ep.rx_rings;
    unsigned count = 0;

    for (uint32_t i = 1; i < rings && count < ASK_MOST; i++) {
        ee->turn = (uint16_t)(ee->turn + 1u < rings ? ee->turn + 1 : 1);
        if (ask(ee, ee->turn, now))
            asked[count++] = ee->turn;
    }
    return count;
}

static void look(struct emu_endpoint *ee, uint64_t now)
{
    uint16_t asked[ASK_MOST];
    const unsigned count = ask_some(ee, now, asked);

    ee->looked_us = now;
    ee->transport->probe(ee, asked, count);
}

void unet_emu_look(struct emu_endpoint *ee)
{
    const uint64_t now = unet_now_us();

    if (now - ee->looked_us >= PROBE_US)
        look(ee, now);
}

void unet_emu_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct emu_endpoint *ee = emu_of(ep);
    const uint64_t now = unet_now_us();

    if (channel == 0)
        look(ee, now);
    else if (ask(ee, channel, now))
        ee->transport->probe(ee, &channel, 1);
    if (ee->connecting > 0)
        unet_emu_tell(ee);
    if (unet_emu_receive(ee) > 0)
        unet_emu_receive(ee); /* a farewell may be behind what a look begins with */
}

/* ---- opening and closing ---------------------------------------------------------------- */

static uint16_t closed_channel(const struct emu_endpoint *ee)
{
    for (uint32_t n = 1; n <= ee->ep.config.channels; n++) {
        if (ee->ep.channel[n].state == UNET_CLOSED)
            return (uint16_t)n;
    }
    return 0;
}

int unet_emu_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                     uint16_t *channel)
{
    struct emu_endpoint *ee = emu_of(ep);
    struct emu_link link = {.pause_us = PAUSE_FIRST_US};
    uint64_t nonce;
    uint16_t n;
    int error = ee->transport->resolve(ee, peer, &link, &nonce);

    if (error)
        return error;
    link.key_in = unet_direction_key(tag, nonce, ee->nonce);
    link.key_out = unet_direction_key(tag, ee->nonce, nonce);
    if (unet_emu_find(ee, link.key_in) != 0)
        return -EEXIST;
    if (getrandom(&link.life, sizeof link.life, 0) != sizeof link.life)
        return -EIO;
    n = closed_channel(ee);
    if (n == 0)
        return -ENOSPC;
    link.in = ee->link[n].in;
    ee->link[n] = link;
    remember(ee, n);
    if (n >= ep->rx_rings)
        ep->rx_rings = n + 1u;
    set_state(ee, n, UNET_CONNECTING);
    unet_emu_tell(ee);
    *channel = n;
    return 0;
}

void unet_emu_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct emu_endpoint *ee = emu_of(ep);
    const struct emu_link *link = &ee->link[channel];

    unet_emu_service(ee);
    if (ep->channel[channel].state == UNET_OPEN)
        tell(ee, channel, UNET_FRAME_CLOSE, link->peer_life, link->life);
    set_state(ee, channel, UNET_CLOSED);
    forget(ee, channel);
    unet_emu_service(ee); /* completes what the socket did not take */
    unet_drop_unread(&ep->rx[channel]);
}
