/* SPDX-License-Identifier: BSD-3-Clause
 *
 * super.c - super-frames: many frames as one, by a second socket.
 *
 * The kernel carries a packet of up to 64 KiB in one piece, and it or the network card cuts that
 * on the way out (PACKET_VNET_HDR).  It cuts nothing but TCP and UDP, so the frames stand, one
 * behind the other, in what looks like a UDP packet.  Its IP addresses are of the network 0.0.0.0/8
 * (RFC 1122, "this host on this network"): an Ethernet carries it like any other, but no host takes
 * it for its own, no router passes it on, and nobody answers by ICMP.  Our second packet socket
 * takes what has our Ethernet address and our port.
 *
 * What arrives cut fits into the slots of that socket's ring.  What arrives whole does not: a slot
 * then says that it is in the socket's queue (PACKET_COPY_THRESH).
 *
 * Whether a peer can take super-frames, and the network carries them both ways, shows by trying: an
 * OPEN goes this way, too, and is answered the way it came.  A network that filters our addresses
 * in one direction lets no such answer through.  An answer may also be missing because the peer had
 * not opened its second socket yet, or by loss; so whoever has a train to send asks again, more and
 * more rarely.
 */
#include "datagram/eth/eth.h"

#include "core/local.h"

#include <endian.h>
#include <errno.h>
#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    SUPER_MOST = 65535, /* bytes of an IP packet */
    SUPER_ROOM = SUPER_MOST + sizeof(struct virtio_net_hdr) + ETH_HLEN,
    TRAIN_FRAME_LEAST = 256,  /* shorter frames are not worth the headers */
    ASK_FIRST_US = 1000,      /* until a peer is asked again whether super-frames pass, */
    ASK_MOST_US = 1024000,    /* at first, and when it has been asked often */
    BUFFER_BYTES = 8 << 20,   /* of what waits, whole; the kernel may grant less */
    OUR_ADDRESS = 0x00554e45, /* in 0.0.0.0/8 */
};

enum { GSO_UDP_L4 = 5 }; /* VIRTIO_NET_HDR_GSO_UDP_L4, which Linux knows since 6.2 */

/* What stands in front of the frames; all but `virtio` is on the network. */
struct super_header {
    struct virtio_net_hdr virtio;
    struct ethhdr ethernet;
    struct iphdr ip;
    struct udphdr udp;
} __attribute__((packed));

_Static_assert(sizeof(struct iphdr) + sizeof(struct udphdr) == ETH_SUPER_OVERHEAD, "no options");

/* ---- headers ------------------------------------------------------------------------------ */

/* The sum of 16-bit words of RFC 1071, before it is complemented. */
static uint32_t sum_words(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint32_t sum = 0;

    for (size_t i = 0; i < length; i += 2)
        sum += (uint32_t)at[i] << 8 | at[i + 1];
    return sum;
}

static uint16_t sum_fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

/* For frames of so many bytes in all to a peer's port. */
static void header_fill(struct super_header *h, const struct eth_endpoint *ge,
                        const struct datagram_place *to, uint16_t to_port, size_t length)
{
    *h = (struct super_header){
        .ethernet = {.h_proto = htons(ETH_P_IP)},
        .ip = {.version = 4,
               .ihl = sizeof h->ip / 4,
               .tot_len = htons((uint16_t)(ETH_SUPER_OVERHEAD + length)),
               .frag_off = htons(IP_DF),
               .ttl = 1,
               .protocol = IPPROTO_UDP,
               .saddr = htonl(OUR_ADDRESS),
               .daddr = htonl(OUR_ADDRESS)},
        .udp = {.source = htons(ge->own.port),
                .dest = htons(to_port),
                .len = htons((uint16_t)(sizeof h->udp + length))},
    };
    memcpy(h->ethernet.h_dest, to->eth.sll_addr, ETH_ALEN);
    memcpy(h->ethernet.h_source, ge->own.mac, ETH_ALEN);
    h->ip.check = htons((uint16_t)~sum_fold(sum_words(&h->ip, sizeof h->ip)));
}

