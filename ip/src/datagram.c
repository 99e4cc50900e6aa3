/* SPDX-License-Identifier: BSD-3-Clause
 *
 * datagram.c - UDP sockets over lwIP's raw interface.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { DATAGRAM_MAX = 65507 }; /* what IPv4 has room for */

static struct ip_datagram *datagram_at(const struct ip_socket *s, uint32_t n)
{
    return &s->datagram[n & (IP_DATAGRAMS - 1)];
}

static void datagram_received(void *arg, struct udp_pcb *pcb, struct pbuf *p,
                              const ip_addr_t *address, u16_t port)
{
    struct ip_socket *s = arg;

    (void)pcb;
    if (s->datagram_head - s->datagram_tail == IP_DATAGRAMS) {
        s->stack->stats.overruns++;
        pbuf_free(p);
        return;
    }
    *datagram_at(s, s->datagram_head) = (struct ip_datagram){p, *address, port};
    s->datagram_head++;
}

int ip_datagram_open(struct ip_socket *s)
{
    s->datagram = calloc(IP_DATAGRAMS, sizeof *s->datagram);
    s->udp = s->datagram ? udp_new_ip_type(IPADDR_TYPE_V4) : NULL;
    if (!s->udp) {
        free(s->datagram);
        return -ENOMEM;
    }
    udp_recv(s->udp, datagram_received, s);
    return 0;
}

void ip_datagram_close(struct ip_socket *s)
{
    udp_remove(s->udp);
    while (s->datagram_tail != s->datagram_head)
        pbuf_free(datagram_at(s, s->datagram_tail++)->bytes);
}

err_t ip_datagram_bind(struct ip_socket *s, uint16_t port)
{
    return udp_bind(s->udp, &s->stack->netif.ip_addr, port);
}

int ip_datagram_connect(struct ip_socket *s, const struct sockaddr_in *peer)
{
    const ip_addr_t address = IPADDR4_INIT(peer->sin_addr.s_addr);

    s->connected = true;
    return ip_errno(udp_connect(s->udp, &address, ntohs(peer->sin_port)));
}

/* ---- sending ------------------------------------------------------------ */

/* Room for all fragments of a datagram, or nothing of it is sent: one that is missing makes the
 * others useless. */
static bool has_room(const struct ip_socket *s)
{
    return ip_link_has_room(s->stack);
}

/* lwIP counts a packet that found no room as no memory. */
static int datagram_send_once(struct ip_socket *s, const void *data, size_t length,
                              const ip_addr_t *address, uint16_t port)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)length, PBUF_RAM);
    err_t error;

    if (!p)
        return -ENOMEM;
    pbuf_take(p, data, (u16_t)length);
    error = udp_sendto(s->udp, p, address, port);
    pbuf_free(p);
    return error == ERR_MEM ? -EAGAIN : ip_errno(error);
}

ssize_t ip_sendto(struct ip_socket *socket, const void *data, size_t length,
                  const struct sockaddr_in *peer, int timeout_ms)
{
    ip_addr_t address;
    uint16_t port;
    int result;

    if (socket->type != SOCK_DGRAM)
        return -EINVAL;
    if (length > DATAGRAM_MAX)
        return -EMSGSIZE;
    if (!peer && !socket->connected)
        return -EDESTADDRREQ;
    if (peer)
        ip_addr_set_ip4_u32_val(address, peer->sin_addr.s_addr);
    else
        address = socket->udp->remote_ip;
    port = peer ? ntohs(peer->sin_port) : socket->udp->remote_port;
    if (!ip_route_find(socket->stack, ntohl(ip_2_ip4(&address)->addr)))
        return -EHOSTUNREACH;
    result = socket->bound ? 0 : ip_bind(socket, 0);
    while (result == 0) {
        result = datagram_send_once(socket, data, length, &address, port);
        ip_link_flush(socket->stack);
        if (result == 0)
            return (ssize_t)length;
        if (result == -EAGAIN)
            result = ip_block(socket->stack, has_room, socket, timeout_ms);
    }
    return result;
}

/* ---- receiving ---------------------------------------------------------- */

static bool has_datagram(const struct ip_socket *s)
{
    return s->datagram_head != s->datagram_tail;
}

ssize_t ip_recvfrom(struct ip_socket *socket, void *data, size_t length, struct sockaddr_in *peer,
                    int timeout_ms)
{
    struct ip_datagram *d;
    size_t whole;

    if (socket->type != SOCK_DGRAM)
        return -EINVAL;
    if (!has_datagram(socket)) {
        const int result = ip_block(socket->stack, has_datagram, socket, timeout_ms);
        if (result < 0)
            return result;
    }
    d = datagram_at(socket, socket->datagram_tail++);
    whole = d->bytes->tot_len;
    pbuf_copy_partial(d->bytes, data, (u16_t)(length < whole ? length : whole), 0);
    if (peer)
        ip_socket_address(peer, &d->address, d->port);
    pbuf_free(d->bytes);
    return (ssize_t)whole;
}
