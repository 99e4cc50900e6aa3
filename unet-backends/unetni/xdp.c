/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xdp.c - the wire that is an Ethernet interface by AF_XDP: frames lie in memory that the service
 * shares with the kernel or the card.
 *
 * The packet socket of packet.c stays beside it.  By that come and go frames of those at our own
 * address, whom no card reaches, and by that come frames that the program lets pass: for queues
 * without a socket, or longer than a buffer.  So what works over one wire works over the other.
 *
 * The memory is cut into buffers.  The lower half is filled by arrivals; those of the upper half
 * are composed for sending, and come back by the completion ring.
 */
#include "unetni/xdp.h"
#include "unetni/unetni.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <xdp/xsk.h>

enum {
    SLOTS = 2048, /* of each ring, and buffers of each half */
    RECEIVE_MOST = 256,
    KICKS_MOST = 256, /* system calls that one batch may need; each takes some 32 frames */
    HEADROOM = 256,   /* XDP_PACKET_HEADROOM, which the kernel keeps in front of an arrival */
    QUEUE = 0,
    QUEUE_NAP_NS = 20000000, /* between two tries to get it, ... */
    QUEUE_TRIES = 100,       /* ... of so many */
};

struct unetni_xdp {
    struct xdp_program program;
    struct xsk_umem *umem;
    struct xsk_socket *socket;
    struct xsk_ring_prod fill, tx;
    struct xsk_ring_cons rx, completion;
    uint8_t *memory;
    uint32_t buffer_bytes;
    uint32_t idle_count;  /* buffers that may be sent from */
    uint64_t idle[SLOTS]; /* their addresses */
    bool down;            /* the interface is, or is gone */
    bool owes_kick;       /* the kernel has not taken all that was submitted */
};

/* ---- sending ------------------------------------------------------------------------------ */

static void reap(struct unetni_xdp *x)
{
    uint32_t at;
    const uint32_t count = xsk_ring_cons__peek(&x->completion, SLOTS, &at);

    for (uint32_t i = 0; i < count; i++)
        x->idle[x->idle_count++] = *xsk_ring_cons__comp_addr(&x->completion, at + i);
    xsk_ring_cons__release(&x->completion, count);
}

static bool is_busy(int error)
{
    return error == EAGAIN || error == EBUSY || error == ENOBUFS || error == EINTR;
}

