/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable.h - a reliable, ordered U-Net endpoint on top of one that is neither.
 *
 * The endpoint is used like any other (unet/unet.h): channels, send and receive queues, a segment.
 * Its network interface is a protocol (docs/protocol.md) that numbers, acknowledges, repeats and
 * authenticates packets, and sends these over the endpoint below, which may lose, repeat, reorder
 * and alter them.  It provides UNET_CAP_RELIABLE and UNET_CAP_ORDERED, and the operations of
 * struct unet_packet_ops.
 *
 * Endpoints are known to one another by *ranks*: every process of a job has one, and two ranks have
 * one channel to each other.  An endpoint's address includes its rank: unet_address gives it, or
 * reliable_address makes it of the address of the endpoint below.
 *
 * Messages are not flow-controlled.  The layer above has to leave, for each peer, as many receive
 * slots, and buffers as long as the longest message, as messages may be on their way, which GAM
 * does by credits.  What finds no slot or buffer is acknowledged, dropped and counted in
 * unet_stats.overruns.
 *
 * Two ranks have one connection in their lives: after unet_disconnect, if anything was ever sent,
 * unet_connect to that rank is -EHOSTUNREACH.
 *
 * The functions below want an endpoint that reliable_open has made.  They belong to its owner, one
 * thread at a time, unless they say otherwise, and wait at most while another thread is in
 * reliable_keepalive.  They return 0 or -errno, and set outputs only on success.
 */
#ifndef RELIABLE_H
#define RELIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unet/unet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What of a packet its authentication code covers.  All ranks have to be of one mind: packets of
 * another mode are refused as forged ones are.  docs/protocol.md says what each protects from. */
enum reliable_auth {
    RELIABLE_AUTH_FULL,   /* all of it */
    RELIABLE_AUTH_HEADER, /* the header and 128 bytes of messages: small packets in whole */
    RELIABLE_AUTH_OFF,    /* nothing: packets carry a number that all ranks of the job know */
};

/* Bulk by TCP: what unet_cork_bulk announces goes by a TCP connection of the kernel to that rank,
 * if it is so long and the endpoint below knows where the rank is in an IP network (udp, and eth on
 * an interface with an address).  The receiver listens on a port of its choice from the first time
 * on that somebody asks it to; only the asking rank is told a number that opens it.  Until there is
 * a connection, and where there is none, all goes by packets.  All promises hold, of order, of
 * authenticity, of UNET_DEAD.  There are two descriptors and 200 KB for each rank to and from which
 * bulk goes, for 64 ranks at most. */
/* Shorter bulk gains nothing by it, nor does less in all, as opening takes each side 0.3 ms. */
#define RELIABLE_STREAM_BYTES 32768u
#define RELIABLE_STREAM_AFTER (1u << 20)

struct reliable_config {
    uint32_t ranks;           /* of the job, 1..65535 */
    uint32_t rank;            /* of this process, below `ranks` */
    uint64_t key[2];          /* the job's secret: packets under another key are refused */
    uint32_t peer_timeout_ms; /* a rank that is silent for so long is dead; 0: 10000 */
    enum reliable_auth auth;
    size_t stream_bytes; /* bulk of at least so many bytes goes by TCP; 0: none does, see above; */
    uint64_t stream_after; /* when about so many bytes of it have gone to the rank */
};

/* Fills in the sizes that the endpoint below should be opened with, for a job of that many ranks.
 * The other fields are left alone. */
void reliable_lower_config(uint32_t ranks, struct unet_config *lower);

/* Opens a reliable endpoint of the given sizes (as unet_open; NULL: the defaults) in front of
 * `lower`, which has no channels and no buffers yet.  On success it owns `lower`, and unet_close
 * closes both.  It has as many channels as `lower`, and is polled if that is.
 *
 * unet_disconnect and unet_close wait until what was sent to the channel's peer is acknowledged, or
 * the peer dead, but all calls together no longer than a second.
 *
 * Errors: -EINVAL a rank, a size or a mode is out of range, or `lower` has fewer than 32 send
 * slots, -ENOMEM, -EOPNOTSUPP packets of the endpoint below are shorter than 512 bytes, or its
 * address is too long for a rank behind it. */
