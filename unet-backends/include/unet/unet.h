/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet.h - U-Net endpoints for applications and for the layers above.
 *
 * An endpoint is a communication segment and three kinds of queue: send, receive and free.  A
 * channel joins a local endpoint to one peer endpoint; nothing is sent from, or delivered to, an
 * endpoint without one, and both sides have to open it.  Backends differ only in who services the
 * queues (the network interface, NI); they share every line of this interface.
 *
 *      application                     NI (the backend)
 *      -----------                     ----------------
 *      unet_send_*      --> send  -->  kick, progress
 *      unet_rx_peek     <-- receive <- delivery
 *      unet_free_put    --> free  -->  buffers for messages that are not inline
 *
 * Rules for all functions, unless a function says otherwise:
 *  - They return 0 (or a count) on success and -errno on failure, and set outputs only on success.
 *  - They do not block, and belong to one thread per endpoint at a time.
 *  - Offsets and lengths are in bytes; offsets count from the segment's start.
 *  - Section numbers are those of the U-Net paper (SOSP 1995).
 */
#ifndef UNET_H
#define UNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unet/unet_abi.h>
#include <unet/unet_ops.h>
#include <unet/unet_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNET_ADDRESS_MAX 64u            /* bytes of an endpoint's address */
#define UNET_NETWORK_MAX 64u            /* bytes of a network's name */
#define UNET_SEGMENT_DEFAULT (1u << 20) /* bytes of a segment */

struct unet_endpoint;
struct unet_upcall;

/* Where an endpoint is: opaque bytes made by its backend, to be carried to the peer by any means
 * (PMIx, a file, a pipe).  Not a secret: the tag is. */
struct unet_address {
    uint32_t length; /* bytes used */
    uint8_t bytes[UNET_ADDRESS_MAX];
};

/* What a backend offers. */
enum unet_capability {
    UNET_CAP_RELIABLE = 1u << 0, /* nothing is lost, duplicated or altered */
    UNET_CAP_ORDERED = 1u << 1,  /* messages of one channel arrive in order */
    UNET_CAP_DIRECT = 1u << 2,   /* UNET_DIRECT sends (section 3.5, direct-access) */
    UNET_CAP_REMOTE = 1u << 3,   /* reaches other processes */
    UNET_CAP_RANGES = 1u << 4,   /* UNET_DIRECT sends between ranges of address spaces */
};

/* How an endpoint is made.  Zero in any number field is its default.  Slots are 2^n, 4..65536. */
struct unet_config {
    uint32_t segment_bytes; /* communication segment; default 1 MiB, multiple of 4096 */
    uint32_t send_slots;    /* descriptors in the send queue; default 64 */
    uint32_t recv_slots; /* descriptors per receive ring (there is one per channel); default 128 */
    uint32_t free_slots; /* buffers the free queue can hold; default 256 */
    uint32_t channels;   /* most channels open at once, 1..65535; default 64 */
    bool polled;         /* the owner only polls: unet_wait, fd and upcalls are -EOPNOTSUPP,
                            and senders save the check whether it sleeps */
    bool trains; /* eth: what is sent together goes as one; more memory, no UNET_UPCALL_SIGNAL */
};

/* Counters since the endpoint was opened.  Nothing is ever dropped without being counted here. */
struct unet_stats {
    uint64_t sent; /* messages handed to the NI, also those it refused */
    uint64_t sent_bytes;
    uint64_t received; /* descriptors read: messages and UNET_ERROR completions */
    uint64_t received_bytes;
    uint64_t send_full;       /* times a send found no slot (back-pressure) */
    uint64_t bad_descriptors; /* sends refused with an UNET_ERROR completion */
    uint64_t errors_lost;     /* of those, completions that found no slot */
    uint64_t foreign;         /* arrivals dropped: no such channel, or not its peer */
    uint64_t malformed;       /* arrivals dropped: lengths or offsets out of bounds */
    uint64_t overruns;        /* arrivals dropped: no slot in their ring, or no buffer */
    uint64_t wakeups;         /* doorbells rung to wake a sleeping peer */
    uint64_t upcalls;         /* upcalls run */
};

