/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_ni.h - an endpoint as its network interface (NI) sees it.
 *
 * For who makes endpoints: backends, and layers that put an endpoint of their own in front of
 * another one.  Applications need unet.h alone.
 *
 * The structure of every such endpoint begins with a `struct unet_ni`, which has what they have in
 * common: queues, tables, states, and the loop that waits.
 */
#ifndef UNET_NI_H
#define UNET_NI_H

#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

struct unet_ni;

/* Which memory unet_ni_open makes, private to the process; what it does not make, the backend
 * attaches. */
enum unet_ni_memory {
    UNET_NI_NONE = 0,
    UNET_NI_SEND = 1, /* the send queue and the completions */
    UNET_NI_ALL = 2,  /* and the segment, the free queue and a receive ring for each channel */
};

/* What the NIs of one kind have in common. */
struct unet_ni_kind {
    size_t link_bytes; /* of what the NI keeps of one channel */
    enum unet_ni_memory memory;
    bool rings;   /* peers ring a bell, for which it has to be armed before it sleeps */
    int retry_ms; /* the longest sleep while a channel is connecting */
    int look_ms;  /* the longest sleep between two looks for peers that are gone */

    /* Sleep until something may have arrived or happened, at most `ms` milliseconds.  Returns 1 if
     * it may have, 0 if the time is over, or -errno. */
    int (*sleep)(struct unet_ni *ni, int ms);

    /* Tell the channel's peer that the channel is open here, if it is connecting, or ask whether
     * the peer is alive, if it is open.  NULL where peers see each other's memory; otherwise a
     * link begins with a struct unet_link. */
    void (*tell)(struct unet_ni *ni, uint16_t channel);
};

/* What is kept of a channel whose peer has to be told and asked. */
struct unet_link {
    uint64_t told_us;  /* when the peer was last told that the channel is open, or its turn came to
                          be asked */
    uint32_t pause_us; /* between the last time it was told and the next; doubles */
    bool heard;        /* something came from the peer since its turn, so it need not be asked */
};

struct unet_ni {
    struct unet_endpoint ep; /* first: applications know only this */
    const struct unet_ni_kind *kind;
    struct unet_address address;
    void *link;              /* by channel number, kind->link_bytes each */
    struct unet_ring tx;     /* the send queue, the NI's side */
    struct unet_ring errors; /* rx[0], the NI's side */
    struct unet_ring free;   /* the free queue, the NI's side (UNET_NI_ALL) */
    struct unet_ring *in;    /* the other receive rings, the NI's side (UNET_NI_ALL) */
    uint64_t *filled;        /* the endpoint's rx_filled, if it has many rings (UNET_NI_ALL) */
    uint32_t always;         /* a bell that is always set: every send wants a kick */
    uint32_t armed;          /* for endpoints whose peers do not look whether they are armed */
    uint32_t connecting;     /* channels in UNET_CONNECTING */
    uint32_t opened;         /* channels that ever became UNET_OPEN */
    uint32_t died;           /* channels that ever became UNET_DEAD */
    uint32_t died_told;      /* of those, known to a unet_wait that has returned */
    uint32_t calls;          /* of progress */
    uint32_t handed;         /* packets handed over past the queues (struct unet_datagram_ops) */
    uint16_t turn;           /* the channel that was last looked at for asking its peer */
    uint64_t looked_us;      /* when that was */
    void *memory;            /* queues and segment */
    size_t memory_bytes;
};

static inline struct unet_ni *unet_ni_of(struct unet_endpoint *ep)
{
    return (struct unet_ni *)ep;
}

/* Rings that nobody ever writes to, for all endpoints: one looks full to its producer, the other
 * empty to its consumer, who copies it. */
extern struct unet_ring unet_ring_full;
extern const struct unet_ring unet_ring_empty;

/* ---- opening and closing ------------------------------------------------ */

/* Make an endpoint of `endpoint_bytes`, which begins with a struct unet_ni and is zero beyond it.
 * Its channels are closed, and it has no doorbell.  The configuration has no defaults left.
 * Errors: -ENOMEM. */
int unet_ni_open(const struct unet_ops *ops, const struct unet_ni_kind *kind, size_t endpoint_bytes,
                 const struct unet_config *config, struct unet_ni **ni);

/* Free it, and close its doorbell if it has one. */
void unet_ni_close(struct unet_ni *ni);

