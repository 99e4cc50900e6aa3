/* SPDX-License-Identifier: BSD-3-Clause
 *
 * socket.c - what streams and datagram sockets share.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

int ip_errno(err_t error)
{
    static const int value[] = {
        [-ERR_OK] = 0,
        [-ERR_MEM] = ENOMEM,
        [-ERR_BUF] = ENOBUFS,
        [-ERR_TIMEOUT] = EAGAIN,
        [-ERR_RTE] = EHOSTUNREACH,
        [-ERR_INPROGRESS] = EINPROGRESS,
        [-ERR_VAL] = EINVAL,
        [-ERR_WOULDBLOCK] = EAGAIN,
        [-ERR_USE] = EADDRINUSE,
        [-ERR_ALREADY] = EALREADY,
        [-ERR_ISCONN] = EISCONN,
        [-ERR_CONN] = ENOTCONN,
        [-ERR_IF] = EIO,
        [-ERR_ABRT] = ECONNABORTED,
        [-ERR_RST] = ECONNRESET,
        [-ERR_CLSD] = ENOTCONN,
        [-ERR_ARG] = EIO,
    };

    return error <= 0 && (size_t)-error < sizeof value / sizeof value[0] ? -value[-error] : -EIO;
}

void ip_socket_link(struct ip_socket **list, struct ip_socket *s)
{
    s->next = *list;
    s->previous = list;
    if (s->next)
        s->next->previous = &s->next;
    *list = s;
}

void ip_socket_unlink(struct ip_socket *s)
{
    *s->previous = s->next;
    if (s->next)
        s->next->previous = s->previous;
}

struct ip_socket *ip_socket_new(struct ip_stack *stack, int type)
{
    struct ip_socket *s = calloc(1, sizeof *s);

    if (s) {
        s->stack = stack;
        s->type = type;
    }
    return s;
}

int ip_socket_open(struct ip_stack *stack, int type, struct ip_socket **socket)
{
    struct ip_socket *s;
    int result;

    if (type != SOCK_STREAM && type != SOCK_DGRAM)
        return -EPROTOTYPE;
    s = ip_socket_new(stack, type);
    if (!s)
        return -ENOMEM;
    result = type == SOCK_STREAM ? ip_stream_open(s) : ip_datagram_open(s);
    if (result < 0) {
        free(s);
        return result;
    }
    ip_socket_link(&stack->sockets, s);
    *socket = s;
    return 0;
}

void ip_socket_free(struct ip_socket *s)
{
    ip_socket_unlink(s);
    free(s->datagram);
    free(s);
}

void ip_socket_close(struct ip_socket *socket)
{
    struct ip_stack *stack;

    if (!socket)
        return;
    stack = socket->stack;
    if (socket->type == SOCK_STREAM)
        ip_stream_close(socket);
    else
        ip_datagram_close(socket);
    ip_socket_free(socket);
    ip_link_flush(stack);
}

static err_t socket_bind(struct ip_socket *s, uint16_t port)
{
    return s->type == SOCK_STREAM ? ip_stream_bind(s, port) : ip_datagram_bind(s, port);
}

/* lwIP draws ports by rand(), which gives each process the same ones: a program that is started
 * again would meet its own connections in TIME_WAIT. */
int ip_socket_bind_any(struct ip_socket *s, err_t (*bind)(struct ip_socket *s, uint16_t port))
{
    enum { FIRST = 49152, PORTS = 65536 - FIRST };
    const uint32_t start = ip_random();
    err_t error = ERR_USE;

    for (uint32_t i = 0; i < PORTS && error == ERR_USE; i++)
        error = bind(s, (uint16_t)(FIRST + (start + i) % PORTS));
    s->bound = error == ERR_OK;
    return ip_errno(error);
}

int ip_bind(struct ip_socket *socket, in_port_t port)
{
    err_t error;

    if (socket->bound || (socket->type == SOCK_STREAM && !socket->tcp))
        return -EINVAL;
    if (port == 0)
        return ip_socket_bind_any(socket, socket_bind);
    error = socket_bind(socket, ntohs(port));
    socket->bound = error == ERR_OK;
    return ip_errno(error);
}

in_port_t ip_port(const struct ip_socket *socket)
{
    if (socket->type == SOCK_DGRAM)
        return htons(socket->udp->local_port);
    return socket->tcp ? htons(socket->tcp->local_port) : 0;
}

int ip_connect(struct ip_socket *socket, const struct sockaddr_in *peer, int timeout_ms)
{
    if (!ip_route_find(socket->stack, ntohl(peer->sin_addr.s_addr)))
        return -EHOSTUNREACH;
    if (!socket->bound) {
        const int result = socket->type == SOCK_STREAM && !socket->tcp
                               ? 0 /* it has ended, as connect says */
                               : ip_socket_bind_any(socket, socket_bind);
        if (result < 0)
            return result;
    }
    if (socket->type == SOCK_STREAM)
        return ip_stream_connect(socket, peer, timeout_ms);
    return ip_datagram_connect(socket, peer);
}

void ip_socket_address(struct sockaddr_in *to, const ip_addr_t *address, uint16_t port)
{
    *to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    to->sin_addr.s_addr = ip_2_ip4(address)->addr;
}

unsigned ip_ready(const struct ip_socket *socket)
{
    if (socket->type == SOCK_STREAM)
        return (ip_stream_readable(socket) ? IP_READABLE : 0u) |
               (ip_stream_writable(socket) ? IP_WRITABLE : 0u);
    return (socket->datagram_head != socket->datagram_tail ? IP_READABLE : 0u) |
           (ip_link_has_room(socket->stack) ? IP_WRITABLE : 0u);
}