/* One channel.  Fields are the backend's; the inline functions below read them.
 *
 * `ring` is where an inline message is composed: straight in the peer's receive ring when the
 * sender itself is the NI and nothing is queued before it, otherwise the endpoint's send queue.
 * `bell` is NULL when submitting is all there is to do; otherwise the word to look at: the NI wants
 * a kick when a bit of it is set. */
struct unet_channel {
    struct unet_ring *ring;
    const uint32_t *bell;
    uint16_t number_in_ring; /* what `channel` of a descriptor in `ring` has to say */
    uint16_t number;         /* this endpoint's own number of the channel */
    uint8_t state;           /* enum unet_channel_state */
    bool fence;              /* before looking at `bell`: the other side makes none for us */
};

/* An endpoint.  Applications use the functions; the fields are visible because
 * the hot functions are inline. */
struct unet_endpoint {
    const struct unet_ops *ops;
    struct unet_channel *channel; /* by number, config.channels + 1 of them; 0 is never used */
    struct unet_ring *rx;         /* receive rings, consumer side: rx[0] has the UNET_ERROR
                                     completions, rx[n] what comes on channel n */
    uint32_t rx_rings;            /* how many of them are in use */
    uint32_t rx_next;             /* the ring to look at first (round robin) */
    uint32_t rx_taken;            /* messages from it in a row */
    uint64_t *rx_filled;          /* bits of those that may have something; NULL: all may */
    struct unet_ring tx;          /* send queue, producer side */
    struct unet_ring free;        /* free queue, producer side */
    uint32_t *armed;              /* conditions for which senders must ring; shared memory */
    bool fences_for_others;       /* arming makes the senders' fences, and sending makes none */
    uint8_t *segment;             /* the communication segment */
    struct unet_config config;    /* as opened, defaults filled in */
    uint32_t capabilities;        /* enum unet_capability bits */
    uint32_t packet_bytes;        /* the longest message that one packet of its network carries;
                                     UNET_MESSAGE_MAX where there are no packets */
    char interface[16];           /* of an endpoint on an Ethernet: its name there; otherwise "" */
    char about[64];               /* provider and domain of an endpoint of `ofi`; otherwise "" */
    int fd;                       /* readable when an armed condition came true; -1 if polled */
    bool wired;                   /* and that is when frames arrive that progress has to take in */
    uint32_t delivered;           /* descriptors that a wired endpoint has put into its rx so far */
    uint32_t armings;             /* so far */
    int bell[2];                  /* the doorbell that peers ring, read and write end */
    struct unet_upcall *upcall;   /* NULL when there is none */
    struct unet_desc rx_desc;     /* the peeked message: a private copy, checked */
    struct unet_stats stats;
};

/* ---- backends --------------------------------------------------------- */

/* The backend of that name ("shm", "udp", ...: unet_backend_at knows them all); NULL: none. */
const struct unet_ops *unet_backend(const char *name);

/* The i-th backend, counting from 0, or NULL after the last. */
const struct unet_ops *unet_backend_at(unsigned i);

/* What a user can do about an error of the backend's unet_open, or "" if it knows nothing. */
const char *unet_remedy(const struct unet_ops *backend, int error);

/* ---- endpoints -------------------------------------------------------- */

/* Open an endpoint on a backend.  `config` may be NULL for all defaults.
 *
 * On a network it is where the environment variable UNET_INTERFACE says: at an address of this
 * machine, in a network that one of its addresses is in ("10.0.0.0/8"), on an interface ("eth0"),
 * or "auto", where the default route goes out.  Without it: udp 127.0.0.1, eth lo, fe and ni auto.
 * docs/unet.md has the variables of atm, which does not look at this one, ofi, mux and ni.
 *
 * Errors: -EINVAL a size is out of its range, -ENOMEM, -EMFILE, -EFBIG (ulimit -f); of networks
 * also -EINVAL, -EADDRNOTAVAIL, -ENODEV there is no such address or interface, and others, of which
 * unet_remedy knows. */