/* Have the kernel send.  An interface that is down takes nothing, and sends it when it is up. */
static void kick(struct unetni_xdp *x)
{
    x->owes_kick = x->down = false;
    if (!xsk_ring_prod__needs_wakeup(&x->tx))
        return;
    for (unsigned tries = 0; tries < KICKS_MOST; tries++) {
        if (sendto(xsk_socket__fd(x->socket), NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0)
            return;
        if (!is_busy(errno)) {
            x->down = true;
            return;
        }
        reap(x);
    }
    x->owes_kick = true;
}

/* Ethernets carry no shorter frames than ETH_ZLEN. */
static uint32_t frame_compose(const struct unetni_wire *wire, const struct msghdr *message,
                              uint8_t *frame)
{
    const union unetni_place *to = message->msg_name;
    struct ether_header *header = (struct ether_header *)frame;
    uint32_t length = sizeof *header;

    memcpy(header->ether_dhost, to->packet.sll_addr, ETH_ALEN);
    memcpy(header->ether_shost, wire->own, ETH_ALEN);
    header->ether_type = htons(UNET_ETHERTYPE);
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        memcpy(frame + length, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
        length += (uint32_t)message->msg_iov[i].iov_len;
    }
    if (length >= ETH_ZLEN)
        return length;
    memset(frame + length, 0, ETH_ZLEN - length);
    return ETH_ZLEN;
}

static bool frame_put(struct unetni_wire *wire, const struct msghdr *message)
{
    struct unetni_xdp *x = wire->xdp;
    struct xdp_desc *desc;
    uint32_t at;

    if (x->idle_count == 0)
        reap(x);
    if (x->idle_count == 0 || xsk_ring_prod__reserve(&x->tx, 1, &at) == 0)
        return false;
    desc = xsk_ring_prod__tx_desc(&x->tx, at);
    desc->addr = x->idle[--x->idle_count];
    desc->len = frame_compose(wire, message, x->memory + desc->addr);
    desc->options = 0;
    xsk_ring_prod__submit(&x->tx, 1);
    return true;
}

static bool is_beside(const struct unetni_wire *wire, const struct msghdr *message)
{
    return ((const union unetni_place *)message->msg_name)->packet.sll_ifindex != wire->at.index;
}

/* Frames of one kind: those to our own address go by the packet socket.  When the ring is full and
 * the interface down, frames are lost, as by a packet socket: their senders do not wait for it. */
static int xdp_send(struct unetni_wire *wire, struct mmsghdr *message, unsigned count)
{
    const bool beside = is_beside(wire, &message->msg_hdr);
    unsigned same = 1, sent = 0;

    while (same < count && is_beside(wire, &message[same].msg_hdr) == beside)
        same++;
    if (beside)
        return unetni_packet_wire.send(wire, message, same);
    while (sent < same && frame_put(wire, &message[sent].msg_hdr))
        sent++;
    kick(wire->xdp);
    if (sent > 0)
        return (int)sent;
    errno = wire->xdp->down ? ENETDOWN : EAGAIN;
    return -1;
}

/* ---- receiving ---------------------------------------------------------------------------- */

static void frame_take(struct unetni_service *s, const uint8_t *frame, uint32_t length)
{
    const struct ether_header *header = (const struct ether_header *)frame;

    if (length < sizeof *header)
        s->malformed++;
    else
        unetni_receive(s, frame + sizeof *header, length - sizeof *header, header->ether_shost);
}

/* As many are given back as are taken, so there is room for them. */
static unsigned frames_receive(struct unetni_service *s)
{
    struct unetni_xdp *x = s->wire.xdp;
    uint32_t at, to = 0;
    const uint32_t count = xsk_ring_cons__peek(&x->rx, RECEIVE_MOST, &at);

    if (count == 0)
        return 0;
    xsk_ring_prod__reserve(&x->fill, count, &to);
    for (uint32_t i = 0; i < count; i++) {
        const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&x->rx, at + i);

        frame_take(s, x->memory + desc->addr, desc->len);
        *xsk_ring_prod__fill_addr(&x->fill, to + i) =
            desc->addr / x->buffer_bytes * x->buffer_bytes;
    }
    xsk_ring_cons__release(&x->rx, count);
    xsk_ring_prod__submit(&x->fill, count);
    if (xsk_ring_prod__needs_wakeup(&x->fill))
        recvfrom(xsk_socket__fd(x->socket), NULL, 0, MSG_DONTWAIT, NULL, NULL);
    return count;
}

/* What the kernel has not taken yet is something to do, too. */
static unsigned xdp_receive(struct unetni_service *s)
{
    const unsigned count = frames_receive(s) + unetni_packet_wire.receive(s);

    if (!s->wire.xdp->owes_kick)
        return count;
    kick(s->wire.xdp);
    return count + 1;
}

/* ---- ports -------------------------------------------------------------------------------- */

static int xdp_take_port(const struct unetni_wire *wire, uint16_t port, int *lock)
{
    int error = unetni_packet_wire.take_port(wire, port, lock);

    if (error)
        return error;
    error = xdp_program_set_port(&wire->xdp->program, port, true);
    if (error) {
        close(*lock);
        *lock = -1;
    }
    return error;
}

static void xdp_give_port(const struct unetni_wire *wire, uint16_t port)
{
    xdp_program_set_port(&wire->xdp->program, port, false);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int fail(const struct unetni_wire *wire, int error, const char *what)
{
    errno = -error;
    return unetni_wire_fail(wire, what);
}

static int memory_open(struct unetni_wire *wire)
{
    struct unetni_xdp *x = wire->xdp;
    const struct xsk_umem_config config = {
        .fill_size = SLOTS, .comp_size = SLOTS, .frame_size = x->buffer_bytes};
    const size_t bytes = (size_t)2 * SLOTS * x->buffer_bytes;
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    int error;

    setrlimit(RLIMIT_MEMLOCK, &all); /* without the right to, the limit may still be high enough */
    x->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x->memory == MAP_FAILED) {
        x->memory = NULL;
        return fail(wire, -ENOMEM, "no memory for frames");
    }
    error = xsk_umem__create(&x->umem, x->memory, bytes, &x->fill, &x->completion, &config);
    return error ? fail(wire, error, "AF_XDP needs CAP_NET_RAW and locked memory (ulimit -l)") : 0;
}

/* The kernel takes a queue away from a process that has ended a while after that, by a worker of
 * its own, and says until then that somebody has it. */
