/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fe.h - endpoints of the kernel module unet_fe: it is the network interface.
 *
 *   channel.c   opening, closing, and noticing that a peer is gone
 *   fe.c        opening an endpoint, progress, waiting
 *   range.c     exported ranges, and what of them is pinned
 */
#ifndef UNET_FE_BACKEND_H
#define UNET_FE_BACKEND_H

#include "core/core.h"

#include <unet/unet_fe.h>

/* An endpoint's address, as it stands in struct unet_address. */
struct fe_address {
    uint8_t mac[6];
    uint16_t port;
    uint64_t nonce;
};

/* What the endpoint keeps of one channel beside `struct unet_channel`. */
struct fe_link {
    uint64_t next_open_us; /* when to tell the peer again that we are open */
    uint64_t probed_us;    /* when we last asked whether it is alive */
    uint32_t pause_us;     /* until the next telling; doubles */
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
    struct unet_endpoint ep; /* first: the interface knows only this */
    int fd;
    struct fe_address own;
    struct fe_link *link; /* by channel number */
    struct unet_fe_shared *shared;
    size_t area_bytes;
    struct unet_ring full; /* always looks full: where a channel sends that cannot */
    void *full_memory;
    struct fe_range range[UNET_RANGES_MAX + 1]; /* by number, from 1 */
    struct fe_pinned *pinned;                   /* blocks, the oldest first */
    size_t pinned_count, pinned_room;
    uint32_t stale;      /* as the module told when we last looked */
    uint32_t taken;      /* descriptors that the module has taken from the send queue */
    uint32_t calls;      /* of progress */
    uint64_t looked_us;  /* when a wait last asked after peers */
    uint32_t always;     /* a bell that is always set: every send wants a kick */
    uint32_t connecting; /* channels in UNET_CONNECTING */
    uint32_t seen;       /* changes of states that the module has told */
    uint32_t changes;    /* channels that opened or died so far */
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

/* Tell peers that we are open, those whose time has come. */
void unet_fe_tell(struct fe_endpoint *fe);

/* ---- range.c --------------------------------------------------------------------- */

extern const struct unet_range_ops unet_fe_range_ops;

/* The module unpins what was pinned when the file is closed. */
void unet_fe_ranges_free(struct fe_endpoint *fe);

#endif