int unet_open(const struct unet_ops *backend, const struct unet_config *config,
              struct unet_endpoint **endpoint);

/* Fills in the defaults of those fields that are zero.
 * Errors: -EINVAL a size is out of its range. */
int unet_config_complete(struct unet_config *config);

/* Whether endpoints of a backend can be had here: opens a small one and closes it.  `network` gets
 * the network of the Ethernet that it is on ("10.0.0.0/24"), or "" if there is none to tell.
 * Errors: those of unet_open. */
int unet_probe(const struct unet_ops *backend, char network[UNET_NETWORK_MAX]);

/* Close it.  Messages in flight to it are dropped, its peers see UNET_DEAD,
 * and nothing of it stays behind.  NULL is allowed. */
void unet_close(struct unet_endpoint *ep);

/* The endpoint's own address, for peers. */
void unet_address(const struct unet_endpoint *ep, struct unet_address *address);

/* ---- channels --------------------------------------------------------- */

/* Open a channel to the endpoint at `peer`.  The peer has to open one to us with the same tag: the
 * 64-bit tag names the conversation and is its secret.  Both may open in either order; until both
 * have, the channel is UNET_CONNECTING.  Two channels between the same two endpoints need two tags.
 * Errors: -ENOSPC all config.channels are in use, -EADDRNOTAVAIL the address is not one of this
 * backend, -EHOSTUNREACH nothing is there (any more), -EACCES it belongs to another user, -EEXIST
 * same peer and tag already open.  Over a network that is often not to be told: the
 * channel then stays UNET_CONNECTING. */
int unet_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                 uint16_t *channel);

/* Close a channel.  Messages that came on it and were not yet read are dropped;
 * sends still queued for it get UNET_ERROR completions with ENOTCONN.  -EINVAL: no such channel. */
int unet_disconnect(struct unet_endpoint *ep, uint16_t channel);

/* The channel's state, brought up to date.  Looks whether a peer process is alive, so it costs a
 * system call: not for a data path.  A number out of range is UNET_CLOSED. */
enum unet_channel_state unet_channel_state(struct unet_endpoint *ep, uint16_t channel);

/* ---- sending ---------------------------------------------------------- */

/* Send `length` (at most UNET_INLINE_MAX) bytes inline on a channel, the general and checked form.
 * `data` may be reused at once.  Errors: -EMSGSIZE, -EAGAIN no slot (back-pressure) or still
 * connecting, -ENOTCONN no such channel, -EPIPE the peer is dead. */
int unet_send_inline(struct unet_endpoint *ep, uint16_t channel, uint32_t user, const void *data,
                     uint32_t length);

/* Send pieces of the segment, gathered into one message of 1..UNET_MESSAGE_MAX bytes.  The NI takes
 * the bytes later: leave them alone until unet_sent(ep, *ticket).  `ticket` may be NULL.  The
 * descriptor is checked by the NI, which answers a bad one with an UNET_ERROR completion:
 *   EINVAL the descriptor contradicts itself, EFAULT a piece or `remote` lies outside its segment,
 *   EMSGSIZE too long, or longer than the next UNET_PIECES_MAX free buffers of the peer, ENOTCONN
 * no such channel, EPIPE the peer is dead, EPROTO the peer's free queue holds nonsense. A message
 * waits in the send queue while the peer has no room for it, and with it all that was queued behind
 * it. Errors: -EINVAL count is 0 or more than UNET_PIECES_MAX, -EAGAIN no slot or still connecting,
 * -ENOTCONN no such channel, -EPIPE the peer is dead. */
