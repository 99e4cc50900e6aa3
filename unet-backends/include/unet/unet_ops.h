/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_ops.h - what backends implement: the tables of operations behind the functions of unet.h.
 *
 * Applications need unet.h alone, which includes this for its inline functions.
 */
#ifndef UNET_OPS_H
#define UNET_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct iovec;
struct sockaddr_storage;
struct unet_address;
struct unet_config;
struct unet_endpoint;
struct unet_packet;

/* Where the bytes of a message go: `left` of them to `to`, and those behind into rows of `bytes`,
 * each of which begins `stride` behind the one before. */
struct unet_place {
    uint8_t *to;
    size_t left;
    size_t bytes;    /* not 0 if the message may be longer than `left` */
    uint64_t stride; /* from the beginning of a row to that of the next, as a signed number */
};

/* Copy the next bytes of a message to its place, of which then is left what comes behind them. */
void unet_place_copy(struct unet_place *place, const void *from, size_t length);

/* See unet_set_placement in unet.h. */
typedef size_t unet_placement_fn(void *arg, uint16_t channel, uint32_t user, const void *header,
                                 struct unet_place *place);

/* A packet has arrived on a channel.  The bytes stay only until the function returns, which may not
 * call anything of the endpoint's.  `marked`: the network has marked it, because packets queue
 * there (explicit congestion notification, RFC 3168). */
typedef void unet_packet_fn(void *arg, uint16_t channel, const void *bytes, size_t length,
                            bool marked);

/* What a backend with UNET_CAP_RANGES adds.  No entry is NULL, and each does what the function of
 * its name in unet.h promises (export_range: unet_export, end_range: unet_unexport). */
struct unet_range_ops {
    int (*export_range)(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range);
    int (*end_range)(struct unet_endpoint *ep, uint16_t range);
    int (*hold)(struct unet_endpoint *ep, uint64_t place, uint64_t length);
    void (*release)(struct unet_endpoint *ep, uint64_t place, uint64_t length);
    int (*grant)(struct unet_endpoint *ep, uint16_t channel, uint64_t place, uint64_t length,
                 uint64_t *grant);
    int (*revoke)(struct unet_endpoint *ep, uint64_t grant);
};

/* What an endpoint adds that sends several messages in one packet (reliable/reliable.h).  No entry
 * is NULL, and each does what the function of its name in unet.h promises. */
struct unet_packet_ops {
    int (*sendv)(struct unet_endpoint *ep, uint16_t channel, uint32_t user, const struct iovec *iov,
                 uint32_t count);
    void (*cork)(struct unet_endpoint *ep, uint16_t channel, size_t bytes);
    void (*uncork)(struct unet_endpoint *ep);
    bool (*idle)(struct unet_endpoint *ep);
    uint32_t (*push)(struct unet_endpoint *ep, uint16_t channel);
    void (*set_placement)(struct unet_endpoint *ep, unet_placement_fn *fn, void *arg);
    int (*arm)(struct unet_endpoint *ep, int *timeout_ms);
    void (*disarm)(struct unet_endpoint *ep);
};

/* What an endpoint adds whose network carries datagrams, for the one that stands in front of it
 * (unet_ni.h): packets go straight from where they lie, and are handed over where they arrived,
 * past the queues.  No entry is NULL.
 *  - `attach`: from now on what arrives goes to `fn`, whenever the endpoint makes progress or
 *    waits; unet_wait returns 1 then.
 *  - `send`: sends packets in order.  Returns how many need no further attention, because they were
 *    sent, or cannot be and are lost, as on a channel that is not open; if those are not all, the
 *    network takes no more now.
 *  - `backlog`: about how many packets of that length can wait for the endpoint to take them in,
 *    before some are lost.
 *  - `host`: fills in the IP address under which peers reach this machine as they do the endpoint,
 *    with port 0.  Errors: -EOPNOTSUPP there is none. */
struct unet_datagram_ops {
    void (*attach)(struct unet_endpoint *ep, unet_packet_fn *fn, void *arg);
    unsigned (*send)(struct unet_endpoint *ep, const struct unet_packet *packet, unsigned count);
    uint32_t (*backlog)(struct unet_endpoint *ep, uint32_t length);
    int (*host)(const struct unet_endpoint *ep, struct sockaddr_storage *host);
};

/* What a user can do about an error of unet_open: the end of a sentence, as in "the limit of locked
 * memory is too low: ulimit -l".  For -ENETDOWN it is the question what may be gone if not even
 * what an endpoint sends itself arrives any more, as in "is the service unetni gone?". */
struct unet_remedy {
    int error; /* -errno */
    const char *text;
};

/* A backend.  No entry but `place`, `remedies`, `ranges`, `packets` and `datagrams` is NULL. `kick`
 * and `progress` are the only ones that a data path calls.  Each does what the function of its name
 * in unet.h promises; arguments have been checked by then.
 *  - `kick` is called after something was submitted to the send queue, and by
 *    unet_inline_end when the channel's bell asks for it.
 *  - `state` brings the state of one channel up to date, of all with channel 0. */
struct unet_ops {
    const char *name;
    bool network;      /* it reaches other machines; its endpoints are where `place` says */
    bool reliable;     /* and they have UNET_CAP_RELIABLE, and operations for packets */
    const char *place; /* the environment variable; NULL: UNET_INTERFACE */
    const struct unet_remedy *remedies; /* the last one has no text */
    int (*open)(const struct unet_config *config, struct unet_endpoint **endpoint);
    void (*close)(struct unet_endpoint *ep);
    void (*address)(const struct unet_endpoint *ep, struct unet_address *address);
    int (*connect)(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                   uint16_t *channel);
    void (*disconnect)(struct unet_endpoint *ep, uint16_t channel);
    void (*state)(struct unet_endpoint *ep, uint16_t channel);
    void (*kick)(struct unet_endpoint *ep, uint16_t channel);
    int (*progress)(struct unet_endpoint *ep);
    int (*wait)(struct unet_endpoint *ep, int timeout_ms);
    const struct unet_range_ops *ranges;       /* NULL: it has no such thing */
    const struct unet_packet_ops *packets;     /* NULL: it has no such thing */
    const struct unet_datagram_ops *datagrams; /* NULL: it has no such thing */
};

#ifdef __cplusplus
}
#endif
#endif
