/* SPDX-License-Identifier: BSD-3-Clause
 *
 * path.c - how long the packets may be that the way to a rank lets pass.
 *
 * What our interface takes, another on the way may drop without a word.  A link therefore begins
 * with packets of a length that passes everywhere.  When it would have use for longer ones
 * it sends *probes*, packets of zero bytes that are neither numbered nor sent again, of the longest
 * length, and if none of them is answered, of those that follow.
 */
#include "link.h"
#include <string.h>

enum {
    TRIES = 4,        /* of one length: a bad line loses some */
    PAUSE_US = 10000, /* after the first of them; doubles */
    RUNGS = 3,
    ORDINARY = 1408, /* what an Ethernet of 1500 bytes carries with all headers */
    SMALL = 1152,    /* what all that speaks IPv6 does */
};

void gam_path_open(const struct gam_net *net, struct gam_link *link)
{
    const uint32_t sure = net->config.packet_sure;

    link->longest = net->config.packet_bytes;
    if (sure > 0 && sure < link->longest)
        link->longest = sure;
    link->probe_at = GAM_NET_NEVER;
}

/* 0: there is none that would be longer than what we know to pass. */
static uint32_t length_tried(const struct gam_net *net, const struct gam_link *link)
{
    const uint32_t rung[RUNGS] = {net->config.packet_bytes, ORDINARY, SMALL};
    const uint32_t bytes = link->rung < RUNGS ? rung[link->rung] : 0;

    return bytes > link->longest && bytes <= rung[0] ? bytes : 0;
}

void gam_path_want(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    if (link->probes > 0 || length_tried(net, link) == 0)
        return;
    link->probes = 1;
    link->probe_at = now;
    gam_net_due(net, link, now);
}

static const struct gam_packet *compose(struct gam_net *net, struct gam_link *link, uint32_t bytes)
{
    if (!net->probe && !(net->probe = gam_net_parcel(net)))
        return NULL;
    memset(net->probe->bytes, 0, bytes);
    net->probe->packet.flags = GAM_PACKET_PROBE;
    gam_link_seal(net, link, &net->probe->packet, bytes);
    net->stats.probes++;
    return &net->probe->packet;
}

const struct gam_packet *gam_path_probe(struct gam_net *net, struct gam_link *link, uint64_t now,
                                        size_t *length)
{
    if (link->probe_at > now)
        return NULL;
    if (link->probes > TRIES) {
        net->stats.narrow += link->rung == 0;
        link->probes = 1;
        link->rung++;
    }
    *length = length_tried(net, link);
    link->probe_at = *length > 0 ? now + ((uint64_t)PAUSE_US << link->probes) : GAM_NET_NEVER;
    link->probes++;
    gam_net_due(net, link, link->probe_at);
    return *length > 0 ? compose(net, link, (uint32_t)*length) : NULL;
}

/* Any length is good news that we have asked for, were it long ago. */
void gam_path_passed(const struct gam_net *net, struct gam_link *link, uint32_t bytes)
{
    if (link->probes == 0 || bytes <= link->longest || bytes > net->config.packet_bytes)
        return;
    link->longest = bytes;
    link->probe_at = GAM_NET_NEVER;
}
