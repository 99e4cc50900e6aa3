/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ofi.h - endpoints whose network interface is a fabric, reached by libfabric.
 *
 * An endpoint has one reliable-datagram endpoint (FI_EP_RDM) of a provider.  Posted receives take
 * in what comes, for all channels together.  A message consumes one of the credits that the
 * receiver has given the channel, and the receiver has a posted receive for each of them: so none
 * ever arrives where there is no room for it, whatever the provider would do then.  A message that
 * finds no slot in its ring, or no buffer, stays in its receive, and its credit is not returned.
 *
 *   provider.c  which providers are used, and how one is found
 *   fabric.c    the site's libfabric; opening a domain of the provider
 *   buffer.c    posted receives, and messages under way
 *   channel.c   opening, closing, and noticing that a peer is gone
 *   send.c      from the send queue to the fabric
 *   receive.c   from the fabric to the receive rings
 *   range.c     direct access: registered windows
 *   endpoint.c  opening an endpoint, progress, sleeping
 */
#ifndef UNET_OFI_H
#define UNET_OFI_H

#include "core/core.h"

#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <unet/unet_ni.h>

enum {
    OFI_VERSION = 1,
    OFI_FRAGMENT = 8192,            /* bytes of a message in one packet */
    OFI_PACKET = OFI_FRAGMENT + 64, /* bytes of a packet */
    OFI_WINDOW_MOST = 128,          /* credits of a channel */
    OFI_CONTROLS = 4,               /* receives per channel for packets that use no credit */
    OFI_SENDS = 128,                /* packets that the provider may be reading */
    OFI_NAME_MOST = 44,             /* bytes of a provider's address */
    OFI_PROVIDER_MOST = 24,         /* bytes of a provider's name */
    OFI_LANDING_BYTES = 4,          /* of the data that tells that a write has landed */
};

/* ---- on the wire ------------------------------------------------------------------------ */

/* Those up to OFI_SEQUENCED are delivered in order, and each consumes a credit. */
enum ofi_kind {
    OFI_INLINE = 1,
    OFI_PIECES = 2, /* a fragment of a message for buffers, or for a place */
    OFI_PUT = 3,    /* struct ofi_put: a write of that length */
    OFI_GRANT = 4,  /* struct ofi_window */
    OFI_REVOKE = 5, /* uint64_t: the grant */
    OFI_SEQUENCED = 5,

    OFI_OPEN = 8,     /* struct ofi_hello: the sender has opened the channel */
    OFI_OPENED = 9,   /* struct ofi_hello: the answer, if the receiver of that has, too */
    OFI_CLOSE = 10,   /* struct ofi_hello: the sender has closed it */
    OFI_ASK = 11,     /* a question: answered by whoever makes progress */
    OFI_ACK = 12,     /* the answer, and what returns credits if nothing else does */
    OFI_REFUSED = 13, /* `user` and `length` of a message that was too long for the buffers */
};

/* In front of every packet.  Counters are modulo 65536; a window is far smaller. */
struct ofi_header {
    uint32_t token[2]; /* the receiver's, of this opening of its channel */
    uint8_t version;
    uint8_t kind;      /* enum ofi_kind */
    uint16_t channel;  /* the receiver's number of it */
    uint16_t seq;      /* sequenced packets sent before on this channel */
    uint16_t ack;      /* packets of the other direction that need no receive any more */
    uint16_t writes;   /* writes sent before, which have to land first */
    uint16_t fragment; /* its number in the message */
    uint32_t length;   /* bytes of the message */
    uint32_t user;
};

struct ofi_hello {
    uint64_t key;      /* the name of the channel's direction, from sender to receiver */
    uint32_t token[2]; /* what the receiver has to say from now on */
    uint16_t channel;  /* the sender's number of the channel */
    uint16_t window;   /* credits that it gives */
    uint32_t pad;
};

struct ofi_put {
    uint64_t place; /* UNET_PLACE, the receiver's */
};

/* A registered window: what its owner tells who may write there. */
struct ofi_window {
    uint64_t grant;
    uint64_t place, length;
    uint64_t key;  /* the provider's, for the memory region */
    uint64_t base; /* what `place` is to the provider */
};

UNET_ABI_ASSERT(sizeof(struct ofi_header) == 28);
UNET_ABI_ASSERT(sizeof(struct ofi_hello) == 24);
UNET_ABI_ASSERT(sizeof(struct ofi_window) == 40);
UNET_ABI_ASSERT(sizeof(struct ofi_header) + OFI_FRAGMENT <= OFI_PACKET);

