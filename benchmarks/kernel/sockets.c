/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sockets.c - UDP, TCP and packet sockets.  Nobody sleeps: receivers look again and again.
 */
#include "kernel.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* True if it is done; false: not now. */
static bool done(ssize_t result, const char *what)
{
    if (result < 0 && errno != EAGAIN && errno != ENOBUFS)
        die(what);
    return result >= 0;
}

static void ask(int fd, unsigned long what, struct ifreq *request)
{
    *request = (struct ifreq){0};
    strncpy(request->ifr_name, interface, sizeof request->ifr_name - 1);
    if (ioctl(fd, what, request) < 0)
        die(interface);
}

/* A socket at our address, and the other side's address. */
static int bind_socket(int kind, struct sockaddr_in *theirs)
{
    const int fd = socket(AF_INET, kind, 0);
    struct sockaddr_in own;
    socklen_t length = sizeof own;
    uint8_t mine[BLOB] = {0}, blob[BLOB];
    struct ifreq request;

    ask(fd, SIOCGIFADDR, &request);
    memcpy(&own, &request.ifr_addr, sizeof own);
    if (bind(fd, (const struct sockaddr *)&own, sizeof own) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &length) < 0)
        die("bind");
    if (kind == SOCK_STREAM && side == 0 && listen(fd, 1) < 0)
        die("listen");
    memcpy(mine, &own, sizeof own);
    exchange(mine, blob);
    memcpy(theirs, blob, sizeof *theirs);
    return fd;
}

/* ---- UDP ---------------------------------------------------------------------------------------
 */

static int udp;

static void open_udp(void)
{
    struct sockaddr_in theirs;

    udp = bind_socket(SOCK_DGRAM, &theirs);
    if (connect(udp, (const struct sockaddr *)&theirs, sizeof theirs) < 0)
        die("connect");
}

static bool put_udp(uint32_t length)
{
    return done(send(udp, payload, length, MSG_DONTWAIT), "send");
}

static bool take_udp(uint32_t length)
{
    return done(recv(udp, landing, length, MSG_DONTWAIT), "recv");
}

const struct method udp_method = {"udp", true, open_udp, put_udp, take_udp};

/* ---- TCP ---------------------------------------------------------------------------------------
 */

static int tcp;
static uint32_t tcp_sent, tcp_came; /* of the message that is under way */

static void open_tcp(void)
{
    struct sockaddr_in theirs;
    const int on = 1, fd = bind_socket(SOCK_STREAM, &theirs);

    tcp = fd;
    if (side == 1 && connect(fd, (const struct sockaddr *)&theirs, sizeof theirs) < 0)
        die("connect");
    if (side == 0)
        tcp = accept(fd, NULL, NULL);
    if (tcp < 0 || setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        die("connection");
}

/* True once the whole message is through. */
static bool advance(uint32_t *at, ssize_t more, uint32_t length, const char *what)
{
    if (!done(more, what))
        return false;
    *at += (uint32_t)more;
    if (*at < length)
        return false;
    *at = 0;
    return true;
}

static bool put_tcp(uint32_t length)
{
    return advance(&tcp_sent, send(tcp, payload + tcp_sent, length - tcp_sent, MSG_DONTWAIT),
                   length, "send");
}

static bool take_tcp(uint32_t length)
{
    return advance(&tcp_came, recv(tcp, landing + tcp_came, length - tcp_came, MSG_DONTWAIT),
                   length, "recv");
}

const struct method tcp_method = {"tcp", true, open_tcp, put_tcp, take_tcp};

/* ---- packet sockets with a ring of arrivals
 * -------------------------------------------------------- */

enum { RING_SLOTS = 256, SLOT_BYTES = 2048, ETHERTYPE = 0x88b6 };

static int packet;
static struct sockaddr_ll far_end;
static uint8_t *ring;
static uint32_t next_slot;

static void open_ring(void)
{
    const struct tpacket_req request = {.tp_block_size = 1 << 16,
                                        .tp_block_nr = RING_SLOTS * SLOT_BYTES >> 16,
                                        .tp_frame_size = SLOT_BYTES,
                                        .tp_frame_nr = RING_SLOTS};
    const int version = TPACKET_V2, on = 1;

    setsockopt(packet, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(packet, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(packet, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        die("ring");
    ring = mmap(NULL, RING_SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, packet, 0);
    if (ring == MAP_FAILED)
        die("ring");
}

static void open_packet(void)
{
    uint8_t mine[BLOB] = {0}, theirs[BLOB];
    struct ifreq request;

    packet = socket(AF_PACKET, SOCK_DGRAM, 0);
    ask(packet, SIOCGIFHWADDR, &request);
    memcpy(mine, request.ifr_hwaddr.sa_data, ETH_ALEN);
    exchange(mine, theirs);
    far_end = (struct sockaddr_ll){.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETHERTYPE),
                                   .sll_ifindex = (int)if_nametoindex(interface),
                                   .sll_halen = ETH_ALEN};
    memcpy(far_end.sll_addr, theirs, ETH_ALEN);
    open_ring();
    if (bind(packet, (struct sockaddr *)&far_end, sizeof far_end) < 0)
        die("packet socket");
    meet();
}

static bool put_packet(uint32_t length)
{
    return done(
        sendto(packet, payload, length, MSG_DONTWAIT, (struct sockaddr *)&far_end, sizeof far_end),
        "sendto");
}

static bool take_packet(uint32_t length)
{
    struct tpacket2_hdr *slot = (struct tpacket2_hdr *)(ring + next_slot * SLOT_BYTES);

    if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
        return false;
    memcpy(landing, (uint8_t *)slot + slot->tp_net, length);
    __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    next_slot = (next_slot + 1) % RING_SLOTS;
    return true;
}

const struct method packet_method = {"packet", true, open_packet, put_packet, take_packet};