/* To be cut into segments: whoever does it completes the checksum, which begins with that of the
 * addresses. */
static void header_cut(struct super_header *h, uint32_t segment)
{
    const uint32_t addresses = sum_words(&h->ip.saddr, 2 * sizeof h->ip.saddr);

    h->udp.check = htons(sum_fold(addresses + IPPROTO_UDP + ntohs(h->udp.len)));
    h->virtio = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = GSO_UDP_L4,
        .hdr_len = htole16(ETH_HLEN + ETH_SUPER_OVERHEAD),
        .gso_size = htole16((uint16_t)segment),
        .csum_start = htole16(ETH_HLEN + sizeof h->ip),
        .csum_offset = htole16(offsetof(struct udphdr, check)),
    };
}

static struct sockaddr_ll place_by_ip(const struct datagram_place *to)
{
    struct sockaddr_ll place = to->eth;

    place.sll_protocol = htons(ETH_P_IP);
    return place;
}

/* ---- sending ------------------------------------------------------------------------------ */

static void __attribute__((noinline, cold))
super_ask(const struct eth_endpoint *ge, struct datagram_link *link)
{
    const struct unet_frame frame =
        unet_datagram_control_frame(&ge->de, link, UNET_FRAME_OPEN, 0, link->life);
    const uint64_t now = unet_now_us();

    if (now < link->super_ask)
        return;
    if (link->super_pause < ASK_MOST_US)
        link->super_pause = link->super_pause ? 2 * link->super_pause : ASK_FIRST_US;
    link->super_ask = now + link->super_pause;
    unet_eth_super_say(ge, &link->peer, &frame);
}

unsigned unet_eth_super_frames(const struct eth_endpoint *ge, const struct datagram_batch *b,
                               unsigned first)
{
    const struct datagram_link *link = datagram_link_of(b, first);

    if (ge->super < 0 || !link->super || b->bytes[first] < TRAIN_FRAME_LEAST ||
        !unet_datagram_train_allowed(b, first))
        return 1;
    return unet_datagram_train_frames(b, first, SUPER_MOST - ETH_SUPER_OVERHEAD);
}

void unet_eth_super_want(const struct eth_endpoint *ge, const struct datagram_batch *b)
{
    struct datagram_link *link = datagram_link_of(b, 0);

    if (!link->super && b->count > 1 && b->bytes[0] >= TRAIN_FRAME_LEAST &&
        unet_datagram_same_peer(b, 0, 1))
        super_ask(ge, link);
}

/* Errors of sendmsg.  Where the kernel does not cut, frames go in another way from now on. */
static int super_failed(struct eth_endpoint *ge, struct datagram_link *link, unsigned frames)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return 0;
    if (errno == ENOBUFS)
        return unet_datagram_no_room(&ge->de) ? (int)frames : 0;
    if (!unet_datagram_train_refused(errno))
        return (int)frames; /* lost: the interface is gone, or down */
    unet_datagram_train_refuse(link);
    return -1;
}

static uint32_t bytes_of(const struct datagram_batch *b, unsigned frames)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < frames; i++)
        sum += b->bytes[i];
    return sum;
}

int unet_eth_super_send(struct eth_endpoint *ge, const struct datagram_batch *b, unsigned frames)
{
    struct datagram_link *link = datagram_link_of(b, 0);
    struct sockaddr_ll to = place_by_ip(&link->peer);
    struct super_header header;
    struct iovec piece[1 + DATAGRAM_PIECES];
    struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = piece};

    piece[0] = (struct iovec){&header, sizeof header};
    message.msg_iovlen = 1 + unet_datagram_train_gather(b, 0, frames, piece + 1);
    header_fill(&header, ge, &link->peer, link->peer_port, bytes_of(b, frames));
    header_cut(&header, b->bytes[0]);
    if (sendmsg(ge->super, &message, 0) < 0)
        return super_failed(ge, link, frames);
    ge->de.no_room = 0;
    return (int)frames;
}

