/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eth.c - frames out, and in from the ring.
 */
#include "datagram/eth/eth.h"

#include "core/local.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    MESSAGE_MOST = 16384, /* slots for longer frames would be few */
    RECEIVE_MOST = 256,   /* frames taken in at a time, but for the rest of a super-frame */
};

/* ---- sending -------------------------------------------------------------------------- */

/* A frame that cannot go (the interface is gone, or its MTU was lowered) is lost. */
static unsigned eth_send_frames(struct datagram_endpoint *de, struct datagram_batch *batch,
                                unsigned count)
{
    for (int tries = 0; tries < 4; tries++) {
        const int n = unet_datagram_submit(de->socket, batch->message, count);

        if (n > 0) {
            de->no_room = 0;
            return (unsigned)n;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return 0;
        if (errno == ENOBUFS)
            return unet_datagram_no_room(de);
        if (errno != EINTR)
            break;
    }
    return 1;
}

/* How many frames go one by one before some follow that go as one. */
static unsigned lone_frames(const struct eth_endpoint *ge, const struct datagram_batch *b)
{
    unsigned count = 0;

    while (count < b->count && unet_eth_super_frames(ge, b, count) == 1)
        count++;
    return count;
}

static unsigned eth_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    struct eth_endpoint *ge = eth_of(de);
    unsigned lone = batch->count;
    int sent;

    if (ge->super >= 0) {
        unet_eth_super_want(ge, batch);
        lone = lone_frames(ge, batch);
    }
    if (lone > 0)
        return eth_send_frames(de, batch, lone);
    sent = unet_eth_super_send(ge, batch, unet_eth_super_frames(ge, batch, 0));
    return sent >= 0 ? (unsigned)sent : eth_send_frames(de, batch, 1);
}

static void eth_say(struct datagram_endpoint *de, const struct datagram_place *to,
                    const struct unet_frame *frame)
{
    const struct eth_endpoint *ge = eth_of(de);

    if (!ge->answers_by_super)
        unet_datagram_say(de, to, frame);
    if (ge->answers_by_super || (ge->super >= 0 && frame->kind == UNET_FRAME_OPEN))
        unet_eth_super_say(ge, to, frame);
}

/* ---- receiving -------------------------------------------------------------------------- */

/* The loopback interface puts its own address into frames; a peer that reaches us through it has
 * the same address as we. */
struct datagram_place unet_eth_place_of(const struct eth_endpoint *ge,
                                        const struct tpacket2_hdr *packet)
{
    const struct sockaddr_ll *sender =
        (const struct sockaddr_ll *)((const uint8_t *)packet + TPACKET_ALIGN(sizeof *packet));
    const bool local = sender->sll_ifindex == ge->interface.loopback;
    struct datagram_place place = {.length = sizeof place.eth};

    place.eth.sll_family = AF_PACKET;
    place.eth.sll_protocol = htons(UNET_ETHERTYPE);
    place.eth.sll_ifindex = sender->sll_ifindex;
    place.eth.sll_halen = ETH_ALEN;
    memcpy(place.eth.sll_addr, local ? ge->own.mac : sender->sll_addr, ETH_ALEN);
    return place;
}

static void eth_take(struct eth_endpoint *ge, const struct tpacket2_hdr *slot)
{
    const struct datagram_place from = unet_eth_place_of(ge, slot);

    if (slot->tp_snaplen < slot->tp_len)
        ge->de.ni.ep.stats.malformed++;
    else
        unet_datagram_arrived(&ge->de, (const uint8_t *)slot + slot->tp_net, slot->tp_snaplen,
                              &from);
}

/* In the order in which the kernel has put them there.  Its clock may be set back; then frames are
 * taken out of order, as on any network. */
static bool slot_is_earlier(const struct tpacket2_hdr *a, const struct tpacket2_hdr *b)
{
    return a->tp_sec != b->tp_sec ? a->tp_sec < b->tp_sec : a->tp_nsec < b->tp_nsec;
}

/* The earliest arrival is that of a super-frame; `*lone` is that of the other ring, if any.  The
 * other ring is looked at again behind a super-frame: what came before that is visible then. */
static struct tpacket2_hdr *super_comes_first(const struct eth_endpoint *ge,
                                              struct tpacket2_hdr **lone)
{
    struct tpacket2_hdr *super = NULL;

    *lone = unet_packet_ring_peek(&ge->ring);
    if (ge->super >= 0)
        super = unet_packet_ring_peek(&ge->super_ring);
    if (super && !*lone)
        *lone = unet_packet_ring_peek(&ge->ring);
    return super && *lone && slot_is_earlier(*lone, super) ? NULL : super;
}

/* A short frame that followed a train must not be taken before it: the receiver would report a gap,
 * and the sender take the train for lost. */