/* ---- in memory ---------------------------------------------------------------------------- */

/* An endpoint's address, as it stands in struct unet_address. */
struct ofi_address {
    uint64_t nonce;
    uint32_t host; /* equal on the same machine, in the same PID namespace */
    uint32_t pid;
    uint8_t provider; /* its number in the list of provider.c */
    uint8_t length;   /* of `name` */
    uint8_t name[OFI_NAME_MOST];
    uint16_t pad;
};

/* Something that the provider does; its completion has the address of this. */
struct ofi_op {
    struct fi_context2 context; /* first: the provider's */
    struct ofi_op *next;        /* in the list that it is in */
    uint8_t *bytes;             /* a packet */
    void *descriptor;           /* of the memory region that it is in */
    uint32_t length;
    uint32_t position; /* a write: its descriptor in the send queue */
    uint32_t token;    /* a send, a write: of the channel whose failure it would be */
    uint16_t channel;  /* and its number */
    uint8_t what;      /* enum ofi_what */
};

enum ofi_what { OFI_IS_RECEIVE, OFI_IS_SEND, OFI_IS_WRITE };

/* Packets in one piece of memory, registered if the provider wants that. */
struct ofi_slab {
    struct ofi_slab *next;
    struct fid_mr *mr; /* NULL: the provider wants none */
    uint8_t *memory;
    size_t bytes;
    uint32_t count;
    struct ofi_op op[];
};

struct ofi_list {
    struct ofi_op *first, *last;
};

/* A window of the peer's. */
struct ofi_theirs {
    struct ofi_theirs *next;
    struct ofi_window window;
};

/* What the endpoint keeps of one channel. */
struct ofi_link {
    struct unet_link common; /* first */
    fi_addr_t address;
    uint64_t key_in, key_out;
    uint32_t token[2];      /* what the peer has to say */
    uint32_t peer_token[2]; /* and we */
    int process;            /* a pidfd, if the peer is on this machine and not this process; -1 */
    struct sockaddr_in6 where; /* the TCP port at which a peer on another machine listens */
    socklen_t where_bytes;     /* 0: there is none */
    uint16_t same_bucket;      /* the next channel of the list that `bucket` heads; 0: none */
    uint16_t peer_channel;     /* its number of the channel; 0: it has said nothing yet */
    uint16_t peer_window;      /* credits that it has given */
    uint16_t sent, acked;      /* sequenced packets, and how many of them the peer has done with */
    uint16_t expected;         /* the next one from the peer */
    uint16_t done, told;       /* of the peer's, those done with, and how many the peer knows of */
    uint16_t writes, landed;   /* sent to the peer, and come from it */
    uint16_t fragment;         /* of the message that is being sent, the next */
    uint32_t blocked;          /* the round of send.c in which the channel took no more */
    struct ofi_list held;      /* packets that wait for room, in order */
    struct unet_piece piece[UNET_PIECES_MAX]; /* where a message goes of which parts have come */
    uint8_t pieces;                           /* how many; 0: none has */
    bool dropping;                            /* what is left of a message goes nowhere */
    uint32_t gathered, gathering;             /* bytes of it that have come, and all */
    uint32_t unplaced;     /* position in the ring behind the last message that was not placed */
    bool attended;         /* it is in the list of channels that need attention */
    uint16_t next;         /* in that list */
    bool answer;           /* the peer has asked */
    bool revokes;          /* grants have ended of which it was not told */
    uint64_t asked_us;     /* when we asked it last */
    uint32_t ask_pause_us; /* until we ask again; doubles while it does not answer */
    int knock;             /* a socket that finds out whether anybody listens there; -1 */
    struct ofi_theirs *theirs;
    uint32_t theirs_count;
};

/* A range, a held place, a grant: range.c. */
struct ofi_range {
    uint64_t address, bytes; /* bytes 0: there is none of that number */
};

struct ofi_held {
    struct ofi_held *next;
    uint64_t address, length;
    struct fid_mr *mr; /* NULL: the provider registers nothing locally */
    uint32_t holders;
};

struct ofi_grant {
    uint64_t grant; /* 0: free */
    uint64_t place, length;
    struct fid_mr *mr; /* NULL: revoked, and the peer is still to be told */
    uint16_t channel;
};

struct ofi_fabric {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    bool registers; /* FI_MR_LOCAL: what is sent and received has to be registered */
    bool writes;    /* it has what direct access needs */
    uint8_t provider;
};

