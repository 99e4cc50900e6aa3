/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - what the parts of libunet-ip share.
 *
 *   stack.c     opens, routes, waits and keeps the time
 *   link.c      lwIP's network interface over the endpoint
 *   segment.c   packets of lwIP's segments
 *   checksum.c  their sums
 *   socket.c    what both kinds of sockets share
 *   stream.c    TCP sockets over lwIP's raw interface
 *   window.c    how much of a stream may be on its way
 *   datagram.c  UDP sockets over lwIP's raw interface
 */
#ifndef IP_INTERNAL_H
#define IP_INTERNAL_H

#include <ip/ip.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <lwip/udp.h>

/* A buffer of the segment that the endpoint fills, while lwIP or a socket has it: the pbuf stands
 * for the bytes where they lie. */
struct ip_rx_buffer {
    struct pbuf_custom pbuf; /* first, so that lwIP's pointer is ours */
    struct ip_stack *stack;
    uint32_t offset;
};

/* A packet on its way into the endpoint. */
struct ip_tx_slot {
    uint32_t ticket;
    uint32_t length;
    uint16_t channel;
    bool inlined; /* it needed no bytes of the segment */
};

struct ip_route {
    uint32_t network; /* host order, the bits behind the prefix are 0 */
    uint32_t mask;
    uint16_t channel;
};

struct ip_stack {
    struct unet_endpoint *ep;
    struct netif netif; /* its `mtu` is that of segments, which we cut */
    uint32_t mtu;       /* of packets */
    uint32_t together;  /* packets that a segment may be cut into */
    struct ip_stats stats;
    struct ip_socket *sockets;

    /* Slots [tail, unsent) belong to the endpoint and [unsent, head) wait for it; modulo a power
     * of two. */
    struct ip_tx_slot *tx;
    uint32_t tx_slots, tx_head, tx_unsent, tx_tail;
    uint32_t tx_bytes;   /* of one, from the segment's start */
    bool stalled;        /* lwIP was told that the endpoint takes no more */
    bool owing;          /* some stream may owe its peer an acknowledgement or a window */
    uint64_t quiet_from; /* when that is sent, unless more arrives before */

    struct ip_rx_buffer *rx;
    uint32_t rx_start, rx_bytes, rx_buffers; /* the buffers' place, length and number */
    uint32_t rx_out;                         /* those that lwIP or sockets have */
    uint32_t window_packets;                 /* that one stream may have on its way to here */

    struct ip_route *route; /* the longest prefix first */
    uint32_t routes;

    uint64_t timer_ns, next_timer, next_second;
};

/* A datagram in the queue of its socket. */
struct ip_datagram {
    struct pbuf *bytes;
    ip_addr_t address;
    uint16_t port;
};

#define IP_DATAGRAMS 256u /* in the queue of a socket; a power of two */

struct ip_socket {
    struct ip_stack *stack;
    struct ip_socket *next, **previous; /* in the stack's list, or in a listener's queue */
    int type;
    int error; /* errno value, once the connection has ended by one */
    bool bound;
    struct tcp_pcb *tcp;                                   /* NULL when lwIP has freed it */
    bool listening, connecting, connected, finished, shut; /* finished: the peer sends no more */
    struct pbuf *first, *last;                             /* what has arrived, linked by `next` */
    uint32_t packet;  /* bytes of a stream that one packet carries */
    uint32_t window;  /* bytes that may be on their way to here */
    uint32_t unacked; /* bytes taken in since an acknowledgement was sent */
    uint32_t read;    /* bytes that the program has read and the window does not know of */
    struct ip_socket *accepted;
    unsigned waiting, backlog; /* connections in `accepted` */
    struct udp_pcb *udp;
    struct ip_datagram *datagram;
    uint32_t datagram_head, datagram_tail;
};

/* ---- stack.c */

uint64_t ip_now(void); /* ns, monotonic */
uint32_t ip_random(void);
const struct ip_route *ip_route_find(const struct ip_stack *stack, uint32_t address);

/* Make progress until `ready`.  Errors: -EAGAIN, -ETIMEDOUT. */
int ip_block(struct ip_stack *stack, bool (*ready)(const struct ip_socket *s),
             const struct ip_socket *s, int timeout_ms);

/* ---- link.c */

