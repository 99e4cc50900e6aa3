/* SPDX-License-Identifier: BSD-3-Clause
 *
 * peers.c - when peers beyond a network are told that a channel is open, and asked whether they are
 * alive.
 *
 * A channel that connects is told again and again, with pauses that double, until the peer has
 * answered.  Whoever was heard of need not be asked, and an endpoint with many channels asks the
 * peer of each the less often.
 */
#include <unet/unet_ni.h>

#include "core/core.h"

enum {
    PAUSE_FIRST_US = 200,
    PAUSE_LAST_US = 50000,
    ASK_US = 20000,      /* between two questions to one peer, at least */
    ASK_SHARE_US = 1000, /* between two questions, on average over all channels */
};

static struct unet_link *link_of(const struct unet_ni *ni, uint32_t n)
{
    return (struct unet_link *)((uint8_t *)ni->link + n * ni->kind->link_bytes);
}

static uint32_t next_pause(uint32_t pause)
{
    if (pause == 0)
        return PAUSE_FIRST_US;
    return pause < PAUSE_LAST_US ? 2 * pause : pause;
}

void unet_ni_tell(struct unet_ni *ni)
{
    const uint64_t now = unet_now_us();

    for (uint32_t n = 1; n < ni->ep.rx_rings; n++) {
        struct unet_link *link = link_of(ni, n);

        if (ni->ep.channel[n].state != UNET_CONNECTING || now - link->told_us < link->pause_us)
            continue;
        link->told_us = now;
        link->pause_us = next_pause(link->pause_us);
        ni->kind->tell(ni, (uint16_t)n);
    }
}

static bool ask_at(struct unet_ni *ni, uint16_t channel, uint64_t now)
{
    struct unet_link *link = link_of(ni, channel);
    const uint64_t share = (uint64_t)ni->ep.rx_rings * ASK_SHARE_US;

    if (ni->ep.channel[channel].state != UNET_OPEN ||
        now - link->told_us < (share > ASK_US ? share : ASK_US))
        return false;
    link->told_us = now;
    if (link->heard) {
        link->heard = false;
        return false;
    }
    ni->kind->tell(ni, channel);
    return true;
}

bool unet_ni_ask(struct unet_ni *ni, uint16_t channel)
{
    return ask_at(ni, channel, unet_now_us());
}

unsigned unet_ni_ask_some(struct unet_ni *ni, uint16_t asked[UNET_NI_ASK_MOST])
{
    const uint64_t now = unet_now_us();
    const uint32_t rings = ni->ep.rx_rings;
    unsigned count = 0;

    if (now - ni->looked_us < ASK_US)
        return 0;
    ni->looked_us = now;
    for (uint32_t i = 1; i < rings && count < UNET_NI_ASK_MOST; i++) {
        ni->turn = (uint16_t)(ni->turn + 1u < rings ? ni->turn + 1 : 1);
        if (ask_at(ni, ni->turn, now))
            asked[count++] = ni->turn;
    }
    return count;
}
