/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmtu.c - packetization layer path MTU discovery, as in RFC 4821.
 *
 * A router on the way may silently drop packets of a length that our interface sends.  A connection
 * therefore begins with packets of a length that passes everywhere.  When it has use for longer
 * ones it sends probes, packets of zero bytes that are neither numbered nor sent again: first of
 * the longest length, and if none of these is confirmed, of the lengths that follow.
 */
#include "connection.h"
#include <stdlib.h>

enum {
    PROBES_MAX = 4,   /* of one length, because a bad line loses some */
    PAUSE_US = 10000, /* half of the pause after the first of them, which doubles with each */
    STEPS = 3,
    ETHERNET_BYTES = 1408, /* what an Ethernet with an MTU of 1500 carries, with all headers */
    IPV6_BYTES = 1152,     /* what every IPv6 network carries */
};

void reliable_pmtu_open(const struct reliable_engine *engine, struct reliable_connection *conn)
{
    const uint32_t sure = engine->config.packet_sure;

    conn->pmtu.bytes = engine->config.packet_bytes;
    if (sure > 0 && sure < conn->pmtu.bytes)
        conn->pmtu.bytes = sure;
    conn->pmtu.deadline = RELIABLE_NEVER;
}

/* The length of the first step that is still to be probed: those that are not shorter than our own
 * interface's are left out.  0: no length is longer than what is known to pass. */
static uint32_t probe_bytes(const struct reliable_engine *engine, struct reliable_connection *conn)
{
    const uint32_t step[STEPS] = {engine->config.packet_bytes, ETHERNET_BYTES, IPV6_BYTES};
    struct reliable_pmtu *pmtu = &conn->pmtu;

    while (pmtu->step > 0 && pmtu->step < STEPS && step[pmtu->step] >= step[0])
        pmtu->step++;
    return pmtu->step < STEPS && step[pmtu->step] > pmtu->bytes ? step[pmtu->step] : 0;
}

void reliable_pmtu_want(struct reliable_engine *engine, struct reliable_connection *conn,
                        uint64_t now)
{
    if (conn->pmtu.probes > 0 || probe_bytes(engine, conn) == 0)
        return;
    conn->pmtu.probes = 1;
    conn->pmtu.deadline = now;
    reliable_timer_schedule(engine, conn, now);
}

static const struct reliable_packet *compose_probe(struct reliable_engine *engine,
                                                   struct reliable_connection *conn, uint32_t bytes)
{
    struct reliable_packet *packet;

    if (!engine->probe &&
        !(engine->probe = calloc(1, RELIABLE_HEADROOM + engine->config.packet_bytes)))
        return NULL;
    packet = (struct reliable_packet *)(engine->probe + RELIABLE_HEADROOM);
    *packet = (struct reliable_packet){.flags = RELIABLE_PACKET_PROBE};
    reliable_send_seal(engine, conn, packet, bytes);
    engine->stats.probes++;
    return packet;
}

const struct reliable_packet *reliable_pmtu_probe(struct reliable_engine *engine,
                                                  struct reliable_connection *conn, uint64_t now,
                                                  size_t *length)
{
    struct reliable_pmtu *pmtu = &conn->pmtu;

    if (pmtu->deadline > now)
        return NULL;
    if (pmtu->probes > PROBES_MAX) {
        engine->stats.narrow += pmtu->step == 0;
        pmtu->probes = 1;
        pmtu->step++;
    }
    *length = probe_bytes(engine, conn);
    pmtu->deadline = *length > 0 ? now + ((uint64_t)PAUSE_US << pmtu->probes) : RELIABLE_NEVER;
    pmtu->probes++;
    reliable_timer_schedule(engine, conn, pmtu->deadline);
    return *length > 0 ? compose_probe(engine, conn, (uint32_t)*length) : NULL;
}

/* A late confirmation of a length that was given up is as good as any. */
void reliable_pmtu_confirmed(const struct reliable_engine *engine, struct reliable_connection *conn,
                             uint32_t bytes)
{
    if (conn->pmtu.probes == 0 || bytes <= conn->pmtu.bytes || bytes > engine->config.packet_bytes)
        return;
    conn->pmtu.bytes = bytes;
    conn->pmtu.deadline = RELIABLE_NEVER;
}
