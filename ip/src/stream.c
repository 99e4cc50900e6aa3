/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream.c - TCP sockets over lwIP's raw interface.
 *
 * lwIP's callbacks put what arrives into the socket's queue as it is; the window opens again when
 * the program has read it.  A segment that the endpoint has no room for stays in lwIP's queue,
 * which ip_streams_retry sends again.
 */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/prot/ip4.h>
#include <lwip/prot/tcp.h>
#include <string.h>
#include <sys/socket.h>

enum {
    WRITE_BYTES = TCP_SND_BUF / 2, /* free in the send buffer before a writer that waits goes on */
    WRITE_MOST = UINT16_MAX,       /* that lwIP takes at once */
    QUEUE_MOST = TCP_SND_QUEUELEN - TCP_SND_QUEUELEN / 8, /* pieces in it */
};

/* ---- what lwIP tells ---------------------------------------------------- */

/* Pieces in the queue are linked by `next` alone: a length of the whole chain, as lwIP's have,
 * would be counted anew at each. */
static err_t stream_received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct ip_socket *s = arg;

    (void)error;
    if (!p) {
        s->finished = true;
        return ERR_OK;
    }
    ip_window_taken(s, pcb, p);
    if (s->last)
        s->last->next = p;
    else
        s->first = p;
    while (p->next)
        p = p->next;
    s->last = p;
    return ERR_OK;
}

/* lwIP has freed the connection. */
static void stream_failed(void *arg, err_t error)
{
    struct ip_socket *s = arg;

    s->tcp = NULL;
    if (!s->error)
        s->error = error == ERR_RST && s->connecting ? ECONNREFUSED
                   : error == ERR_ABRT               ? ETIMEDOUT /* retransmitted in vain */
                                                     : -ip_errno(error);
    s->connecting = s->connected = false;
}

static err_t stream_connected(void *arg, struct tcp_pcb *pcb, err_t error)
{
    struct ip_socket *s = arg;

    (void)error;
    ip_window_begin(s, pcb);
    s->connecting = false;
    s->connected = true;
    return ERR_OK;
}

static void stream_attach(struct ip_socket *s, struct tcp_pcb *pcb)
{
    s->tcp = pcb;
    tcp_nagle_disable(pcb);
    tcp_arg(pcb, s);
    tcp_recv(pcb, stream_received);
    tcp_err(pcb, stream_failed);
}

static err_t stream_accepted(void *arg, struct tcp_pcb *pcb, err_t error)
{
    struct ip_socket *listener = arg, *s, **end;

    if (error != ERR_OK || !pcb)
        return ERR_VAL;
    if (listener->waiting >= listener->backlog)
        return ERR_MEM; /* lwIP resets it */
    s = ip_socket_new(listener->stack, SOCK_STREAM);
    if (!s)
        return ERR_MEM;
    stream_attach(s, pcb);
    ip_window_begin(s, pcb);
    s->bound = s->connected = true;
    for (end = &listener->accepted; *end; end = &(*end)->next)
        ;
    ip_socket_link(end, s);
    listener->waiting++;
    return ERR_OK;
}

/* ---- opening and closing ------------------------------------------------ */

int ip_stream_open(struct ip_socket *s)
{
    struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_V4);

    if (!pcb)
        return -ENOMEM;
    stream_attach(s, pcb);
    return 0;
}

err_t ip_stream_bind(struct ip_socket *s, uint16_t port)
{
    return tcp_bind(s->tcp, &s->stack->netif.ip_addr, port);
}

static void drop_pieces(struct ip_socket *s)
{
    while (s->first) {
        struct pbuf *p = s->first;

        s->first = p->next;
        p->next = NULL;
        pbuf_free(p);
    }
    s->last = NULL;
}

void ip_stream_abort(struct ip_socket *s, int error)
{
    s->error = error;
    tcp_abort(s->tcp); /* and stream_failed says that it is gone */
}