int unet_send(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
              const struct unet_piece *piece, uint32_t count, uint32_t *ticket);

/* Send `count` (1..UNET_PIECES_MAX) parts of memory, gathered into one message of at most
 * UNET_MESSAGE_MAX bytes, straight from where they lie: they may be reused at once.
 * Errors: -EOPNOTSUPP no `packets` operations, -EMSGSIZE (of ofi: more than 8192 bytes), -EINVAL,
 * -EAGAIN no room now or still connecting, -ENOTCONN no such channel, -EPIPE the peer is dead. */
int unet_sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user, const struct iovec *iov,
               uint32_t count);

/* Ask `fn` where the bytes of a message go behind its first UNET_PLACED_HEADER ones: it sets *place
 * and returns for how many bytes there is room there, or 0 for a message that goes into a buffer
 * like others.  What was placed is told by a descriptor of kind UNET_PLACED; a message longer than
 * the room is dropped and counted in stats.overruns.  `fn` is called while the owner makes
 * progress, when a message longer than UNET_INLINE_MAX begins to arrive and all earlier ones of its
 * channel have been read or placed; it may call nothing of this header.  (Direct data placement, as
 * in RFC 5041.)  Errors: -EOPNOTSUPP no `packets` operations. */
int unet_set_placement(struct unet_endpoint *ep, unet_placement_fn *fn, void *arg);

/* Until unet_uncork, messages that go in packets wait for more, tens of KiB at most, to share them.
 * About `bytes` of what comes are for that channel: they may have another way, and what unet_sendv
 * is given for it stays as it is meanwhile.  Does not nest.  No-ops without packets. */
static inline void unet_cork_bulk(struct unet_endpoint *ep, uint16_t channel, size_t bytes)
{
    if (ep->ops->packets)
        ep->ops->packets->cork(ep, channel, bytes);
}

/* The same of what is short, or for many. */
static inline void unet_cork(struct unet_endpoint *ep)
{
    unet_cork_bulk(ep, 0, 0);
}

static inline void unet_uncork(struct unet_endpoint *ep)
{
    if (ep->ops->packets)
        ep->ops->packets->uncork(ep);
}

/* Whether all that was sent has arrived, or its receiver is dead, as far as the endpoint can know:
 * one with packets knows it by acknowledgements, any other when its send queue is empty. */
bool unet_idle(struct unet_endpoint *ep);

/* Let packets for an open channel go that wait for more messages.  Returns how many still wait, for
 * acknowledgements or room, until the endpoint makes progress; 0 without packets. */
uint32_t unet_push_packets(struct unet_endpoint *ep, uint16_t channel);

/* As unet_send, and the next call on the endpoint must be unet_send or unet_send_more again: until
 * the former, the NI need not look at what is queued, and may then take it all at once. */
int unet_send_more(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                   const struct unet_piece *piece, uint32_t count, uint32_t *ticket);

/* As unet_send, but the bytes land at offset `remote` of the peer's segment and
 * the peer's receive descriptor (kind UNET_DIRECT) uses none of its buffers.
 * Errors: as unet_send, and -EOPNOTSUPP without UNET_CAP_DIRECT. */
int unet_send_direct(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                     const struct unet_piece *piece, uint32_t count, uint64_t remote,
                     uint32_t *ticket);

/* Push any prepared descriptor into the send queue (its `turn` is ignored): what the functions
 * above are made of, and how a test sends a bad one.  Errors: -EAGAIN no slot. */
int unet_push(struct unet_endpoint *ep, const struct unet_desc *desc, uint32_t *ticket);

/* True when the NI is done with that ticket's descriptor, whose pieces may be reused, be it
 * delivered or refused (the paper's send-complete flag).  A ticket is good for 2^31 further sends.
 */
bool unet_sent(const struct unet_endpoint *ep, uint32_t ticket);