void unet_eth_super_say(const struct eth_endpoint *ge, const struct datagram_place *to,
                        const struct unet_frame *frame)
{
    struct sockaddr_ll place = place_by_ip(to);
    struct super_header header;
    struct iovec piece[2] = {{&header, sizeof header}, {(void *)frame, sizeof *frame}};
    const struct msghdr message = {
        .msg_name = &place, .msg_namelen = sizeof place, .msg_iov = piece, .msg_iovlen = 2};

    header_fill(&header, ge, to, frame->to_port, sizeof *frame);
    sendmsg(ge->super, &message, 0); /* if it gets lost, frames go one by one for a while */
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* An answer to our OPEN comes this way if that has come there this way. */
static void super_heard(struct eth_endpoint *ge, const uint8_t *bytes, size_t length,
                        const struct datagram_place *from)
{
    struct unet_frame frame;
    struct datagram_link *link;

    if (length < sizeof frame)
        return;
    memcpy(&frame, bytes, sizeof frame);
    link = &ge->de.link[unet_datagram_find(&ge->de, frame.key)];
    if (frame.kind == UNET_FRAME_OPENED && frame.life == link->life &&
        link->peer_port == frame.from_port && unet_datagram_same(&link->peer, from))
        link->super = true;
}

/* A packet of so many bytes; the filter has seen that its headers have no options.  What the IP
 * header does not count is padding. */
static int super_packet_arrived(struct eth_endpoint *ge, const uint8_t *packet, size_t length,
                                const struct datagram_place *from)
{
    struct iphdr ip;
    size_t bytes;
    int count;

    memset(&ip, 0, sizeof ip);
    if (length >= ETH_SUPER_OVERHEAD)
        memcpy(&ip, packet, sizeof ip);
    bytes = ntohs(ip.tot_len);
    if (bytes > length || bytes <= ETH_SUPER_OVERHEAD) {
        ge->de.ni.ep.stats.malformed++;
        return 0;
    }
    bytes -= ETH_SUPER_OVERHEAD;
    super_heard(ge, packet + ETH_SUPER_OVERHEAD, bytes, from);
    ge->answers_by_super = true;
    count = unet_datagram_train_arrived(&ge->de, packet + ETH_SUPER_OVERHEAD, bytes, from);
    ge->answers_by_super = false;
    return count;
}

/* A packet that is longer than a slot; if there was no room for it in the queue, it is lost.  There
 * it begins with a `struct virtio_net_hdr`. */
static int super_whole_arrived(struct eth_endpoint *ge, const struct tpacket2_hdr *slot,
                               const struct datagram_place *from)
{
    const size_t front = offsetof(struct super_header, ip);
    ssize_t n = -1;

    if (!(slot->tp_status & TP_STATUS_COPY)) {
        ge->de.ni.ep.stats.overruns++;
        return 0;
    }
    /* An error of the interface comes instead of a packet, once. */
    for (int tries = 0; n < 0 && tries < 2; tries++)
        n = recv(ge->super, ge->super_bytes, SUPER_ROOM, MSG_DONTWAIT);
    if (n < (ssize_t)front) {
        ge->de.ni.ep.stats.malformed++;
        return 0;
    }
    return super_packet_arrived(ge, ge->super_bytes + front, (size_t)n - front, from);
}

static int super_cut_arrived(struct eth_endpoint *ge, const struct tpacket2_hdr *slot,
                             const struct datagram_place *from)
{
    const uint32_t front = (uint32_t)slot->tp_net - slot->tp_mac;

    const uint32_t bytes = slot->tp_snaplen > front ? slot->tp_snaplen - front : 0;

    return super_packet_arrived(ge, (const uint8_t *)slot + slot->tp_net, bytes, from);
}

int unet_eth_super_take(struct eth_endpoint *ge, struct tpacket2_hdr *slot)
{
    const struct datagram_place from = unet_eth_place_of(ge, slot);
    const int count = slot->tp_snaplen < slot->tp_len ? super_whole_arrived(ge, slot, &from)
                                                      : super_cut_arrived(ge, slot, &from);

    unet_packet_ring_release(&ge->super_ring, slot);
    return count > 0 ? count : 1;
}

/* Of those that arrive whole; the ring has room for more that are cut. */
uint32_t unet_eth_super_backlog(const struct eth_endpoint *ge, uint32_t length)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;

    if (ge->super < 0)
        return UINT32_MAX;
    if (getsockopt(ge->super, SOL_SOCKET, SO_RCVBUF, &bytes, &size) < 0)
        return 1;
    return 1 + (uint32_t)bytes / (length + length / 4);
}