void ip_stream_close(struct ip_socket *s)
{
    while (s->accepted) {
        struct ip_socket *waiting = s->accepted;

        if (waiting->tcp)
            ip_stream_abort(waiting, ECONNABORTED);
        drop_pieces(waiting);
        ip_socket_free(waiting);
    }
    if (s->tcp) {
        tcp_arg(s->tcp, NULL);
        if (s->listening) {
            tcp_accept(s->tcp, NULL);
            tcp_close(s->tcp);
        } else {
            ip_window_end(s);
            tcp_recv(s->tcp, NULL);
            tcp_err(s->tcp, NULL);
            if (tcp_close(s->tcp) != ERR_OK)
                tcp_abort(s->tcp);
        }
        s->tcp = NULL;
    }
    drop_pieces(s);
}

int ip_shutdown(struct ip_socket *socket)
{
    err_t error;

    if (socket->type != SOCK_STREAM || !socket->connected || !socket->tcp)
        return -ENOTCONN;
    if (socket->shut)
        return 0;
    error = tcp_shutdown(socket->tcp, 0, 1);
    socket->shut = error == ERR_OK;
    ip_link_flush(socket->stack);
    return ip_errno(error);
}

/* ---- connecting --------------------------------------------------------- */

int ip_listen(struct ip_socket *socket, unsigned backlog)
{
    struct tcp_pcb *listener;
    err_t error = ERR_OK;

    if (socket->type != SOCK_STREAM || !socket->bound || socket->listening || socket->connected ||
        socket->connecting || !socket->tcp || backlog < 1 || backlog > 4096)
        return -EINVAL;
    listener = tcp_listen_with_backlog_and_err(socket->tcp, 255, &error);
    if (!listener)
        return ip_errno(error);
    socket->tcp = listener;
    socket->listening = true;
    socket->backlog = backlog;
    tcp_arg(listener, socket);
    tcp_accept(listener, stream_accepted);
    return 0;
}

static bool has_accepted(const struct ip_socket *s)
{
    return s->accepted != NULL;
}

int ip_accept(struct ip_socket *socket, struct ip_socket **connection, struct sockaddr_in *peer,
              int timeout_ms)
{
    struct ip_socket *s;
    int result;

    if (!socket->listening)
        return -EINVAL;
    result = ip_block(socket->stack, has_accepted, socket, timeout_ms);
    if (result < 0)
        return result;
    s = socket->accepted;
    ip_socket_unlink(s);
    ip_socket_link(&socket->stack->sockets, s);
    socket->waiting--;
    if (peer && s->tcp)
        ip_socket_address(peer, &s->tcp->remote_ip, s->tcp->remote_port);
    else if (peer) /* it has been reset meanwhile */
        *peer = (struct sockaddr_in){.sin_family = AF_INET};
    *connection = s;
    return 0;
}

static bool is_decided(const struct ip_socket *s)
{
    return !s->connecting;
}

int ip_stream_connect(struct ip_socket *s, const struct sockaddr_in *peer, int timeout_ms)
{
    int result;

    if (s->connected || s->listening)
        return -EISCONN;
    if (!s->connecting && s->tcp) {
        const ip_addr_t address = IPADDR4_INIT(peer->sin_addr.s_addr);
        const err_t error = tcp_connect(s->tcp, &address, ntohs(peer->sin_port), stream_connected);
        if (error != ERR_OK)
            return ip_errno(error);
        s->connecting = true;
    }
    result = ip_block(s->stack, is_decided, s, timeout_ms);
    if (result < 0)
        return result;
    return s->connected ? 0 : s->error ? -s->error : -ENOTCONN;
}

/* ---- sending ------------------------------------------------------------ */

bool ip_stream_writable(const struct ip_socket *s)
{
    return !s->connecting && !s->listening &&
           (!s->connected || !s->tcp ||
            (tcp_sndbuf(s->tcp) >= WRITE_BYTES && tcp_sndqueuelen(s->tcp) < QUEUE_MOST));
}

