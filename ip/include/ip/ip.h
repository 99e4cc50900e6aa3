/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip.h - TCP and UDP over a U-Net endpoint (section 7 of the U-Net paper).
 *
 * The protocols are lwIP's; this library is their network interface, their clock and calls in the
 * manner of sockets.  A stack takes over one endpoint: each of its channels is a link to one
 * neighbour, and a route says which addresses are behind which channel.
 *
 * Rules for all functions, unless a function says otherwise:
 *  - They return 0 (or a count) on success and -errno on failure, and set outputs only on success.
 *  - A stack, and there is one in a process, belongs to one thread at a time.  There is no thread
 *    behind it: acknowledgements, retransmissions and what arrives are seen to while one of these
 *    functions waits, and by ip_progress.
 *  - `timeout_ms` is how long a function may block: -1 for ever, 0 not at all, and then it answers
 *    -EAGAIN where a longer time-out ends with -ETIMEDOUT.
 *  - A signal does not end a wait.
 *  - Addresses are IPv4's, in network order as in struct sockaddr_in.
 */
#ifndef IP_IP_H
#define IP_IP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ip_stack;
struct ip_socket;

#define IP_MTU_DEFAULT 1500u
#define IP_MTU_MIN 576u

/* How a stack is made.  Zero in a number field means its default. */
struct ip_config {
    struct in_addr address; /* of this stack; no default */
    uint32_t mtu;           /* longest packet; default what one message of the endpoint's network
                               carries in one packet, but at most IP_MTU_DEFAULT */
    uint32_t
        timer_ms; /* TCP's clock, default 5, at most 250: its retransmission time-out is
                     at least 6 of them and at first 12, TIME_WAIT is 480.  lwIP's own is 250 */
};

/* Counters since the stack was opened.  No packet is dropped without being counted, here or in the
 * endpoint's unet_stats. */
struct ip_stats {
    uint64_t sent;        /* packets handed to the endpoint */
    uint64_t received;    /* packets handed to lwIP, which counts nothing in Debian's build */
    uint64_t copied;      /* of those, the ones copied because buffers ran low */
    uint64_t stalled;     /* times the endpoint took no more; they were sent later */
    uint64_t unroutable;  /* dropped: no route, or the neighbour is gone */
    uint64_t malformed;   /* arrivals dropped: no IPv4 header, or not that long */
    uint64_t misdirected; /* arrivals dropped: for another address */
    uint64_t spoofed;     /* arrivals dropped: their source is not behind that channel */
    uint64_t beyond;      /* arrivals dropped: of a stream, out of order and beyond its window */
    uint64_t overruns;    /* arrivals dropped: the datagram socket's queue was full, no memory */
};

/* ---- the stack ---------------------------------------------------------- */

/* Set those fields of an endpoint's configuration that are zero to what suits a stack: a segment,
 * and rings that hold the windows of several connections; and trains. */
void ip_endpoint_config(struct unet_config *config);

/* Make a stack on an endpoint, which must have wakeups (not `polled`) and is the stack's until
 * ip_close: the caller opens and closes channels, and otherwise leaves it alone.
 * Errors: -EBUSY this process has a stack already, -EINVAL address, MTU or timer is out of range,
 * -EOPNOTSUPP a polled endpoint, -ENOBUFS its segment is too small for that MTU, -ENOMEM. */
int ip_open(struct unet_endpoint *ep, const struct ip_config *config, struct ip_stack **stack);

/* Close it.  Its connections are reset and all its sockets are freed: ip_flush before that for what
 * has been sent.  The endpoint stays open, but its buffers remain in its queues: it is of
 * no use but to be closed.  NULL is allowed. */
void ip_close(struct ip_stack *stack);

/* Packets to the addresses that share the first `prefix` bits (0..32) with `address` go to
 * that channel, and only from there packets of such sources are taken.  The longest prefix wins; a
 * route to the same prefix replaces the former. Errors: -EINVAL a prefix or channel out of range,
 * -ENOMEM. */
int ip_route_add(struct ip_stack *stack, struct in_addr address, unsigned prefix, uint16_t channel);

/* Take in what has arrived, send what is due.  Returns the number of packets that arrived. */
int ip_progress(struct ip_stack *stack);

/* Make progress until something has arrived or `timeout_ms` is over; for programs with several
 * sockets, which then look at ip_ready of each.  Returns the number of packets that arrived. */
int ip_wait(struct ip_stack *stack, int timeout_ms);

/* Make progress until all that streams have sent, closed ones too, has been acknowledged.
 * Errors: -EAGAIN, -ETIMEDOUT. */
int ip_flush(struct ip_stack *stack, int timeout_ms);

/* The stack's address, MTU and counters. */
struct in_addr ip_address(const struct ip_stack *stack);
uint32_t ip_mtu(const struct ip_stack *stack);
const struct ip_stats *ip_stats(const struct ip_stack *stack);

/* ---- sockets ------------------------------------------------------------ */

/* What a socket is ready for; for ip_ready. */
enum ip_readiness {
    IP_READABLE = 1u << 0, /* ip_recv, ip_recvfrom, ip_accept would not block */
    IP_WRITABLE = 1u << 1, /* ip_send or ip_sendto would not */
};

/* Make a socket, SOCK_STREAM (TCP) or SOCK_DGRAM (UDP).
 * Errors: -EPROTOTYPE another type, -ENOMEM. */
