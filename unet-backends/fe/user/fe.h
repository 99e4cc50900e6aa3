/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fe.h - endpoints of the kernel module unet_fe: it is the network interface.
 *
 *   channel.c   opening, closing, and noticing that a peer is gone
 *   fe.c        opening an endpoint, progress, sleeping
 *   range.c     exported ranges, and what of them is pinned
 */
#ifndef UNET_FE_BACKEND_H
#define UNET_FE_BACKEND_H

#include "core/core.h"

#include <unet/unet_fe.h>
#include <unet/unet_ni.h>

/* An endpoint's address, as it stands in struct unet_address. */
struct fe_address {
    uint8_t mac[6];
    uint16_t port;
    uint64_t nonce;
};

/* An exported range: of each block of pages, whether it is pinned and how many hold it. */
struct fe_range {
    uint32_t *block; /* NULL: there is no range of that number */
    uint64_t bytes;
};

struct fe_pinned {
    uint32_t block;
    uint16_t range;
};

struct fe_endpoint {
    struct unet_ni ni; /* first; ni.tx counts what the module has taken from the send queue */
    int fd;
    struct fe_address own;
    struct unet_fe_shared *shared;
    size_t area_bytes;
    struct fe_range range[UNET_RANGES_MAX + 1]; /* by number, from 1 */
    struct fe_pinned *pinned;                   /* blocks, the oldest first */
    size_t pinned_count, pinned_room;
    uint32_t stale;                     /* as the module told when we last looked */
    uint32_t seen;                      /* changes of states that the module has told */
    uint64_t counted[UNET_FE_COUNTERS]; /* what of its counters is in the statistics */
};

static inline struct fe_endpoint *fe_of(struct unet_endpoint *ep)
{
    return (struct fe_endpoint *)ep;
}

/* The trap.  Returns the number of descriptors that the module took. */
int unet_fe_service(struct fe_endpoint *fe);

/* ---- channel.c ------------------------------------------------------------------ */

int unet_fe_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                    uint16_t *channel);
void unet_fe_disconnect(struct unet_endpoint *ep, uint16_t channel);
void unet_fe_state(struct unet_endpoint *ep, uint16_t channel);

/* Learn of the changes that the module tells, and of its counters. */
void unet_fe_look(struct fe_endpoint *fe);

/* The entry `tell` of struct unet_ni_kind. */
void unet_fe_tell(struct unet_ni *ni, uint16_t n);

/* ---- range.c --------------------------------------------------------------------- */

extern const struct unet_range_ops unet_fe_range_ops;

/* The module unpins what was pinned when the file is closed. */
void unet_fe_ranges_free(struct fe_endpoint *fe);

#endif