static bool stream_has_room(const struct ip_socket *s)
{
    return tcp_sndbuf(s->tcp) > 0 && tcp_sndqueuelen(s->tcp) < QUEUE_MOST;
}

/* What lwIP takes now: it copies the bytes into segments.  Where more follow, segments are full: of
 * a short one the rest of the stream would be short by as much.  A negative errno value, or how
 * many. */
static ssize_t stream_write(struct ip_socket *s, const uint8_t *data, size_t length)
{
    size_t part = s->tcp->snd_buf;
    err_t error;

    if (part > WRITE_MOST)
        part = WRITE_MOST;

    if (part >= length)
        part = length;
    else if (part > s->tcp->mss)
        part -= (part - s->tcp->unsent_oversize) % s->tcp->mss;
    error = tcp_write(s->tcp, data, (u16_t)part, TCP_WRITE_FLAG_COPY);
    if (error == ERR_MEM)
        return 0;
    if (error != ERR_OK)
        return ip_errno(error);
    tcp_output(s->tcp); /* if it fails, it has said that it wants to be called again */
    return (ssize_t)part;
}

static int stream_sendable(const struct ip_socket *s)
{
    if (s->type != SOCK_STREAM)
        return -EINVAL;
    if (s->shut)
        return -EPIPE;
    if (s->connected && s->tcp)
        return 0;
    return s->error ? -s->error : -ENOTCONN;
}

ssize_t ip_send(struct ip_socket *socket, const void *data, size_t length, int timeout_ms)
{
    size_t sent = 0;
    ssize_t result = 0;

    while (sent < length || length == 0) {
        result = stream_sendable(socket);
        if (result < 0 || length == 0)
            break;
        if (stream_has_room(socket)) {
            result = stream_write(socket, (const uint8_t *)data + sent, length - sent);
            if (result < 0)
                break;
            sent += (size_t)result;
            if (result > 0)
                continue;
        }
        ip_link_flush(socket->stack);
        result = ip_block(socket->stack, ip_stream_writable, socket, timeout_ms);
        if (result < 0)
            break;
    }
    ip_link_flush(socket->stack);
    return sent > 0 ? (ssize_t)sent : result;
}

/* ---- receiving ---------------------------------------------------------- */

bool ip_stream_readable(const struct ip_socket *s)
{
    if (s->listening)
        return s->accepted != NULL;
    return s->first || s->finished || s->error || (!s->connecting && !s->connected);
}

/* 1 when there is something to read, 0 at the end. */
static int stream_await(struct ip_socket *s, int timeout_ms)
{
    int result;

    if (s->first)
        return 1;
    if (s->type != SOCK_STREAM || s->listening)
        return -EINVAL;
    result = ip_stream_readable(s) ? 0 : ip_block(s->stack, ip_stream_readable, s, timeout_ms);
    if (result < 0 || s->first)
        return result < 0 ? result : 1;
    if (s->finished)
        return 0;
    return s->error ? -s->error : -ENOTCONN;
}

ssize_t ip_recv_peek(struct ip_socket *socket, const void **data, int timeout_ms)
{
    const int result = stream_await(socket, timeout_ms);

    if (result <= 0)
        return result;
    *data = socket->first->payload;
    return socket->first->len;
}

/* The first piece goes when it has been read.  Only then does its buffer go back to the endpoint,
 * and the window opens. */
static void stream_consume(struct ip_socket *s, size_t length)
{
    struct pbuf *p = s->first;

    if (length < p->len) {
        p->payload = (uint8_t *)p->payload + length;
        p->len = (u16_t)(p->len - length);
        return;
    }
    s->first = p->next;
    if (!s->first)
        s->last = NULL;
    p->next = NULL;
    pbuf_free(p);
}

void ip_recv_release(struct ip_socket *socket, size_t length)
{
    if (!socket->first || length == 0)
        return;
    if (length > socket->first->len)
        length = socket->first->len;
    stream_consume(socket, length);
    ip_window_read(socket, length);
}

