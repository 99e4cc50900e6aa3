/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channel.c - opening, closing, and noticing that a peer is gone.
 *
 * The NI speaks with the peer's; it has no clock, so when to tell again, and when to ask
 * whether the peer is still there, is decided in core/peers.c.
 */
#include "fe/user/fe.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* ---- states ---------------------------------------------------------------------------- */

static void fe_learn_states(struct fe_endpoint *fe)
{
    const uint32_t changes = __atomic_load_n(&fe->shared->changes, __ATOMIC_ACQUIRE);

    if (changes == fe->seen)
        return;
    fe->seen = changes;
    for (uint32_t n = 1; n < fe->ni.ep.rx_rings; n++) {
        const uint8_t state = __atomic_load_n(&fe->shared->state[n], __ATOMIC_ACQUIRE);

        if (fe->ni.ep.channel[n].state != UNET_CLOSED && fe->ni.ep.channel[n].state != state)
            unet_ni_set_state(&fe->ni, (uint16_t)n, (enum unet_channel_state)state);
    }
}

/* What was counted there since the last time. */
static uint64_t fe_counted_since(struct fe_endpoint *fe, enum unet_fe_counter counter)
{
    const uint64_t now = __atomic_load_n(&fe->shared->counter[counter], __ATOMIC_RELAXED);
    const uint64_t since = now - fe->counted[counter];

    fe->counted[counter] = now;
    return since;
}

void unet_fe_look(struct fe_endpoint *fe)
{
    struct unet_stats *stats = &fe->ni.ep.stats;

    fe_learn_states(fe);
    stats->bad_descriptors += fe_counted_since(fe, UNET_FE_BAD_DESCRIPTORS);
    stats->errors_lost += fe_counted_since(fe, UNET_FE_ERRORS_LOST);
    stats->foreign += fe_counted_since(fe, UNET_FE_FOREIGN) + fe_counted_since(fe, UNET_FE_REFUSED);
    stats->malformed += fe_counted_since(fe, UNET_FE_MALFORMED);
    stats->overruns +=
        fe_counted_since(fe, UNET_FE_OVERRUNS) + fe_counted_since(fe, UNET_FE_UNPINNED);
    stats->wakeups += fe_counted_since(fe, UNET_FE_WAKEUPS);
}

void unet_fe_tell(struct unet_ni *ni, uint16_t n)
{
    fe_of(&ni->ep)->door->call(fe_of(&ni->ep), UNET_FE_TELL, n);
}

void unet_fe_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct fe_endpoint *fe = fe_of(ep);
    uint16_t asked[UNET_NI_ASK_MOST];

    fe->door->look(fe);
    unet_fe_look(fe);
    if (channel == 0)
        unet_ni_ask_some(&fe->ni, asked);
    else
        unet_ni_ask(&fe->ni, channel);
    unet_ni_tell(&fe->ni);
    unet_fe_look(fe);
}

/* ---- opening and closing ---------------------------------------------------------------- */

static int fe_resolve(const struct unet_address *address, struct fe_address *peer)
{
    if (address->length != sizeof *peer)
        return -EADDRNOTAVAIL;
    memcpy(peer, address->bytes, sizeof *peer);
    return 0;
}

int unet_fe_connect(struct unet_endpoint *ep, const struct unet_address *address, uint64_t tag,
                    uint16_t *channel)
{
    struct fe_endpoint *fe = fe_of(ep);
    struct unet_fe_connect request = {0};
    struct fe_address peer;
    int error = fe_resolve(address, &peer);

    if (error)
        return error;
    memcpy(request.mac, peer.mac, sizeof request.mac);
    request.port = peer.port;
    request.key_in = unet_direction_key(tag, peer.nonce, fe->own.nonce);
    request.key_out = unet_direction_key(tag, fe->own.nonce, peer.nonce);
    if (getrandom(&request.life, sizeof request.life, 0) != sizeof request.life)
        return -EIO;
    request.life |= 1; /* not 0 */
    error = fe->door->call(fe, UNET_FE_CONNECT, (uintptr_t)&request);
    if (error)
        return error;
    ((struct unet_link *)fe->ni.link)[request.channel] = (struct unet_link){0};
    unet_ni_connecting(&fe->ni, (uint16_t)request.channel);
    unet_ni_tell(&fe->ni);
    *channel = (uint16_t)request.channel;
    return 0;
}

void unet_fe_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct fe_endpoint *fe = fe_of(ep);

    unet_fe_service(fe);
    fe->door->call(fe, UNET_FE_DISCONNECT, channel);
    unet_ni_set_state(&fe->ni, channel, UNET_CLOSED);
    unet_fe_service(fe); /* completes what the network did not take */
    unet_drop_unread(&ep->rx[channel]);
    unet_fe_look(fe);
}
