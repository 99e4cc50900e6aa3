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
 * is answered by GONE.  Where nobody is left to answer, the transport may know.
 */
#include "datagram/datagram.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

bool unet_datagram_same(const struct datagram_place *a, const struct datagram_place *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- channels by their keys ----------------------------------------------------------- */

/* Keys are the output of a hash function already. */
static uint16_t *bucket_of(const struct datagram_endpoint *de, uint64_t key)
{
    return &de->bucket[key & de->bucket_mask];
}

uint16_t unet_datagram_find(const struct datagram_endpoint *de, uint64_t key)
{
    uint16_t n = *bucket_of(de, key);

    while (n != 0 && de->link[n].key_in != key)
        n = de->link[n].same_bucket;
    return n;
}

static void bucket_insert(struct datagram_endpoint *de, uint16_t n)
{
    uint16_t *bucket = bucket_of(de, de->link[n].key_in);

    de->link[n].same_bucket = *bucket;
    *bucket = n;
}

static void bucket_remove(struct datagram_endpoint *de, uint16_t n)
{
    uint16_t *at = bucket_of(de, de->link[n].key_in);

    while (*at != n)
        at = &de->link[*at].same_bucket;
    *at = de->link[n].same_bucket;
}

/* ---- frames without a message ----------------------------------------------------------- */

/* Errors are ignored: a lost frame is repeated, or its purpose is achieved by a later question. */
void unet_datagram_say(struct datagram_endpoint *de, const struct datagram_place *to,
                       const struct unet_frame *frame)
{
    sendto(de->socket, frame, sizeof *frame, 0, &to->any, to->length);
}

struct unet_frame unet_datagram_control_frame(const struct datagram_endpoint *de,
                                              const struct datagram_link *link,
                                              enum unet_frame_kind kind, uint32_t life,
                                              uint32_t user)
{
    return (struct unet_frame){
        .version = UNET_FRAME_VERSION,
        .kind = (uint8_t)kind,
        .to_port = link->peer_port,
        .from_port = de->port,
        .key = link->key_out,
        .life = life,
        .user = user,
    };
}

static void send_control(struct datagram_endpoint *de, uint16_t n, enum unet_frame_kind kind,
                         uint32_t life, uint32_t user)
{
    const struct datagram_link *link = &de->link[n];
    const struct unet_frame frame = unet_datagram_control_frame(de, link, kind, life, user);

    de->transport->say(de, &link->peer, &frame);
}

struct unet_frame unet_datagram_gone_frame(const struct unet_frame *question)
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

/* Answer an ALIVE frame for a channel that does not exist here. */
static void answer_gone(struct datagram_endpoint *de, const struct unet_frame *question,
                        const struct datagram_place *to)
{
    const struct unet_frame frame = unet_datagram_gone_frame(question);

    de->transport->say(de, to, &frame);
}

/* ---- states ------------------------------------------------------------------------------ */

void unet_datagram_gone(struct datagram_endpoint *de, uint16_t n)
{
    if (de->ni.ep.channel[n].state == UNET_OPEN)
        unet_ni_set_state(&de->ni, n, UNET_DEAD);
}

void unet_datagram_lost(struct datagram_endpoint *de, uint16_t n)
{
    const uint8_t state = de->ni.ep.channel[n].state;

    if (state == UNET_OPEN || state == UNET_CONNECTING)
        unet_ni_set_state(&de->ni, n, UNET_DEAD);
}

static void channel_opened(struct datagram_endpoint *de, uint16_t n, const struct unet_frame *frame)
{
    if (de->ni.ep.channel[n].state != UNET_CONNECTING)
        return;
    de->link[n].peer_life = frame->user;
    unet_ni_set_state(&de->ni, n, UNET_OPEN);
}

static bool link_is_peer(const struct datagram_link *link, const struct unet_frame *frame,
                         const struct datagram_place *from)
{
    return link->peer_port == frame->from_port && unet_datagram_same(&link->peer, from);
}

/* The GONE frame repeats the channel's number and key from our own ALIVE frame. */
static bool channel_is_gone(struct datagram_endpoint *de, const struct unet_frame *frame,
                            const struct datagram_place *from)
{
    const uint32_t n = frame->life;

    if (!unet_is_channel(&de->ni.ep, n) || de->ni.ep.channel[n].state != UNET_OPEN ||
        de->link[n].key_out != frame->key || de->link[n].peer_life != frame->user ||
        !link_is_peer(&de->link[n], frame, from))
        return false;
    unet_datagram_gone(de, (uint16_t)n);
    return true;
}

/* The channel is open here, to another life of the peer's than the one that opens now.  Either the
 * peer has closed that one, or this frame is late; the peer's answer to an ALIVE frame tells.
 * OPENED would be of no use to it before this side has opened anew. */
static void channel_answer_open(struct datagram_endpoint *de, uint16_t n,
                                const struct unet_frame *frame)
{
    const struct datagram_link *link = &de->link[n];

    if (de->ni.ep.channel[n].state == UNET_OPEN && frame->user != link->peer_life)
        send_control(de, n, UNET_FRAME_ALIVE, link->peer_life, n);
    else
        send_control(de, n, UNET_FRAME_OPENED, frame->user, link->life);
}

/* Handle a frame without a message from channel n's peer.  False: it is for an opening that no
 * longer exists. */
static bool channel_control(struct datagram_endpoint *de, uint16_t n,
                            const struct unet_frame *frame)
{
    struct datagram_link *link = &de->link[n];

    if (frame->kind == UNET_FRAME_OPEN) {
        channel_answer_open(de, n, frame);
        return true;
    }
    if (frame->life != link->life)
        return false;
    datagram_heard(link);
    if (frame->kind == UNET_FRAME_OPENED)
        channel_opened(de, n, frame);
    else if (frame->kind == UNET_FRAME_CLOSE && frame->user == link->peer_life)
        unet_datagram_gone(de, n);
    return true;
}

void unet_datagram_control(struct datagram_endpoint *de, const struct unet_frame *frame,
                           const struct datagram_place *from)
{
    const uint16_t n = unet_datagram_find(de, frame->key);
    bool ours;

    if (frame->kind == UNET_FRAME_GONE)
        ours = channel_is_gone(de, frame, from);
    else
        ours = n != 0 && link_is_peer(&de->link[n], frame, from) && channel_control(de, n, frame);
    if (ours)
        return;
    de->ni.ep.stats.foreign++;
    if (frame->kind == UNET_FRAME_ALIVE)
        answer_gone(de, frame, from);
}

/* ---- asking and telling -------------------------------------------------------------------- */

void unet_datagram_tell(struct unet_ni *ni, uint16_t n)
{
    struct datagram_endpoint *de = datagram_of(&ni->ep);
    const struct datagram_link *link = &de->link[n];

    if (ni->ep.channel[n].state == UNET_CONNECTING)
        send_control(de, n, UNET_FRAME_OPEN, 0, link->life);
    else
        send_control(de, n, UNET_FRAME_ALIVE, link->peer_life, n);
}

void unet_datagram_look(struct datagram_endpoint *de)
{
    uint16_t asked[UNET_NI_ASK_MOST];
    const unsigned count = unet_ni_ask_some(&de->ni, asked);

    de->transport->probe(de, asked, count);
}

void unet_datagram_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct datagram_endpoint *de = datagram_of(ep);

    if (channel == 0)
        unet_datagram_look(de);
    else if (unet_ni_ask(&de->ni, channel))
        de->transport->probe(de, &channel, 1);
    if (de->ni.connecting > 0)
        unet_ni_tell(&de->ni);
    if (unet_datagram_receive(de) > 0)
        unet_datagram_receive(de); /* the first look may end before a CLOSE that is there */
}

