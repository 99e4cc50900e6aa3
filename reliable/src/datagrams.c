/* SPDX-License-Identifier: BSD-3-Clause
 *
 * datagrams.c - a reliable endpoint's packets over an endpoint below with `datagrams` operations:
 * they go from the engine's buffers, and come to it from where the kernel has put them.
 */
#include "endpoint.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)RELIABLE_HEADROOM >= (int)UNET_PACKET_HEADROOM, "the header below fits");

/* ---- packets that arrived ------------------------------------------------------------ */

/* The engine wants packets at multiples of 8.  Short ones that shared a datagram may not be. */
static const void *align_packet(struct reliable_endpoint *r, const void *bytes, size_t length)
{
    if ((uintptr_t)bytes % 8 == 0)
        return bytes;
    return length <= r->buffer_bytes ? memcpy(r->aligned, bytes, length) : NULL;
}

/* unet_packet_fn.  The channel says nothing that the packet's authentication code does not. */
static void packet_arrived(void *arg, uint16_t channel, const void *bytes, size_t length,
                           bool marked)
{
    struct reliable_endpoint *r = arg;
    const uint64_t now = r->turn_now ? r->turn_now : unet_now_us();
    const void *packet = align_packet(r, bytes, length);

    (void)channel;
    reliable_engine_marked(r->engine, marked);
    if (packet)
        reliable_engine_receive(r->engine, now, packet, length);
    else
        r->ni.ep.stats.malformed++;
}

int reliable_datagrams_open(struct reliable_endpoint *r)
{
    r->aligned = malloc(r->buffer_bytes);
    if (!r->aligned)
        return -ENOMEM;
    r->datagrams->attach(r->lower, packet_arrived, r);
    return 0;
}

void reliable_datagrams_close(struct reliable_endpoint *r)
{
    free(r->aligned);
    free(r->unsent_bytes);
}

/* ---- packets to be sent ------------------------------------------------------------------ */

static bool packet_is_probe(const void *packet)
{
    return ((const struct reliable_packet *)packet)->flags & RELIABLE_PACKET_PROBE;
}

/* The engine's next packets, as many as stay there at a time, and as one datagram holds. */
static unsigned batch_collect(struct reliable_endpoint *r, uint64_t now,
                              struct unet_packet packet[RELIABLE_BATCH])
{
    size_t bytes = 0, length = 0;
    unsigned count = 0;
    const void *first;
    uint32_t rank;

    while (count < RELIABLE_BATCH && bytes + length <= RELIABLE_TRAIN_BYTES &&
           (first = reliable_engine_transmit(r->engine, now, &rank, &length)) != NULL) {
        packet[count++] =
            (struct unet_packet){(uint8_t *)first, (uint32_t)length, r->channel_of[rank]};
        if (packet_is_probe(first))
            break;
        length += RELIABLE_HEADROOM;
        bytes += length;
    }
    return count;
}

/* What the network does not take now is copied, because an acknowledgement may free the engine's
 * buffers.  Without memory it is lost, as it might be on the way. */
static void __attribute__((noinline, cold))
unsent_keep(struct reliable_endpoint *r, const struct unet_packet *packet, unsigned count)
{
    const size_t stride = (RELIABLE_HEADROOM + r->buffer_bytes + 7) & ~(size_t)7;

    if (!r->unsent_bytes)
        r->unsent_bytes = malloc(RELIABLE_BATCH * stride);
    if (!r->unsent_bytes)
        return;
    for (unsigned i = 0; i < count; i++) {
        r->unsent[i] = packet[i];
        r->unsent[i].bytes = r->unsent_bytes + i * stride + RELIABLE_HEADROOM;
        memcpy(r->unsent[i].bytes, packet[i].bytes, packet[i].length);
    }
    r->unsent_first = 0;
    r->unsent_end = count;
}

/* False: the network does not take all of that now, either. */
static bool unsent_send(struct reliable_endpoint *r)
{
    const unsigned count = r->unsent_end - r->unsent_first;

    if (count > 0)
        r->unsent_first += r->datagrams->send(r->lower, r->unsent + r->unsent_first, count);
    return r->unsent_first == r->unsent_end;
}

bool reliable_datagrams_send(struct reliable_endpoint *r, uint64_t now)
{
    struct unet_packet packet[RELIABLE_BATCH];
    bool any = false;
    unsigned count;

    while (unsent_send(r) && (count = batch_collect(r, now, packet)) > 0) {
        const unsigned sent = r->datagrams->send(r->lower, packet, count);

        any = true;
        if (sent < count)
            unsent_keep(r, packet + sent, count - sent);
    }
    return any;
}
