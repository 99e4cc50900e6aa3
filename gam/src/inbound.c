/* SPDX-License-Identifier: BSD-3-Clause
 *
 * inbound.c - what comes: checking, order, and acknowledging.
 *
 * Nothing of a packet is believed, and no link is made for it, before its hash was found right.
 * What is acknowledged has been delivered or is kept.
 *
 * An acknowledgement rides on any packet.  One of its own is sent at once when a packet came out
 * of order, for the sender will want to know; after GAM_LINK_ACK_EVERY packets; and after
 * GAM_LINK_ACK_US.
 */
#include "link.h"
#include <stdlib.h>
#include <string.h>

enum { EPOCH_US = 10000 }; /* who has sent in this one or the last is an active sender */

void gam_link_inbound_open(struct gam_link *link)
{
    link->expected = 1;
    link->ack_at = GAM_NET_NEVER;
    link->epoch = GAM_NET_NEVER;
}

/* ---- an equal share for every active sender ----------------------------------------- */

static void count_active(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    if (now - net->epoch_start >= EPOCH_US) {
        net->active_before = now - net->epoch_start < 2 * EPOCH_US ? net->active : 0;
        net->active = 0;
        net->epoch_start = now;
    }
    if (link->epoch != net->epoch_start) {
        link->epoch = net->epoch_start;
        net->active++;
    }
}

static uint32_t share(const struct gam_net *net)
{
    const uint32_t active = net->active > net->active_before ? net->active : net->active_before;
    const uint32_t part = net->config.backlog / (active ? active : 1);

    return part < 1 ? 1 : part > GAM_NET_WINDOW ? (uint32_t)GAM_NET_WINDOW : part;
}

/* ---- acknowledging ------------------------------------------------------------------- */

/* Held packet expected + 1 + i goes to bit i.  Packet `expected` itself is not held. */
static uint64_t selected(const struct gam_link *link)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; link->held > 0 && i < GAM_LINK_SELECTED; i++) {
        if (link->early[gam_link_at(link->expected + 1 + i)])
            bits |= (uint64_t)1 << i;
    }
    return bits;
}

void gam_link_acknowledge(struct gam_net *net, struct gam_link *link, struct gam_packet *packet)
{
    packet->ack = (uint32_t)link->expected;
    packet->selected = selected(link);
    packet->window = (uint16_t)share(net);
    link->owed = 0;
    link->ack_now = false;
    link->ack_at = GAM_NET_NEVER;
}

static void acknowledge_now(struct gam_net *net, struct gam_link *link)
{
    link->ack_now = true;
    gam_net_ready(net, link);
}

/* A sender that may have few packets in flight waits for each of them. */
static void acknowledge_soon(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    const uint32_t every = (uint32_t)gam_min(GAM_LINK_ACK_EVERY, share(net) / 2);

    if (++link->owed >= every) {
        acknowledge_now(net, link);
    } else if (link->ack_at == GAM_NET_NEVER) {
        link->ack_at = now + GAM_LINK_ACK_US;
        gam_net_due(net, link, link->ack_at);
    }
}

/* ---- frames --------------------------------------------------------------------------- */

static bool frames_ok(const uint8_t *at, size_t length)
{
    while (length > 0) {
        struct gam_frame frame;

        if (length < sizeof(frame))
            return false;
        memcpy(&frame, at, sizeof(frame));
        if (frame.length > length - sizeof(frame) || (frame.flags & ~GAM_FRAME_MORE))
            return false;
        at += sizeof(frame) + frame.length;
        length -= sizeof(frame) + frame.length;
    }
    return true;
}

static void deliver(struct gam_net *net, const struct gam_link *link,
                    const struct gam_packet *packet)
{
    const uint8_t *at = (const uint8_t *)(packet + 1);
    const uint8_t *const end = at + packet->length;

    while (at < end) {
        struct gam_frame frame;
        bool more;

        memcpy(&frame, at, sizeof(frame));
        more = frame.flags & GAM_FRAME_MORE;
        at += sizeof(frame);
        net->config.deliver(net->config.arg, link->rank, frame.user, at, frame.length, more);
        net->stats.messages_in += !more;
        at += frame.length;
    }
}

/* ---- order ------------------------------------------------------------------------------ */

/* NULL: no memory. */
static struct gam_parcel *parcel_to_hold(struct gam_net *net, struct gam_link *link)
{
    if (!link->early)
        link->early = calloc(GAM_NET_WINDOW, sizeof(struct gam_parcel *));
    return link->early ? gam_net_parcel(net) : NULL;
}

static void hold(struct gam_net *net, struct gam_link *link, const struct gam_packet *packet)
{
    struct gam_parcel *parcel = parcel_to_hold(net, link);

    if (!parcel) {
        net->stats.refused[GAM_NET_NO_MEMORY]++;
        return;
    }
    parcel->length = (uint32_t)sizeof(*packet) + packet->length;
    memcpy(parcel->bytes, packet, parcel->length);
    link->early[gam_link_at(packet->number)] = parcel;
    link->held++;
}