/* Between publishing a message and looking whether the other side sleeps; it arms, then looks
 * for messages.  Both need a full fence between, and the sleeper may make both. */
static inline void unet_bell_fence(const struct unet_channel *ch)
{
    if (__builtin_expect(ch->fence, 0))
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* E, matches F */
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* The hot path of an inline message, in two steps: between them the caller fills in `data`, and
 * nothing else.  `channel` must be a number that unet_connect gave.  NULL: no slot now, or no
 * longer open; ask unet_channel_state which when it lasts.  Every begun message must be ended
 * before anything else is called on the endpoint.  `length` is at most UNET_INLINE_MAX. */
static inline struct unet_desc *unet_inline_begin(struct unet_endpoint *ep, uint16_t channel)
{
    return unet_ring_reserve(ep->channel[channel].ring);
}

static inline void unet_inline_end(struct unet_endpoint *ep, uint16_t channel, uint32_t length,
                                   uint32_t user)
{
    const struct unet_channel *ch = &ep->channel[channel];

    ep->stats.sent++;
    ep->stats.sent_bytes += length;
    unet_ring_submit_inline(ch->ring, ch->number_in_ring, length, user);
    if (ch->bell) {
        unet_bell_fence(ch);
        if (__builtin_expect(__atomic_load_n(ch->bell, __ATOMIC_RELAXED) != 0, 0))
            ep->ops->kick(ep, channel);
    }
}

/* ---- receiving -------------------------------------------------------- */

/* The oldest message of some ring, or NULL when there is none; rings take turns of UNET_RX_BURST
 * messages.  The descriptor stays valid until the next peek.  In it, `channel` is this endpoint's
 * number of the channel it came on; of UNET_PIECES, `piece` names buffers that came from the free
 * queue and now belong to the caller, who gives each back with unet_free_put when done; of
 * UNET_DIRECT, it has one piece, where the bytes are, or none if they are in a range.
 *
 * What is returned is a private copy and was checked: kind, channel, lengths, offsets.  Anything
 * else is counted and dropped. */
static inline const struct unet_desc *unet_rx_peek(struct unet_endpoint *ep);

/* Give the peeked descriptor back (not its buffers). */
static inline void unet_rx_release(struct unet_endpoint *ep);

/* Give the NI a buffer of the segment for messages that are not inline.  The NI fills it from its
 * start; a message longer than one buffer takes several, up to UNET_PIECES_MAX.
 * Errors: -EINVAL outside the segment or empty, -EAGAIN the free queue is full. */
int unet_free_put(struct unet_endpoint *ep, uint32_t offset, uint32_t length);

/* Let the NI do what waits to be done: service the send queue, take in what arrived, notice dead
 * peers.  Returns the number of descriptors it moved (0 = idle).  Needed while sends are queued,
 * and before believing that nothing arrived; a plain unet_rx_peek suffices in between. */
static inline int unet_progress(struct unet_endpoint *ep)
{
    return ep->ops->progress(ep);
}

/* Block until a message is there, up to `timeout_ms` (-1 = for ever, 0 = look).  Returns 1 when one
 * is there, 0 on time-out, and 0 early when a channel opened meanwhile or was found dead.  Services
 * the send queue, every millisecond if something is stuck there.
 * Errors: -EOPNOTSUPP a polled endpoint, -EBUSY it has upcalls, -EINTR a signal came. */
int unet_wait(struct unet_endpoint *ep, int timeout_ms);

/* A descriptor for select/poll/epoll, or -EOPNOTSUPP on a polled endpoint.  The use is: unet_arm;
 * if it returns 0, sleep until the fd is readable, or its timeout is over; then unet_disarm and
 * drain the endpoint.  A peer's death makes it readable, too.  Owned by the endpoint. */
int unet_fd(const struct unet_endpoint *ep);

/* Ask senders to ring from now on.  Returns 1 if a message is there already (and then leaves it
 * disarmed), else 0.  `*timeout_ms` is what the caller means to sleep (-1 = for ever); it is made
 * shorter if the endpoint needs unet_progress before that.  NULL, for a caller that looks often
 * enough, is allowed on endpoints without `packets` operations.  Until unet_disarm, the same thread
 * may call nothing else on an endpoint with them, and its network interface does nothing.
 * Errors: -EOPNOTSUPP a polled endpoint, -EBUSY it has upcalls, -EINVAL NULL. */
int unet_arm(struct unet_endpoint *ep, int *timeout_ms);

/* Stop the ringing, swallow what was rung and bring all channels' states up to date.  Two system
 * calls. */
void unet_disarm(struct unet_endpoint *ep);

/* ---- direct access to the address space (section 3.5) ----------------- */

/* Endpoints with UNET_CAP_RANGES may export ranges of their process' address space, and grant parts
 * of them to peers.  A peer names grant and place (UNET_PLACE), and what it sends lands there
 * without this process' help; then it is told by a descriptor of kind UNET_DIRECT without pieces,
 * whose `remote` is the place.  For that the pages have to be pinned: hold them.  What comes for
 * others is dropped and counted.
 *
 * All of these are -EOPNOTSUPP without UNET_CAP_RANGES. */

/* Make a range of what is there.  Whole pages; nothing is pinned yet.
 * Errors: -EINVAL no whole pages of the address space, -ENOSPC UNET_RANGES_MAX of them, -ENOMEM. */
int unet_export(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range);

/* End that, and what was granted of it; nothing comes any more once it returns.
 * Errors: -EINVAL no such range. */
int unet_unexport(struct unet_endpoint *ep, uint16_t range);

/* Have a place's pages pinned as they are mapped now, and keep them so until they are released as
 * often; meanwhile who unmaps them gets no data.  They remain pinned after that, as long as their
 * mapping stays and there is room for others, so holding them again is cheap.
 * Errors: -EINVAL not in a range, -EFAULT not all of it is mapped for writing, -EOPNOTSUPP pages
 * of a file, -ENOBUFS, -EDQUOT more than this user may have pinned at once, -EBUSY
 * something near by is held that came before its mapping changed, or of which more is wanted,
 * -EPERM the range is another process', -ENOMEM. */
int unet_hold(struct unet_endpoint *ep, uint64_t place, uint64_t length);
void unet_release(struct unet_endpoint *ep, uint64_t place, uint64_t length);

/* Let the channel's peer write from `place` on.  The grant is a random number that it has to be
 * told; it ends with the channel, too. Errors: -EINVAL no such channel, or not in a range,
 * -ENOTCONN the channel is closed, -ENOSPC UNET_GRANTS_MAX of them. */
int unet_grant(struct unet_endpoint *ep, uint16_t channel, uint64_t place, uint64_t length,
               uint64_t *grant);

/* End that; nothing comes any more once it returns, however late it is.
 * Errors: -EINVAL no such grant. */
int unet_revoke(struct unet_endpoint *ep, uint64_t grant);

/* Send `length` bytes from a place of our own, which is held until unet_sent(ep, *ticket), to one
 * of the peer's that it has granted.  The longest message is UNET_DIRECT_BYTES shorter than others.
 * Errors: as unet_send; by completion EFAULT: our place is not held. */
int unet_put(struct unet_endpoint *ep, uint16_t channel, uint32_t user, uint64_t local,
             uint32_t length, uint64_t remote, uint64_t grant, uint32_t *ticket);

/* As unet_put, and the next call on the endpoint is unet_put or unet_put_more again: see
 * unet_send_more. */
int unet_put_more(struct unet_endpoint *ep, uint16_t channel, uint32_t user, uint64_t local,
                  uint32_t length, uint64_t remote, uint64_t grant, uint32_t *ticket);

/* ---- upcalls (section 3.1) -------------------------------------------- */

/* Called when a condition comes true, by the signal's handler or by the endpoint's upcall thread.
 * It should drain everything: it is not called again for messages that were there.  While it runs
 * the endpoint is its own: everybody else masks upcalls around every use of the endpoint.  Under
 * UNET_UPCALL_SIGNAL only async-signal-safe functions and the sending and receiving ones of this
 * header may be used in it. */
typedef void unet_upcall_fn(struct unet_endpoint *ep, void *arg);

enum unet_upcall_mode {
    UNET_UPCALL_NONE = 0,
    UNET_UPCALL_SIGNAL = 1, /* SIGIO, delivered to the thread that asked for it */
    UNET_UPCALL_THREAD = 2, /* a thread of the library, one per endpoint */
};

/* Ask for upcalls on the conditions (enum unet_condition bits), or end them with
 * UNET_UPCALL_NONE, which returns when no upcall runs any more.  Asking anew
 * replaces what was asked before.  After the first use of SIGIO its handler stays,
 * and passes signals of other descriptors on to the handler it found.
 * Errors: -EINVAL, -EOPNOTSUPP a polled endpoint, or one without a doorbell, or SIGIO of one with
 * trains, -EBUSY another endpoint of the process has SIGIO, -EAGAIN no thread to be had, -ENOMEM,
 * -EDEADLK called by the upcall itself. */
int unet_upcall(struct unet_endpoint *ep, enum unet_upcall_mode mode, uint32_t conditions,
                unet_upcall_fn *fn, void *arg);

/* Hold upcalls back for a critical section; a few ns.  Does not nest.  Returns when none is running
 * (under UNET_UPCALL_THREAD it waits for that).  What came meanwhile is told at unmask. */
void unet_upcall_mask(struct unet_endpoint *ep);
void unet_upcall_unmask(struct unet_endpoint *ep);

/* ---- inline bodies ---------------------------------------------------- */

/* Out of line: `rx_desc`, from the head of rx[ring], is not a plain inline message.
 * Checks it, and if it is wrong counts and drops it and goes on to the ring's next.
 * Returns whether `rx_desc` holds a good one. */
bool unet_rx_check(struct unet_endpoint *ep, uint32_t ring);

static inline bool unet_rx_plain(const struct unet_desc *desc, uint32_t ring)
{
    return desc->kind == UNET_INLINE && desc->channel == ring && desc->length <= UNET_INLINE_MAX;
}

#define UNET_RX_BURST 16u

/* The same by rx_filled. */
const struct unet_desc *unet_rx_peek_filled(struct unet_endpoint *ep);

static inline const struct unet_desc *unet_rx_peek(struct unet_endpoint *ep)
{
    uint32_t i = ep->rx_next;

    if (__builtin_expect(ep->rx_filled != NULL, 0))
        return unet_rx_peek_filled(ep);
    for (uint32_t left = ep->rx_rings; left > 0; left--) {
        const struct unet_desc *desc = unet_ring_peek(&ep->rx[i]);

        if (desc) {
            ep->rx_next = i;
            ep->rx_desc = *desc; /* and from now on the sender can do what it likes */
            if (__builtin_expect(unet_rx_plain(&ep->rx_desc, i), 1) || unet_rx_check(ep, i))
                return &ep->rx_desc;
        }
        if (++i >= ep->rx_rings)
            i = 0;
    }
    return NULL;
}

static inline void unet_rx_release(struct unet_endpoint *ep)
{
    ep->stats.received++;
    ep->stats.received_bytes += ep->rx_desc.length;
    unet_ring_release(&ep->rx[ep->rx_next]);
    if (++ep->rx_taken < UNET_RX_BURST)
        return;
    ep->rx_taken = 0;
    if (++ep->rx_next >= ep->rx_rings)
        ep->rx_next = 0;
}

#ifdef __cplusplus
}
#endif
#endif