ssize_t ip_recv(struct ip_socket *socket, void *data, size_t length, int timeout_ms)
{
    size_t copied = 0;
    int result;

    if (length == 0)
        return -EINVAL;
    result = stream_await(socket, timeout_ms);
    if (result <= 0)
        return result;
    while (socket->first && copied < length) {
        const size_t left = length - copied, there = socket->first->len;
        const size_t part = there < left ? there : left;

        memcpy((uint8_t *)data + copied, socket->first->payload, part);
        copied += part;
        stream_consume(socket, part);
    }
    ip_window_read(socket, copied);
    return (ssize_t)copied;
}

/* ---- what lwIP must not be given ---------------------------------------- */

static const struct tcp_pcb *stream_find(const struct ip_hdr *ip, const struct tcp_hdr *tcp)
{
    const uint16_t from = lwip_ntohs(tcp->src), to = lwip_ntohs(tcp->dest);

    for (const struct tcp_pcb *pcb = tcp_active_pcbs; pcb; pcb = pcb->next)
        if (pcb->remote_port == from && pcb->local_port == to &&
            ip_2_ip4(&pcb->remote_ip)->addr == ip->src.addr)
            return pcb;
    return NULL;
}

/* lwIP 2.1.3 cuts a segment that comes out of order to the window where it is the last one of its
 * queue, and not where it is longer than one that is there already; when the gap closes it then
 * ends the process by an assertion.  Its own sender goes beyond a window after losses in both
 * directions, because it takes the acknowledgement of a retransmitted segment and not its window.
 * Segments in order are always cut. */
bool ip_stream_is_beyond(const struct pbuf *p)
{
    const struct ip_hdr *ip = p->payload;
    const uint16_t header = IPH_HL_BYTES(ip), whole = lwip_ntohs(IPH_LEN(ip));
    const struct tcp_pcb *pcb;
    struct tcp_hdr tcp;
    uint32_t first, length;

    if (IPH_PROTO(ip) != IP_PROTO_TCP || whole < header + sizeof tcp ||
        pbuf_copy_partial(p, &tcp, sizeof tcp, header) != sizeof tcp ||
        !(pcb = stream_find(ip, &tcp)) || whole < header + TCPH_HDRLEN_BYTES(&tcp))
        return false;
    first = lwip_ntohl(tcp.seqno);
    length = whole - header - TCPH_HDRLEN_BYTES(&tcp) + !!(TCPH_FLAGS(&tcp) & TCP_FIN);
    /* Those without data queue nothing, and their acknowledgement is wanted. */
    return pcb->state >= ESTABLISHED && length > 0 && TCP_SEQ_GT(first, pcb->rcv_nxt) &&
           TCP_SEQ_GT(first + length, pcb->rcv_nxt + pcb->rcv_wnd);
}

/* ---- all streams -------------------------------------------------------- */

void ip_streams_retry(void)
{
    struct tcp_pcb *next;

    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb; pcb = next) {
        next = pcb->next;
        if (pcb->flags & TF_NAGLEMEMERR || pcb->flags & TF_ACK_NOW)
            tcp_output(pcb);
    }
}

bool ip_streams_flushed(const struct ip_socket *unused)
{
    (void)unused;
    for (const struct tcp_pcb *pcb = tcp_active_pcbs; pcb; pcb = pcb->next)
        if (pcb->unsent || pcb->unacked || pcb->flags & TF_CLOSEPEND || pcb->state == LAST_ACK)
            return false;
    return true;
}

void ip_streams_lost(struct ip_stack *stack)
{
    struct tcp_pcb *next;

    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb; pcb = next) {
        const struct ip_route *route = ip_route_find(stack, ntohl(ip_2_ip4(&pcb->remote_ip)->addr));

        next = pcb->next;
        if (route && stack->ep->channel[route->channel].state != UNET_DEAD)
            continue;
        if (pcb->callback_arg)
            ((struct ip_socket *)pcb->callback_arg)->error = ECONNRESET;
        tcp_abort(pcb);
    }
}
