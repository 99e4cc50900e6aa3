/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channel.c - opening and closing channels, and noticing that a peer is gone.
 *
 * Who has opened a channel tells its peer (UNET_FRAME_OPEN, again and again, at the client's
 * request) until the peer answers that it has, too.  The answer repeats the random number of the
 * opening, so nothing that is left of an earlier conversation opens or closes anything.  The
 * service answers, whatever the client is doing.
 */
#include "unetni/unetni.h"

#include "core/core.h"

#include <errno.h>
#include <net/ethernet.h>
#include <string.h>

/* ---- states ----------------------------------------------------------------------------- */

static uint16_t number_of(const struct unetni_endpoint *ep, const struct unetni_channel *ch)
{
    return (uint16_t)(ch - ep->channel);
}

static void show_state(struct unetni_endpoint *ep, const struct unetni_channel *ch, uint8_t state)
{
    __atomic_store_n(&ep->shared->state[number_of(ep, ch)], state, __ATOMIC_RELAXED);
    __atomic_store_n(&ep->shared->changes, ++ep->changes, __ATOMIC_RELEASE);
    if (state == UNET_OPEN || state == UNET_DEAD)
        unetni_notify(ep, NULL);
}

/* The client is shown it, and may write what it likes there: the service believes what it knows. */
static void set_state(struct unetni_endpoint *ep, struct unetni_channel *ch, uint8_t state)
{
    ch->state = state;
    show_state(ep, ch, state);
}

static uint16_t *bucket_of(const struct unetni_endpoint *ep, uint64_t key)
{
    return &ep->bucket[unet_mix(key) & ep->bucket_mask];
}