int reliable_open(struct unet_endpoint *lower, const struct reliable_config *config,
                  const struct unet_config *sizes, struct unet_endpoint **endpoint);

/* The address of a rank's reliable endpoint, given that of its endpoint below.
 * Errors: -EADDRNOTAVAIL that is too long. */
int reliable_address(const struct unet_address *lower, uint32_t rank, struct unet_address *address);

/* Whether an authentic packet has ever come from a rank.  If not, a firewall may block the path. */
bool reliable_answers(struct unet_endpoint *ep, uint32_t rank);

/* False: a rank was taken for dead although it answered, because what was sent to it again and
 * again did not arrive: the path MTU has probably become smaller. */
bool reliable_reaches(struct unet_endpoint *ep, uint32_t rank);

/* For another thread than the owner, at any time before unet_close: does what the protocol needs
 * (acknowledges, sends again, shows that we live) if the owner has not made progress since the last
 * call.  Messages stay in the receive queues. */
void reliable_keepalive(struct unet_endpoint *ep);

struct reliable_stats {
    uint64_t messages_sent;     /* each counted once, however often its packets were sent */
    uint64_t messages_received; /* in the same way */
    uint64_t narrow; /* ranks to which only shorter packets pass than the endpoint below sends */
    bool queued;     /* messages wait in the send queue for room in a window */
};

/* What has been counted since the endpoint was opened, and what waits now. */
void reliable_stats(struct unet_endpoint *ep, struct reliable_stats *stats);

/* ---- direct access, if the endpoint below has UNET_CAP_RANGES ------------------------ */

/* Memory to memory, past the protocol, which neither numbers nor repeats what is sent that way.
 * The receiver makes a key (rkey) for a piece of its memory and tells it to the sender; in the end
 * it revokes the key, after which nothing arrives any more, and both compare authentication codes
 * of the memory: they differ if anything was lost or altered.  The sender then has to send the data
 * in another way. */

#define RELIABLE_DIRECT_PIECES 16u /* packets of a put, at most */

/* Makes all of the process' memory available for that; nothing is pinned yet.
 * Errors: -EOPNOTSUPP the endpoint below has no ranges, -ENOMEM, -EINVAL. */
int reliable_direct_open(struct unet_endpoint *ep);

/* The most bytes of one piece; 0: direct access is not open. */
size_t reliable_direct_most(const struct unet_endpoint *ep);

/* Pins memory that is sent from, and unpins it.  Errors: those of unet_hold, -EOPNOTSUPP. */
int reliable_direct_pin(struct unet_endpoint *ep, const void *address, size_t n);
void reliable_direct_unpin(struct unet_endpoint *ep, const void *address, size_t n);

/* Pins memory and lets a rank write there until the key is revoked; keys are not 0.
 * Errors: those of unet_hold and unet_grant, -EOPNOTSUPP, -EINVAL no such rank. */
int reliable_direct_grant(struct unet_endpoint *ep, uint32_t rank, const void *address, size_t n,
                          uint64_t *rkey);
/* Errors: -EINVAL no such key, -EOPNOTSUPP. */
int reliable_direct_revoke(struct unet_endpoint *ep, const void *address, size_t n, uint64_t rkey);

/* Sends n pinned bytes, 1 .. RELIABLE_DIRECT_PIECES * reliable_direct_most, to memory of a rank
 * that `rkey` is for.
 * Errors: -EAGAIN the send queue has no room for all pieces now, or the channel is connecting,
 * -EINVAL, -ENOTCONN, -EPIPE, -EOPNOTSUPP. */
int reliable_direct_put(struct unet_endpoint *ep, uint32_t rank, uint64_t rkey, const void *from,
                        void *to, size_t n);

/* The authentication code of memory that was, or should have been, written under a key. */
uint64_t reliable_direct_mac(const struct unet_endpoint *ep, uint64_t rkey, const void *address,
                             size_t n);

#ifdef __cplusplus
}
#endif
#endif