/* ---- opening and closing ---------------------------------------------------------------- */

int unet_datagram_name_opening(struct datagram_endpoint *de, uint16_t n, struct datagram_link *link)
{
    (void)de;
    (void)n;
    return getrandom(&link->life, sizeof link->life, 0) == sizeof link->life ? 0 : -EIO;
}

int unet_datagram_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                          uint16_t *channel)
{
    struct datagram_endpoint *de = datagram_of(ep);
    struct datagram_link link = {0};
    uint64_t nonce;
    uint16_t n;
    int error = de->transport->resolve(de, peer, &link, &nonce);

    if (error)
        return error;
    link.key_in = unet_direction_key(tag, nonce, de->nonce);
    link.key_out = unet_direction_key(tag, de->nonce, nonce);
    if (unet_datagram_find(de, link.key_in) != 0)
        return -EEXIST;
    n = unet_ni_closed_channel(&de->ni);
    if (n == 0)
        return -ENOSPC;
    error = de->transport->name_opening(de, n, &link);
    if (error)
        return error;
    de->link[n] = link;
    bucket_insert(de, n);
    unet_ni_connecting(&de->ni, n);
    unet_ni_tell(&de->ni);
    *channel = n;
    return 0;
}

void unet_datagram_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct datagram_endpoint *de = datagram_of(ep);
    const struct datagram_link *link = &de->link[channel];

    unet_datagram_service(de);
    if (ep->channel[channel].state == UNET_OPEN)
        send_control(de, channel, UNET_FRAME_CLOSE, link->peer_life, link->life);
    unet_ni_set_state(&de->ni, channel, UNET_CLOSED);
    bucket_remove(de, channel);
    unet_datagram_service(de); /* completes what the socket did not take */
    unet_drop_unread(&ep->rx[channel]);
}
