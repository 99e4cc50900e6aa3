/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eth.c - frames out, and in from the ring.
 *
 * The kernel puts what arrives into a ring of slots that it shares with us (TPACKET_V2), so
 * looking for arrivals is a load.  A slot belongs to who its status says:
 *
 *   kernel                                  we
 *   ------                                  --
 *   status == TP_STATUS_KERNEL: fill
 *   STORE.release(status, TP_STATUS_USER) (A)   LOAD.acquire(status) & TP_STATUS_USER (B)
 *                                               read
 *                                               STORE.release(status, TP_STATUS_KERNEL)
 */
#include "datagram/eth/eth.h"

#include "core/local.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RING_BYTES = 4 << 20,
    BLOCK_LEAST = 64 << 10,
    SLOT_OVERHEAD = 128,  /* of the kernel's headers in a slot, at least what it needs */
    MESSAGE_MOST = 16384, /* slots for longer frames would be few */
    RECEIVE_MOST = 256,   /* frames taken in at a time */
    SLOT_LEAST = 2048,
};

/* ---- sending -------------------------------------------------------------------------- */

/* A frame that cannot go (the interface is gone, or its MTU was lowered) is lost. */
static unsigned eth_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    for (int tries = 0; tries < 4; tries++) {
        const int n = unet_datagram_submit(de->socket, batch->message, batch->count);

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

/* ---- receiving -------------------------------------------------------------------------- */

static struct tpacket2_hdr *eth_slot(const struct eth_endpoint *ge, uint32_t n)
{
    return (struct tpacket2_hdr *)(ge->ring + (size_t)(n & (ge->slots - 1)) * ge->slot_bytes);
}

/* The loopback interface puts its own address into frames; a peer that reaches us through it has
 * the same address as we. */
static struct datagram_place place_of(const struct eth_endpoint *ge,
                                      const struct sockaddr_ll *sender)
{
    const bool local = sender->sll_ifindex == ge->loopback;
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
    const uint8_t *bytes = (const uint8_t *)slot;
    const struct datagram_place from =
        place_of(ge, (const struct sockaddr_ll *)(bytes + TPACKET_ALIGN(sizeof *slot)));

    if (slot->tp_snaplen < slot->tp_len)
        ge->de.ni.ep.stats.malformed++;
    else
        unet_datagram_arrived(&ge->de, bytes + slot->tp_net, slot->tp_snaplen, &from);
}

static int eth_receive(struct datagram_endpoint *de)
{
    struct eth_endpoint *ge = eth_of(de);
    int count = 0;

    for (; count < RECEIVE_MOST; count++) {
        struct tpacket2_hdr *slot = eth_slot(ge, ge->next);

        if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) /* B */
            break;
        eth_take(ge, slot);
        __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        ge->next++;
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

static uint32_t power_of_two(uint32_t least, uint32_t n)
{
    while (least < n)
        least *= 2;
    return least;
}

static int eth_open_ring(struct eth_endpoint *ge, uint32_t frame_most)
{
    const uint32_t slot = power_of_two(SLOT_LEAST, frame_most + SLOT_OVERHEAD);
    const uint32_t block = power_of_two(BLOCK_LEAST, slot);
    const struct tpacket_req request = {
        .tp_block_size = block,
        .tp_block_nr = RING_BYTES / block,
        .tp_frame_size = slot,
        .tp_frame_nr = RING_BYTES / slot,
    };
    const int version = TPACKET_V2, socket = ge->de.socket;
    void *ring;

    if (setsockopt(socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        return -errno;
    ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
    if (ring == MAP_FAILED)
        return -errno;
    ge->ring = ring;
    ge->slot_bytes = slot;
    ge->slots = RING_BYTES / slot;
    return 0;
}

static int eth_bind(struct datagram_endpoint *de)
{
    const uint32_t header = sizeof(struct unet_frame);
    struct eth_endpoint *ge = eth_of(de);
    int error;

    ge->lock = -1;
    error = unet_eth_open_socket(ge);
    if (error)
        return error;
    de->port = ge->own.port;
    de->message_most = ge->mtu - header < MESSAGE_MOST ? ge->mtu - header : MESSAGE_MOST;
    de->ni.ep.packet_bytes = de->message_most;
    error = eth_open_ring(ge, header + de->message_most);
    return error ? error : unet_eth_bind_socket(ge);
}

static void eth_unbind(struct datagram_endpoint *de)
{
    struct eth_endpoint *ge = eth_of(de);

    if (de->socket < 0)
        return;
    if (ge->ring)
        munmap(ge->ring, RING_BYTES);
    if (ge->lock >= 0)
        close(ge->lock);
    close(de->socket);
}

static uint32_t eth_backlog(struct unet_endpoint *ep, uint32_t length)
{
    (void)length;
    return eth_of(datagram_of(ep))->slots;
}

static const struct unet_datagram_ops eth_datagram_ops = {
    .attach = unet_datagram_attach,
    .send = unet_datagram_send_packets,
    .backlog = eth_backlog,
};

static const struct datagram_transport eth_transport = {
    .ops = &unet_eth_ops,
    .endpoint_bytes = sizeof(struct eth_endpoint),
    .bind = eth_bind,
    .unbind = eth_unbind,
    .resolve = unet_eth_resolve,
    .send = eth_send,
    .say = unet_datagram_say,
    .receive = eth_receive,
    .probe = eth_probe,
};

static int eth_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_datagram_open(&eth_transport, config, endpoint);
}

static const struct unet_remedy eth_remedies[] = {
    {-EPERM,
     "raw Ethernet needs CAP_NET_RAW on every node: setcap cap_net_raw+ep PROGRAM, or root"},
    {-ENODEV, UNET_INTERFACE_NAMES "an interface of every node, or be auto"},
    {-EINVAL, UNET_INTERFACE_NAMES "an Ethernet"},
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