struct ofi_endpoint {
    struct unet_ni ni; /* first */
    struct ofi_fabric fabric;
    struct ofi_address own;
    struct ofi_link *link; /* by channel number */
    uint16_t *bucket;      /* channels that are not closed, by `key_in` */
    uint32_t bucket_mask;  /* their number - 1 */
    uint16_t window;       /* credits that each peer gets */
    uint16_t attention;    /* first of the channels that need it; 0: none */
    size_t inject_most;    /* bytes that fi_inject takes */

    uint8_t *progress_of; /* of each slot of the send queue, what has been done: send.c */
    uint32_t round;       /* looks through the send queue */

    struct ofi_slab *receives, *sends;
    struct ofi_list unposted;   /* receives that the provider had no room for */
    struct ofi_list free_sends; /* not under way */
    uint32_t receives_made, receives_wanted;
    uint32_t under_way; /* sends and writes without completion yet */

    unet_placement_fn *placement; /* NULL: there is none */
    void *placement_arg;

    struct ofi_range range[UNET_RANGES_MAX + 1]; /* by number, from 1 */
    struct ofi_held *held;
    struct ofi_grant grant[UNET_GRANTS_MAX];
    uint64_t settle_us; /* when unet_idle last asked */
};

static inline struct ofi_endpoint *ofi_of(struct unet_endpoint *ep)
{
    return (struct ofi_endpoint *)ep;
}

static inline bool ofi_same_token(const uint32_t a[2], const uint32_t b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

/* ---- provider.c --------------------------------------------------------------------------- */

struct ofi_provider {
    const char *name;
    bool by_itself; /* it is used without having been named */
    bool internet;  /* its endpoints are at IP addresses, so UNET_INTERFACE says where */
    bool listens;   /* and at a TCP port, where nobody listens once an endpoint is gone */
    bool wakes;     /* its descriptors wake whoever sleeps (FI_WAIT_FD) */
};

/* The i-th, or NULL after the last. */
const struct ofi_provider *unet_ofi_provider(unsigned i);

/* Find the provider that UNET_OFI_PROVIDER names, or else the first that is here.
 * Errors: -EPROTONOSUPPORT it names one that is not used, -ENODATA it is not here, -EOVERFLOW one
 * is here that asks for what this backend does not do, those of unet_local. */
int unet_ofi_provider_find(struct fi_info **info, uint8_t *provider);

/* ---- fabric.c ----------------------------------------------------------------------------- */

/* The functions that libfabric exports; all others are inline and go through its objects. */
struct ofi_library {
    uint32_t (*version)(void);
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                   struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    struct fi_info *(*dupinfo)(const struct fi_info *);
    int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
};

/* Load it, once in a process.  Errors: -ELIBACC it is not there, -ELIBBAD it is no libfabric, or
 * too old. */
int unet_ofi_library(const struct ofi_library **library);

/* The version of the interface that is asked for. */
uint32_t unet_ofi_version(const struct ofi_library *library);

/* With room for so many posted receives, or as many as the provider has.  Undone by
 * unet_ofi_fabric_close, also if it has failed half-way. */
int unet_ofi_fabric_open(struct ofi_fabric *f, bool polled, uint32_t receives);
void unet_ofi_fabric_close(struct ofi_fabric *f);

/* Register memory.  Without a wish for its key, `key` is 0. */
int unet_ofi_register(const struct ofi_fabric *f, const void *address, size_t bytes,
                      uint64_t access, uint64_t key, struct fid_mr **mr);

/* ---- buffer.c ----------------------------------------------------------------------------- */

static inline void ofi_list_add(struct ofi_list *list, struct ofi_op *op)
{
    op->next = NULL;
    if (list->first)
        list->last->next = op;
    else
        list->first = op;
    list->last = op;
}

static inline struct ofi_op *ofi_list_take(struct ofi_list *list)
{
    struct ofi_op *op = list->first;

    if (op)
        list->first = op->next;
    return op;
}

/* Have as many receives as are wanted.  Errors: -ENOMEM. */
int unet_ofi_receives_make(struct ofi_endpoint *oe);
int unet_ofi_sends_make(struct ofi_endpoint *oe);
void unet_ofi_buffers_free(struct ofi_endpoint *oe);

/* Give a receive to the provider, or keep it until that has room. */
void unet_ofi_post(struct ofi_endpoint *oe, struct ofi_op *op);
void unet_ofi_post_again(struct ofi_endpoint *oe);

/* Whether a completion's context is one of ours: that of a failed fi_inject may be anything. */
bool unet_ofi_is_op(const struct ofi_endpoint *oe, const struct ofi_op *op);

/* ---- send.c ------------------------------------------------------------------------------- */

/* Send what is in the send queue, as far as channels and provider take it.  Returns the number of
 * descriptors done with. */
int unet_ofi_service(struct ofi_endpoint *oe);

/* A write has completed. */
void unet_ofi_written(struct ofi_endpoint *oe, uint32_t position);

/* Send a packet that consumes no credit.  Errors: -EAGAIN; others: the provider cannot reach the
 * peer. */
int unet_ofi_send_control(struct ofi_endpoint *oe, uint16_t n, enum ofi_kind kind, const void *data,
                          size_t bytes);

/* The same, for a message of the peer's that no four buffers hold. */
int unet_ofi_send_refused(struct ofi_endpoint *oe, uint16_t n, uint32_t user, uint32_t length);

/* Send one that consumes a credit, past the send queue.  Errors: the same, and -EAGAIN there is no
 * credit. */
int unet_ofi_send_note(struct ofi_endpoint *oe, uint16_t n, enum ofi_kind kind, const void *data,
                       size_t bytes);

/* The entry `sendv` of struct unet_packet_ops. */
int unet_ofi_sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                   const struct iovec *iov, uint32_t count);