int ip_socket_open(struct ip_stack *stack, int type, struct ip_socket **socket);

/* Close and free it.  A stream's data that was sent is still delivered, while the stack makes
 * progress; if some that arrived has not been read, the peer sees a reset, as with the kernel's.
 * NULL is allowed. */
void ip_socket_close(struct ip_socket *socket);

/* Give it a port of this stack's address, 0 for any free one.
 * Errors: -EADDRINUSE, -EINVAL it has one, -ENOMEM. */
int ip_bind(struct ip_socket *socket, in_port_t port);

/* The port it has, in network order; 0: none. */
in_port_t ip_port(const struct ip_socket *socket);

/* Accept connections at its port; those beyond `backlog` (1..4096) that were not accepted are
 * reset. Errors: -EINVAL no bound stream, or a backlog out of range, -EADDRINUSE, -ENOMEM. */
int ip_listen(struct ip_socket *socket, unsigned backlog);

/* The next connection.  `peer` may be NULL.
 * Errors: -EINVAL it does not listen, -EAGAIN, -ETIMEDOUT. */
int ip_accept(struct ip_socket *socket, struct ip_socket **connection, struct sockaddr_in *peer,
              int timeout_ms);

/* Connect a stream; after -EAGAIN or -ETIMEDOUT the same call goes on waiting.  A datagram socket
 * is given its peer at once.
 * Errors: -EISCONN, -EHOSTUNREACH no route, -ECONNREFUSED or -ECONNRESET by the peer, -ETIMEDOUT,
 * -EAGAIN, -EADDRINUSE no free port, -ENOMEM. */
int ip_connect(struct ip_socket *socket, const struct sockaddr_in *peer, int timeout_ms);

/* Send all bytes of a stream; they may be reused at once.  Returns how many were taken, fewer than
 * `length` only when the time was over.  Small messages are not held back (no Nagle).
 * Errors: -ENOTCONN, -EPIPE shut down or closed, -ECONNRESET, -ECONNABORTED, -EAGAIN, -ETIMEDOUT
 * nothing was taken in time, or the peer does not answer. */
ssize_t ip_send(struct ip_socket *socket, const void *data, size_t length, int timeout_ms);

/* Receive 1..length bytes of a stream; 0: the peer has closed it.
 * Errors: -EINVAL no room, -ENOTCONN, -ECONNRESET, -ECONNABORTED, -EAGAIN, -ETIMEDOUT. */
ssize_t ip_recv(struct ip_socket *socket, void *data, size_t length, int timeout_ms);

/* The next bytes of a stream where they lie, which is in the endpoint's communication segment
 * unless buffers ran low: no copy.  They stay until ip_recv_release or ip_recv.  Returns
 * how many there are in one piece.  Errors and 0: as ip_recv. */
ssize_t ip_recv_peek(struct ip_socket *socket, const void **data, int timeout_ms);

/* Give the first `length` of the peeked bytes back, at most as many as the peek returned. */
void ip_recv_release(struct ip_socket *socket, size_t length);

/* Say that no more will be sent on a stream.  Errors: -ENOTCONN, -ENOMEM. */
int ip_shutdown(struct ip_socket *socket);

/* Send a datagram, to `peer` or where the socket is connected to (NULL).  Longer ones than the MTU
 * go in fragments, all of which have to arrive.
 * Errors: -EMSGSIZE more than 65507 bytes, -EDESTADDRREQ, -EHOSTUNREACH, -EADDRINUSE no free port,
 * -ENOMEM, -EAGAIN, -ETIMEDOUT the endpoint takes no more. */
ssize_t ip_sendto(struct ip_socket *socket, const void *data, size_t length,
                  const struct sockaddr_in *peer, int timeout_ms);

/* Receive one datagram; what `length` has no room for is lost.  Returns the whole one's length.
 * `peer` may be NULL.  Errors: -EINVAL no datagram socket, -EAGAIN, -ETIMEDOUT. */
ssize_t ip_recvfrom(struct ip_socket *socket, void *data, size_t length, struct sockaddr_in *peer,
                    int timeout_ms);

/* What it is ready for, bits of enum ip_readiness, as of the last progress; errors are ready. */
unsigned ip_ready(const struct ip_socket *socket);

/* ---- the gateway to the kernel ------------------------------------------ */

/* A place in the network of a unet-gateway: what ip_open and a default route need. */
struct ip_gateway {
    int fd;                 /* the gateway keeps the place as long as this is open */
    uint16_t channel;       /* to the gateway */
    struct in_addr address; /* for this stack */
    uint32_t mtu;
};

/* Ask the gateway at that Unix socket, which has to use the endpoint's backend, for an address, and
 * open the endpoint's channel to it.  Blocks for 5 s at most.
 * Errors: -ENOENT, -EACCES, -ECONNREFUSED no gateway there, or not for this user, -ENAMETOOLONG,
 * -ETIMEDOUT, -EPROTO it answers nonsense, -ENOSPC it has no address left, and those of
 * unet_connect, its own, too. */
int ip_gateway_join(struct unet_endpoint *ep, const char *path, struct ip_gateway *gateway);

/* Give the place back.  The channel stays with the endpoint. */
void ip_gateway_leave(struct ip_gateway *gateway);

#ifdef __cplusplus
}
#endif
#endif