static int eth_receive(struct datagram_endpoint *de)
{
    struct eth_endpoint *ge = eth_of(de);
    int count = 0;

    while (count < RECEIVE_MOST) {
        struct tpacket2_hdr *lone, *super = super_comes_first(ge, &lone);

        if (super) {
            count += unet_eth_super_take(ge, super);
        } else if (lone) {
            eth_take(ge, lone);
            unet_packet_ring_release(&ge->ring, lone);
            count++;
        } else {
            break;
        }
    }
    return count;
}

static void eth_probe(struct datagram_endpoint *de, const uint16_t *asked, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!unet_eth_is_there(eth_of(de), &de->link[asked[i]]))
            unet_datagram_gone(de, asked[i]);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int eth_bind(struct datagram_endpoint *de)
{
    const uint32_t header = sizeof(struct unet_frame);
    struct eth_endpoint *ge = eth_of(de);
    uint32_t most;
    int error;

    ge->lock = ge->super = ge->epoll = -1;
    error = unet_eth_open_socket(ge);
    if (error)
        return error;
    de->port = ge->own.port;
    most = ge->mtu - header - ETH_SUPER_OVERHEAD;
    de->message_most = most < MESSAGE_MOST ? most : MESSAGE_MOST;
    de->ni.ep.packet_bytes = de->message_most;
    error = unet_packet_ring_open(&ge->ring, de->socket, ETH_RING_BYTES,
                                  header + ETH_SUPER_OVERHEAD + de->message_most);
    return error ? error : unet_eth_bind_socket(ge);
}

static void eth_unbind(struct datagram_endpoint *de)
{
    struct eth_endpoint *ge = eth_of(de);

    if (de->socket < 0)
        return;
    unet_eth_super_close(ge);
    unet_packet_ring_close(&ge->ring);
    if (ge->lock >= 0)
        close(ge->lock);
    close(de->socket);
}

static uint32_t eth_backlog(struct unet_endpoint *ep, uint32_t length)
{
    const struct eth_endpoint *ge = eth_of(datagram_of(ep));
    const uint32_t super = unet_eth_super_backlog(ge, length);

    return super < ge->ring.slots ? super : ge->ring.slots;
}

/* Who takes in arrivals past the queues has no use for upcalls, which want to hear of one socket.
 */
static void eth_attach(struct unet_endpoint *ep, unet_packet_fn *fn, void *arg)
{
    unet_datagram_attach(ep, fn, arg);
    if (!ep->config.trains)
        unet_eth_super_open(eth_of(datagram_of(ep)));
}

/* That of our interface, if it has one. */
static int eth_host(const struct unet_endpoint *ep, struct sockaddr_storage *host)
{
    union unet_sockaddr own;

    if (unet_local(ep->interface, &own) != 0)
        return -EOPNOTSUPP;
    memcpy(host, &own, sizeof own);
    return 0;
}

static const struct unet_datagram_ops eth_datagram_ops = {
    .attach = eth_attach,
    .send = unet_datagram_send_packets,
    .backlog = eth_backlog,
    .host = eth_host,
};

static const struct datagram_transport eth_transport = {
    .ops = &unet_eth_ops,
    .endpoint_bytes = sizeof(struct eth_endpoint),
    .bind = eth_bind,
    .unbind = eth_unbind,
    .resolve = unet_eth_resolve,
    .name_opening = unet_datagram_name_opening,
    .send = eth_send,
    .say = eth_say,
    .receive = eth_receive,
    .probe = eth_probe,
};

static int eth_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    bool super;
    int error = unet_eth_super_setting(&super);

    if (error == 0)
        error = unet_datagram_open(&eth_transport, config, endpoint);
    if (error == 0 && config->trains)
        unet_eth_super_open(eth_of(datagram_of(*endpoint)));
    return error;
}

static const struct unet_remedy eth_remedies[] = {
    {-EPERM,
     "raw Ethernet needs CAP_NET_RAW on every node: setcap cap_net_raw+ep PROGRAM, or root"},
    {-ENODEV, UNET_INTERFACE_NAMES "an interface of every node, or be auto"},
    {-EINVAL, UNET_INTERFACE_NAMES "an Ethernet"},
    {-EDOM, "UNET_ETH_SUPER has to be 1, or 0 to have no frames that are many in one"},
    {-EADDRINUSE, "all 32768 ports of the interface have owners: end some (ss -xap, @unet-eth)"},
    {0, NULL}};

const struct unet_ops unet_eth_ops = {
    .name = "eth",
    .network = true,
    .remedies = eth_remedies,
    .open = eth_open,
    .close = unet_datagram_close,
    .address = unet_ni_address,
    .connect = unet_datagram_connect,
    .disconnect = unet_datagram_disconnect,
    .state = unet_datagram_state,
    .kick = unet_datagram_kick,
    .progress = unet_datagram_progress,
    .wait = unet_ni_wait,
    .datagrams = &eth_datagram_ops,
};