static void take_held(struct gam_net *net, struct gam_link *link)
{
    struct gam_parcel *parcel;

    while (link->held > 0 && (parcel = link->early[gam_link_at(link->expected)]) != NULL) {
        link->early[gam_link_at(link->expected)] = NULL;
        link->held--;
        link->expected++;
        deliver(net, link, &parcel->packet);
        gam_net_parcel_free(net, parcel);
    }
    if (link->held == 0 && link->early) {
        free(link->early);
        link->early = NULL;
    }
}

static void take_next(struct gam_net *net, struct gam_link *link, uint64_t now,
                      const struct gam_packet *packet)
{
    const bool gap = link->held > 0;

    link->expected++;
    deliver(net, link, packet);
    take_held(net, link);
    if (gap)
        acknowledge_now(net, link);
    else
        acknowledge_soon(net, link, now);
}

static void take_early(struct gam_net *net, struct gam_link *link, const struct gam_packet *packet)
{
    if (link->early && link->early[gam_link_at(packet->number)]) {
        net->stats.duplicates++;
    } else {
        net->stats.early++;
        if (!net->config.go_back_n && packet->length <= net->config.packet_bytes - sizeof(*packet))
            hold(net, link, packet);
    }
    acknowledge_now(net, link);
}

static void take(struct gam_net *net, struct gam_link *link, uint64_t now,
                 const struct gam_packet *packet)
{
    count_active(net, link, now);
    if (packet->number < link->expected) {
        net->stats.duplicates++;
        acknowledge_now(net, link);
    } else if (packet->number == link->expected) {
        take_next(net, link, now, packet);
    } else if (packet->number - link->expected < GAM_NET_WINDOW) {
        take_early(net, link, packet);
    } else {
        net->stats.refused[GAM_NET_FUTURE]++;
    }
}

/* ---- checking --------------------------------------------------------------------------- */

static bool flags_ok(const struct gam_packet *packet)
{
    const uint8_t flags = packet->flags;

    return (flags & GAM_PACKET_PING || gam_packet_asked(packet) == 0) &&
           (flags & GAM_PACKET_ANSWER || gam_packet_answered(packet) == 0) &&
           (flags & GAM_PACKET_PASSED ? true : false) == (packet->passed != 0);
}

/* The hash covers all of what is acknowledged: a packet that is replayed when numbers have come
 * round to the low half of that again is none of ours. */
static bool hash_ok(const struct gam_net *net, const struct gam_packet *packet, size_t length)
{
    const uint64_t ack = gam_link_ack(gam_net_find(net, packet->source), packet);

    return packet->mac == gam_packet_mac(&net->mac, packet, ack, length);
}

/* GAM_NET_REFUSALS: nothing is wrong with it. */
static enum gam_net_refusal check(const struct gam_net *net, const struct gam_packet *packet,
                                  size_t length)
{
    if (length < sizeof(*packet) || length != sizeof(*packet) + packet->length)
        return GAM_NET_SHORT;
    if (packet->version != GAM_PACKET_VERSION || !flags_ok(packet))
        return GAM_NET_VERSION;
    if (packet->dest != net->config.rank || packet->source >= net->config.ranks)
        return GAM_NET_STRANGER;
    if (!hash_ok(net, packet, length))
        return GAM_NET_FORGED;
    if (packet->flags & GAM_PACKET_PROBE)
        return packet->number == 0 ? GAM_NET_REFUSALS : GAM_NET_MALFORMED;
    if (!frames_ok((const uint8_t *)(packet + 1), packet->length) ||
        (packet->number == 0) != (packet->length == 0))
        return GAM_NET_MALFORMED;
    return GAM_NET_REFUSALS;
}

static void authentic(struct gam_net *net, struct gam_link *link, uint64_t now,
                      const struct gam_packet *packet)
{
    link->heard = now;
    link->answers = true;
    link->waiting = GAM_NET_NEVER;
    if (!gam_link_acked(net, link, now, packet)) {
        net->stats.refused[GAM_NET_FUTURE]++;
        return;
    }
    if (packet->flags & GAM_PACKET_ANSWER)
        gam_link_answered(net, link, now, gam_packet_answered(packet));
    if (packet->flags & GAM_PACKET_PASSED)
        gam_path_passed(net, link, packet->passed);
    if (packet->flags & GAM_PACKET_PROBE)
        link->came = (uint32_t)sizeof(*packet) + packet->length;
    if (packet->flags & (GAM_PACKET_PING | GAM_PACKET_PROBE))
        acknowledge_now(net, link);
    if (packet->flags & GAM_PACKET_PING) {
        link->pinged = true;
        link->answer = gam_packet_asked(packet);
    }
    if (packet->number > 0)
        take(net, link, now, packet);
}

void gam_net_receive(struct gam_net *net, uint64_t now, const void *bytes, size_t length)
{
    const struct gam_packet *packet = bytes;
    const enum gam_net_refusal refusal = check(net, packet, length);
    struct gam_link *link;

    net->stats.received++;
    if (refusal != GAM_NET_REFUSALS) {
        net->stats.refused[refusal]++;
        return;
    }
    link = gam_net_link(net, now, packet->source);
    if (!link)
        net->stats.refused[GAM_NET_NO_MEMORY]++;
    else if (link->dead)
        net->stats.refused[GAM_NET_DEAD]++;
    else
        authentic(net, link, now, packet);
}