int ip_link_open(struct ip_stack *stack, uint32_t mtu);
void ip_link_close(struct ip_stack *stack);
void ip_link_set_address(struct ip_stack *stack, struct in_addr address);
int ip_link_receive(struct ip_stack *stack); /* number of messages taken in */
void ip_link_flush(struct ip_stack *stack);  /* hands what waits to the endpoint */
bool ip_link_has_room(const struct ip_stack *stack);

/* ---- segment.c */

/* Bits by which our windows are scaled (RFC 7323), where lwIP has one. */
enum { IP_WINDOW_SCALE = 2 };

/* How many packets of at most `mtu` bytes a longer one is cut into; 0: it is not TCP's. */
unsigned ip_segment_packets(const struct pbuf *p, uint32_t mtu);

/* A segment on its way into packets, and what these have in common. */
struct ip_cut {
    const struct pbuf *segment;
    uint32_t headers; /* bytes of both of a packet */
    uint32_t most;    /* bytes of data in a packet */
    uint32_t from;    /* bytes of data that are cut already */
    uint32_t sequence;
    uint16_t id, flags; /* the id is that of the next packet */
    uint64_t ip_sum, tcp_sum;
    _Alignas(8) uint8_t header[IP_HLEN_MAX + 60];
};

void ip_cut_begin(struct ip_cut *cut, const struct pbuf *p, uint32_t mtu);
/* Make the next packet, of which there are ip_segment_packets().  Returns its length. */
uint32_t ip_cut_next(struct ip_cut *cut, uint8_t *packet);
/* Make the packet of one that is no longer.  A SYN says that segments have to fit into `mtu` bytes,
 * and the scale of our windows. */
uint32_t ip_segment_whole(const struct pbuf *p, uint32_t mtu, uint8_t *packet);

/* ---- checksum.c */

/* The one's complement sum of the bytes' 16-bit words as they lie in memory; a last byte is
 * followed by a zero. */
uint16_t ip_checksum_add(const void *bytes, size_t length);
/* The same, and copy them. */
uint16_t ip_checksum_copy(void *to, const void *bytes, size_t length);

/* ---- socket.c */

struct ip_socket *ip_socket_new(struct ip_stack *stack, int type);
void ip_socket_link(struct ip_socket **list, struct ip_socket *s);
void ip_socket_unlink(struct ip_socket *s);
void ip_socket_free(struct ip_socket *s);
int ip_errno(err_t error); /* a negative errno value, or 0 */
/* Bind to a random free port by `bind`, which is tcp_bind or udp_bind of the socket's. */
int ip_socket_bind_any(struct ip_socket *s, err_t (*bind)(struct ip_socket *s, uint16_t port));
void ip_socket_address(struct sockaddr_in *to, const ip_addr_t *address, uint16_t port);

/* ---- stream.c */

int ip_stream_open(struct ip_socket *s);
err_t ip_stream_bind(struct ip_socket *s, uint16_t port);
int ip_stream_connect(struct ip_socket *s, const struct sockaddr_in *peer, int timeout_ms);
bool ip_stream_readable(const struct ip_socket *s);
bool ip_stream_writable(const struct ip_socket *s);
void ip_stream_close(struct ip_socket *s);
void ip_stream_abort(struct ip_socket *s, int error);
void ip_streams_retry(void); /* send what found no room before */
bool ip_streams_flushed(const struct ip_socket *unused);
/* Whether a TCP segment lies beyond the window of its connection; `p` begins with the IP header. */
bool ip_stream_is_beyond(const struct pbuf *p);
void ip_streams_lost(struct ip_stack *stack); /* end those whose neighbour is gone */

/* ---- window.c */

/* The connection is there. */
void ip_window_begin(struct ip_socket *s, struct tcp_pcb *pcb);
/* lwIP has taken these bytes in. */
void ip_window_taken(struct ip_socket *s, struct tcp_pcb *pcb, const struct pbuf *p);
/* The program has read so many. */
void ip_window_read(struct ip_socket *s, size_t length);
/* The connection is about to be closed. */
void ip_window_end(struct ip_socket *s);
void ip_windows_settle(void); /* send the acknowledgements and windows that are owed */

/* ---- datagram.c */

int ip_datagram_open(struct ip_socket *s);
err_t ip_datagram_bind(struct ip_socket *s, uint16_t port);
int ip_datagram_connect(struct ip_socket *s, const struct sockaddr_in *peer);
void ip_datagram_close(struct ip_socket *s);

#endif
