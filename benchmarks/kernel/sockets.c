/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sockets.c - UDP, TCP and packet sockets.  Nobody sleeps: receivers look again and again.
 */
#include "kernel.h"

#include "../net/packet_port.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* ---- UDP ---------------------------------------------------------------------------------- */

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

/* ---- TCP ---------------------------------------------------------------------------------- */

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

/* ---- packet sockets ----------------------------------------------------------------------- */

static struct packet_port packet;

static void open_packet(void)
{
    uint8_t mine[BLOB] = {0}, theirs[BLOB];
    const char *failed = packet_port_open(&packet, interface, mine);

    if (failed)
        die(failed);
    exchange(mine, theirs);
    failed = packet_port_connect(&packet, theirs);
    if (failed)
        die(failed);
    meet();
}

static bool put_packet(uint32_t length)
{
    return done(packet_port_send(&packet, payload, length, MSG_DONTWAIT), "sendto");
}

static bool take_packet(uint32_t length)
{
    return packet_port_take(&packet, landing, length);
}

const struct method packet_method = {"packet", true, open_packet, put_packet, take_packet};