/* ---- receive.c ---------------------------------------------------------------------------- */

/* Take in completions.  Returns how many. */
int unet_ofi_receive(struct ofi_endpoint *oe);

/* What the peer's packets say of ours.  False: it cannot be. */
bool unet_ofi_acked(struct ofi_link *link, uint16_t ack);

/* Deliver what was held back of a channel, as far as there is room. */
void unet_ofi_deliver_held(struct ofi_endpoint *oe, uint16_t n);

/* Drop what was held back. */
void unet_ofi_drop_held(struct ofi_endpoint *oe, uint16_t n);

/* ---- channel.c ---------------------------------------------------------------------------- */

int unet_ofi_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                     uint16_t *channel);
void unet_ofi_disconnect(struct unet_endpoint *ep, uint16_t channel);
void unet_ofi_state(struct unet_endpoint *ep, uint16_t channel);

/* Tell all peers that this endpoint closes. */
void unet_ofi_close_all(struct ofi_endpoint *oe);

/* The entry `tell` of struct unet_ni_kind. */
void unet_ofi_tell(struct unet_ni *ni, uint16_t n);

/* Ask the peer, if it is time. */
void unet_ofi_ask(struct ofi_endpoint *oe, uint16_t n, uint64_t now_us);

/* Handle a packet without a message, which nobody has checked. */
void unet_ofi_control(struct ofi_endpoint *oe, const struct ofi_header *header, const uint8_t *data,
                      size_t bytes);

/* The peer no longer exists, or cannot be reached any more. */
void unet_ofi_gone(struct ofi_endpoint *oe, uint16_t n);

/* Have `unet_ofi_attend` look at the channel. */
void unet_ofi_needs_attention(struct ofi_endpoint *oe, uint16_t n);
void unet_ofi_attend(struct ofi_endpoint *oe);

/* ---- range.c ------------------------------------------------------------------------------ */

extern const struct unet_range_ops unet_ofi_range_ops;

/* Begin the write that the descriptor says.  Errors: -EINVAL, -EFAULT, -EMSGSIZE it is a bad one,
 * -EAGAIN, others: the provider cannot reach the peer. */
int unet_ofi_write(struct ofi_endpoint *oe, const struct unet_desc *desc, uint32_t position);

/* The peer has told of a window, or that one has ended.  False: it is malformed. */
bool unet_ofi_granted(struct ofi_link *link, const uint8_t *data, size_t bytes);
bool unet_ofi_revoked(struct ofi_link *link, const uint8_t *data, size_t bytes);

/* Tell the peer of grants that have ended.  False: not all of it could be told. */
bool unet_ofi_tell_revoked(struct ofi_endpoint *oe, uint16_t n);

/* Whether the channel's peer may have written there. */
bool unet_ofi_may_write(const struct ofi_endpoint *oe, uint16_t n, uint64_t place, uint64_t length);

/* Forget the channel's windows, ours and theirs. */
void unet_ofi_ranges_forget(struct ofi_endpoint *oe, uint16_t n);
void unet_ofi_ranges_free(struct ofi_endpoint *oe);

#endif