/* The entry `address` of struct unet_ops, and what it will tell; at most UNET_ADDRESS_MAX bytes. */
void unet_ni_address(const struct unet_endpoint *ep, struct unet_address *address);
void unet_ni_set_address(struct unet_ni *ni, const void *bytes, size_t length);

/* ---- channels ------------------------------------------------------------ */

/* Sends go to the send queue while the channel is open, and find it full otherwise. */
void unet_ni_set_state(struct unet_ni *ni, uint16_t channel, enum unet_channel_state state);

/* The first channel that is closed, or 0. */
uint16_t unet_ni_closed_channel(const struct unet_ni *ni);

/* A closed channel begins to connect: its ring is looked at, and its peer will be told. */
void unet_ni_connecting(struct unet_ni *ni, uint16_t channel);

/* ---- progress and waiting ------------------------------------------------- */

/* True in one of a thousand calls of progress, which then looks for peers that are gone. */
static inline bool unet_ni_look_is_due(struct unet_ni *ni)
{
    return ++ni->calls % 1024 == 0;
}

/* The entry `wait` of struct unet_ops. */
int unet_ni_wait(struct unet_endpoint *ep, int timeout_ms);

/* Tell the peers of connecting channels that they are open here, those whose time has come. */
void unet_ni_tell(struct unet_ni *ni);

/* Ask the channel's peer whether it is alive, unless it was heard of or asked in the last 20 ms;
 * with many channels the less often, so that all together are asked 1000 times a second at most.
 * True: it was asked. */
bool unet_ni_ask(struct unet_ni *ni, uint16_t channel);

/* Do that for some channels, if it was not done in the last 20 ms; the next call goes on where this
 * one ends.  Returns how many were asked. */
enum { UNET_NI_ASK_MOST = 64 };
unsigned unet_ni_ask_some(struct unet_ni *ni, uint16_t asked[UNET_NI_ASK_MOST]);

/* ---- packets past the queues (struct unet_datagram_ops) -------------------------- */

enum { UNET_PACKET_HEADROOM = 24 };

/* A packet on its way out.  The endpoint writes its header to the UNET_PACKET_HEADROOM bytes in
 * front of it.  Packets of one channel that lie one behind the other, each with its headroom, are
 * the cheapest to send. */
struct unet_packet {
    uint8_t *bytes;
    uint32_t length; /* 1 .. ep->packet_bytes */
    uint16_t channel;
};

/* ---- what backends share --------------------------------------------------- */

/* CLOCK_MONOTONIC in microseconds. */
uint64_t unet_now_us(void);

/* For the NI: 0 if descriptors of the channel may be sent, -EPIPE if its peer is dead, -ENOTCONN if
 * it is closed or still connecting. */
int unet_not_open(const struct unet_endpoint *ep, uint16_t channel);

/* Take buffers for `length` bytes from the free queue, all or none, each to be filled from its
 * start. Returns how many. Errors: -EAGAIN there are not enough now, -EMSGSIZE the next
 * UNET_PIECES_MAX are too short. */
int unet_ni_take_buffers(struct unet_ni *ni, uint32_t length,
                         struct unet_piece piece[UNET_PIECES_MAX]);

/* Drop the messages in a receive ring that were not read, along with their buffers. */
void unet_drop_unread(struct unet_ring *rx);

/* ---- descriptors ---------------------------------------------------------- */

/* Whether the pieces of a descriptor are consistent: their number is 1..UNET_PIECES_MAX, they lie
 * within `segment_bytes` and sum up to `length`, 1..UNET_MESSAGE_MAX.  0, or the errno
 * values of unet_send, negative. */
int unet_check_pieces(const struct unet_desc *desc, uint32_t segment_bytes);

/* Has unet_rx_peek look at a receive ring, after it was filled, of an endpoint with rx_filled. */
static inline void unet_rx_mark_filled(struct unet_endpoint *ep, uint32_t ring)
{
    if (ep->rx_filled)
        __atomic_fetch_or(&ep->rx_filled[ring / 64], UINT64_C(1) << ring % 64, __ATOMIC_SEQ_CST);
}

/* Count a descriptor that cannot be sent, and tell its sender by a message of kind UNET_ERROR in
 * `errors`, the producer side of its ring rx[0].  `error` is negative. */
void unet_refuse(struct unet_endpoint *ep, struct unet_ring *errors, const struct unet_desc *desc,
                 int error);

#ifdef __cplusplus
}
#endif
#endif