struct unetni_channel *unetni_channel_find(const struct unetni_endpoint *ep,
                                           const struct unetni_frame *frame)
{
    for (uint16_t n = *bucket_of(ep, frame->header.key); n; n = ep->channel[n].same_bucket) {
        struct unetni_channel *ch = &ep->channel[n];

        if (ch->key_in == frame->header.key && ch->port == frame->header.from_port &&
            memcmp(ch->mac, frame->mac, sizeof ch->mac) == 0)
            return ch;
    }
    return NULL;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int check_request(const struct unetni_service *s, const struct unetni_endpoint *ep,
                         const struct unet_fe_connect *request)
{
    struct unetni_frame as_it_would_come = {
        .header = {.key = request->key_in, .from_port = request->port}};

    if (request->port == 0 || !s->wire.ops->is_place(&s->wire, request->mac))
        return -EADDRNOTAVAIL;
    if (request->life == 0)
        return -EINVAL;
    memcpy(as_it_would_come.mac, request->mac, sizeof request->mac);
    return unetni_channel_find(ep, &as_it_would_come) ? -EEXIST : 0;
}

static uint16_t closed_channel(const struct unetni_endpoint *ep)
{
    for (uint32_t n = 1; n <= ep->layout.channels; n++)
        if (ep->channel[n].state == UNET_CLOSED)
            return (uint16_t)n;
    return 0;
}

static void open_channel(struct unetni_endpoint *ep, uint16_t n,
                         const struct unet_fe_connect *request)
{
    struct unetni_channel *ch = &ep->channel[n];
    uint16_t *bucket = bucket_of(ep, request->key_in);

    ch->key_in = request->key_in;
    ch->key_out = request->key_out;
    ch->life = request->life;
    ch->peer_life = 0;
    ch->port = request->port;
    memcpy(ch->mac, request->mac, sizeof ch->mac);
    ch->same_bucket = *bucket;
    *bucket = n;
    ep->channels++;
    set_state(ep, ch, UNET_CONNECTING);
}

int unetni_channel_connect(struct unetni_service *s, struct unetni_endpoint *ep,
                           struct unet_fe_connect *request)
{
    const uint16_t n = closed_channel(ep);
    int error = check_request(s, ep, request);

    if (error)
        return error;
    if (n == 0)
        return -ENOSPC;
    error = unetni_user_add_channel(s, ep->user);
    if (error)
        return error;
    open_channel(ep, n, request);
    request->channel = n;
    return 0;
}

/* ---- telling -------------------------------------------------------------------------------- */

static struct unetni_frame frame_to(const struct unetni_endpoint *ep,
                                    const struct unetni_channel *ch, uint8_t kind, uint32_t life,
                                    uint32_t user)
{
    struct unetni_frame frame = {.header = {.version = UNET_FRAME_VERSION,
                                            .kind = kind,
                                            .to_port = ch->port,
                                            .from_port = ep->layout.port,
                                            .key = ch->key_out,
                                            .life = life,
                                            .user = user}};

    memcpy(frame.mac, ch->mac, sizeof frame.mac);
    return frame;
}

static void ask(struct unetni_service *s, const struct unetni_endpoint *ep,
                const struct unetni_channel *ch)
{
    const struct unetni_frame frame =
        frame_to(ep, ch, UNET_FRAME_ALIVE, ch->peer_life, number_of(ep, ch));

    unetni_send_control(s, &frame);
}

/* It costs the endpoint's turn what it costs the wire. */
void unetni_channel_tell(struct unetni_service *s, struct unetni_endpoint *ep, uint64_t n)
{
    const struct unetni_channel *ch = unetni_is_channel(ep, n) ? &ep->channel[n] : NULL;

    if (!unetni_channel_lives(ch))
        return;
    unetni_schedule_charge(ep, ETH_ZLEN);
    if (ch->state == UNET_OPEN) {
        ask(s, ep, ch);
    } else {
        const struct unetni_frame frame = frame_to(ep, ch, UNET_FRAME_OPEN, 0, ch->life);

        unetni_send_control(s, &frame);
    }
}

/* ---- closing ------------------------------------------------------------------------------ */

static void unlink_channel(struct unetni_endpoint *ep, const struct unetni_channel *ch)
{
    uint16_t *link = bucket_of(ep, ch->key_in);

    while (*link != number_of(ep, ch))
        link = &ep->channel[*link].same_bucket;
    *link = ch->same_bucket;
}

/* The peer may be open even if we were not yet. */
void unetni_channel_close(struct unetni_service *s, struct unetni_endpoint *ep, uint64_t n,
                          enum unet_channel_state shown)
{
    struct unetni_channel *ch = &ep->channel[n];
    const struct unetni_frame frame = frame_to(ep, ch, UNET_FRAME_CLOSE, ch->peer_life, ch->life);
    const bool tell = ch->state != UNET_DEAD;

    unlink_channel(ep, ch);
    ep->channels--;
    ep->user->channels--;
    ch->state = UNET_CLOSED;
    show_state(ep, ch, shown);
    if (tell)
        unetni_send_control(s, &frame);
}

/* If the client is still there, its channels are dead to it. */
void unetni_channels_close(struct unetni_service *s, struct unetni_endpoint *ep)
{
    for (uint32_t n = 1; n <= ep->layout.channels && ep->channels > 0; n++)
        if (ep->channel[n].state != UNET_CLOSED)
            unetni_channel_close(s, ep, n, UNET_DEAD);
}

void unetni_channels_lose(struct unetni_service *s, const uint8_t mac[6])
{
    struct unetni_endpoint *ep;

    LIST_FOREACH(ep, &s->endpoints, all)
    {
        for (uint32_t n = 1; ep->created && n <= ep->layout.channels; n++) {
            struct unetni_channel *ch = &ep->channel[n];

            if (unetni_channel_lives(ch) && memcmp(ch->mac, mac, sizeof ch->mac) == 0)
                set_state(ep, ch, UNET_DEAD);
        }
    }
}

/* ---- frames without a message ------------------------------------------------------------- */

/* The number of our channel came back, with the key that we had said. */
static bool peer_is_gone(struct unetni_endpoint *ep, const struct unetni_frame *frame)
{
    const struct unet_frame *header = &frame->header;
    struct unetni_channel *ch =
        unetni_is_channel(ep, header->life) ? &ep->channel[header->life] : NULL;

    if (!ch || ch->state != UNET_OPEN || ch->key_out != header->key ||
        ch->peer_life != header->user || ch->port != header->from_port ||
        memcmp(ch->mac, frame->mac, sizeof ch->mac) != 0)
        return false;
    set_state(ep, ch, UNET_DEAD);
    return true;
}

/* Open to another life of the peer's than the one that opens now: either the peer has closed that
 * one, or this frame is late; the answer to ALIVE tells. */
static void answer_open(struct unetni_service *s, struct unetni_endpoint *ep,
                        struct unetni_channel *ch, uint32_t peer_life)
{
    const struct unetni_frame frame = frame_to(ep, ch, UNET_FRAME_OPENED, peer_life, ch->life);

    if (ch->state == UNET_OPEN && ch->peer_life != peer_life)
        ask(s, ep, ch);
    else
        unetni_send_control(s, &frame);
}

/* A channel that connects knows no life of its peer's, but a peer that was open knows ours. */
static bool close_is_for(const struct unetni_channel *ch, const struct unet_frame *header)
{
    if (!ch)
        return false;
    return ch->state == UNET_CONNECTING ? header->life == ch->life : header->user == ch->peer_life;
}

static bool peer_has_closed(struct unetni_endpoint *ep, struct unetni_channel *ch,
                            const struct unet_frame *header)
{
    if (!close_is_for(ch, header))
        return false;
    if (unetni_channel_lives(ch))
        set_state(ep, ch, UNET_DEAD);
    return true;
}

static bool peer_has_opened(struct unetni_endpoint *ep, struct unetni_channel *ch,
                            const struct unet_frame *header)
{
    if (!unetni_channel_lives(ch) || header->life != ch->life)
        return false;
    if (ch->state == UNET_CONNECTING) {
        ch->peer_life = header->user;
        set_state(ep, ch, UNET_OPEN);
    }
    return true;
}

/* False: it is for no channel of the endpoint's. */
static bool understood(struct unetni_service *s, struct unetni_endpoint *ep,
                       struct unetni_channel *ch, const struct unetni_frame *frame)
{
    const struct unet_frame *header = &frame->header;

    switch (header->kind) {
    case UNET_FRAME_GONE:
        return peer_is_gone(ep, frame);
    case UNET_FRAME_CLOSE:
        return peer_has_closed(ep, ch, header);
    case UNET_FRAME_OPENED:
        return peer_has_opened(ep, ch, header);
    case UNET_FRAME_OPEN:
        if (unetni_channel_lives(ch))
            answer_open(s, ep, ch, header->user);
        else
            unetni_count(ep, UNET_FE_EARLY, 1);
        return true;
    default: /* UNET_FRAME_ALIVE: silence says yes */
        return unetni_channel_lives(ch) && header->life == ch->life;
    }
}

void unetni_channel_control(struct unetni_service *s, struct unetni_endpoint *ep,
                            struct unetni_channel *ch, const struct unetni_frame *frame)
{
    if (understood(s, ep, ch, frame))
        return;
    unetni_count(ep, UNET_FE_FOREIGN, 1);
    if (frame->header.kind == UNET_FRAME_ALIVE)
        unetni_receive_gone(s, frame);
}