static int socket_create(struct unetni_wire *wire, const struct xsk_socket_config *config)
{
    const struct timespec nap = {0, QUEUE_NAP_NS};
    struct unetni_xdp *x = wire->xdp;
    int error = -EBUSY;

    for (int i = 0; error == -EBUSY && i < QUEUE_TRIES; i++) {
        if (i > 0)
            nanosleep(&nap, NULL);
        error =
            xsk_socket__create(&x->socket, wire->interface, QUEUE, x->umem, &x->rx, &x->tx, config);
    }
    return error;
}

/* The kernel copies nothing where the card's driver can do without, and otherwise does. */
static int socket_open(struct unetni_wire *wire)
{
    struct unetni_xdp *x = wire->xdp;
    const struct xsk_socket_config config = {.rx_size = SLOTS,
                                             .tx_size = SLOTS,
                                             .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
                                             .bind_flags = XDP_USE_NEED_WAKEUP};
    int error = socket_create(wire, &config);

    if (error)
        return fail(wire, error, "takes no AF_XDP socket (--wire packet needs none)");
    error = xsk_socket__update_xskmap(x->socket, x->program.sockets);
    return error ? fail(wire, error, "cannot be given the AF_XDP socket") : 0;
}

static void buffers_deal(struct unetni_xdp *x)
{
    uint32_t at = 0;

    xsk_ring_prod__reserve(&x->fill, SLOTS, &at);
    for (uint64_t i = 0; i < SLOTS; i++) {
        *xsk_ring_prod__fill_addr(&x->fill, at + (uint32_t)i) = i * x->buffer_bytes;
        x->idle[i] = (SLOTS + i) * x->buffer_bytes;
    }
    x->idle_count = SLOTS;
    xsk_ring_prod__submit(&x->fill, SLOTS);
}

/* Messages are as long as the MTU allows and a buffer. */
static void buffers_size(struct unetni_wire *wire)
{
    const uint32_t headers = ETH_HLEN + (uint32_t)sizeof(struct unet_frame);
    const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    uint32_t *bytes = &wire->xdp->buffer_bytes;

    for (*bytes = 2048; *bytes < page && *bytes < HEADROOM + headers + wire->message_most;)
        *bytes *= 2;
    if (wire->message_most > *bytes - HEADROOM - headers)
        wire->message_most = *bytes - HEADROOM - headers;
}

static int xdp_open(struct unetni_wire *wire)
{
    int error = unetni_packet_wire.open(wire);
    const char *why;

    if (error)
        return error;
    if (wire->at.index == wire->at.loopback) {
        errno = EINVAL;
        return unetni_wire_fail(wire, "has no AF_XDP (--wire packet works there)");
    }
    wire->xdp = calloc(1, sizeof *wire->xdp);
    if (!wire->xdp)
        return unetni_wire_fail(wire, "no memory for frames");
    wire->xdp->program = (struct xdp_program){-1, -1, -1, -1};
    buffers_size(wire);
    why = xdp_program_open(&wire->xdp->program, wire->at.index, wire->own,
                           wire->xdp->buffer_bytes - HEADROOM);
    if (why)
        return unetni_wire_fail(wire, why);
    error = memory_open(wire);
    if (error == 0)
        error = socket_open(wire);
    if (error)
        return error;
    buffers_deal(wire->xdp);
    wire->second = xsk_socket__fd(wire->xdp->socket);
    return 0;
}

static void xdp_close(struct unetni_wire *wire)
{
    struct unetni_xdp *x = wire->xdp;

    if (x) {
        xdp_program_close(&x->program);
        if (x->socket)
            xsk_socket__delete(x->socket);
        if (x->umem)
            xsk_umem__delete(x->umem);
        if (x->memory)
            munmap(x->memory, (size_t)2 * SLOTS * x->buffer_bytes);
        free(x);
    }
    unetni_packet_wire.close(wire);
}

static bool xdp_is_place(const struct unetni_wire *wire, const uint8_t mac[6])
{
    return unetni_packet_wire.is_place(wire, mac);
}

static socklen_t xdp_address(const struct unetni_wire *wire, const uint8_t mac[6],
                             union unetni_place *place)
{
    return unetni_packet_wire.address(wire, mac, place);
}

static bool xdp_nobody_has(const struct unetni_wire *wire, uint16_t port)
{
    return unetni_packet_wire.nobody_has(wire, port);
}

const struct unetni_wire_ops unetni_xdp_wire = {
    .name = "xdp",
    .open = xdp_open,
    .close = xdp_close,
    .is_place = xdp_is_place,
    .address = xdp_address,
    .take_port = xdp_take_port,
    .give_port = xdp_give_port,
    .nobody_has = xdp_nobody_has,
    .send = xdp_send,
    .receive = xdp_receive,
};