/* ---- opening ------------------------------------------------------------------------------ */

/* In a filter, behind the Ethernet header. */
#define IP_OFFSET(n) ((uint32_t)(SKF_NET_OFF + (int)(n)))

/* UDP packets without IP options, whole, between the addresses of super-frames, to our port. */
static int super_set_filter(const struct eth_endpoint *ge)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP_OFFSET(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x45, 0, 11),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IP_OFFSET(offsetof(struct iphdr, frag_off))),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, IP_MF | IP_OFFMASK, 9, 0),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP_OFFSET(offsetof(struct iphdr, protocol))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP_OFFSET(offsetof(struct iphdr, saddr))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ADDRESS, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP_OFFSET(offsetof(struct iphdr, daddr))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ADDRESS, 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS,
                 IP_OFFSET(sizeof(struct iphdr) + offsetof(struct udphdr, dest))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ge->own.port, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };

    return unet_packet_set_filter(ge->super, &ge->interface, code, sizeof code / sizeof *code);
}

static bool super_set_options(int socket)
{
    const int on = 1, bytes = BUFFER_BYTES;

    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return setsockopt(socket, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) == 0 &&
           setsockopt(socket, SOL_PACKET, PACKET_COPY_THRESH, &on, sizeof on) == 0;
}

static bool super_open_ring(struct eth_endpoint *ge)
{
    const uint32_t most =
        ETH_SUPER_OVERHEAD + (uint32_t)sizeof(struct unet_frame) + ge->de.message_most;

    ge->super_bytes = malloc(SUPER_ROOM);
    return ge->super_bytes &&
           unet_packet_ring_open(&ge->super_ring, ge->super, ETH_RING_BYTES, most) == 0;
}

static bool super_bind(const struct eth_endpoint *ge)
{
    const struct sockaddr_ll any = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};

    return bind(ge->super, (const struct sockaddr *)&any, sizeof any) == 0;
}

/* Who sleeps is woken by both sockets. */
static bool super_watch(struct eth_endpoint *ge)
{
    const int fd[2] = {ge->de.socket, ge->super};

    if (ge->de.ni.ep.config.polled)
        return true;
    ge->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        if (ge->epoll < 0 || epoll_ctl(ge->epoll, EPOLL_CTL_ADD, fd[i], &event) < 0)
            return false;
    }
    ge->de.ni.ep.fd = ge->de.wake = ge->epoll;
    return true;
}

int unet_eth_super_setting(bool *wanted)
{
    const char *setting = getenv("UNET_ETH_SUPER");

    *wanted = !setting || strcmp(setting, "0") != 0;
    return *wanted && setting && strcmp(setting, "1") != 0 ? -EDOM : 0;
}

void unet_eth_super_open(struct eth_endpoint *ge)
{
    bool wanted;

    (void)unet_eth_super_setting(&wanted); /* what makes no sense has been refused */
    if (!wanted)
        return;
    ge->super = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ge->super >= 0 && !(super_set_options(ge->super) && super_open_ring(ge) &&
                            super_set_filter(ge) == 0 && super_bind(ge) && super_watch(ge)))
        unet_eth_super_close(ge);
}

void unet_eth_super_close(struct eth_endpoint *ge)
{
    unet_packet_ring_close(&ge->super_ring);
    free(ge->super_bytes);
    ge->super_bytes = NULL;
    if (ge->super >= 0)
        close(ge->super);
    if (ge->epoll >= 0)
        close(ge->epoll);
    ge->super = ge->epoll = -1;
}
