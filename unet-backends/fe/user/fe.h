/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fe.h - endpoints whose network interface is somebody else: the area of unet_fe.h lies between.
 *
 * Who that is, and how it is told what to do, is the endpoint's door: the kernel module unet_fe, by
 * ioctls (backend fe), or the service unetni, by messages (backend ni).
 *
 *   channel.c   opening, closing, and noticing that a peer is gone
 *   fe.c        opening an endpoint, progress
 *   module.c    the door to the kernel module
 *   range.c     exported ranges (the module alone has them)
 *   service.c   the door to the service
 */
#ifndef UNET_FE_BACKEND_H
#define UNET_FE_BACKEND_H

#include "core/core.h"
#include "core/pins.h"

#include <unet/unet_fe.h>
#include <unet/unet_ni.h>

/* An endpoint's address, as it stands in struct unet_address. */
struct fe_address {
    uint8_t mac[6];
    uint16_t port;
    uint64_t nonce;
};

struct fe_endpoint;

/* What lies between the endpoint and its NI.  No entry is NULL. */
struct fe_door {
    const struct unet_ops *ops;
    struct unet_ni_kind kind;
    uint32_t capabilities;

    /* Have the endpoint made as `layout` wants it, which is filled in, and map the area
     * (unet_fe_map).  Also sets ep.interface and, unless the endpoint is polled, ep.fd and
     * ep.bell. */
    int (*open)(struct fe_endpoint *fe, struct unet_fe_create *layout);

    /* Undo `open`, also one that has failed half-way; the area is unmapped by others. */
    void (*close)(struct fe_endpoint *fe);

    /* As ioctl(2) with a command of unet_fe.h, but an error is returned as -errno. */
    int (*call)(struct fe_endpoint *fe, unsigned long command, uintptr_t argument);

    /* Something was put into the send queue. */
    void (*kick)(struct fe_endpoint *fe);

    /* Something waits in the send queue.  Returns how many descriptors the NI has taken that it
     * had not when this was last called. */
    int (*service)(struct fe_endpoint *fe);

    /* Notice that the NI itself has ended. */
    void (*look)(struct fe_endpoint *fe);
};

struct fe_endpoint {
    struct unet_ni ni; /* first; ni.tx counts what the NI is known to have taken */
    const struct fe_door *door;
    int fd; /* the endpoint itself: the module's file, or the connection to the service */
    struct fe_address own;
    struct unet_fe_shared *shared;
    size_t area_bytes;
    struct unet_pins pins;              /* what of exported ranges is pinned */
    uint32_t stale;                     /* as the module told when we last looked */
    uint32_t *asleep;                   /* the service's word (unet_service.h) */
    int epoll;                          /* of the service's bell and connection; -1: polled */
    bool ended;                         /* the service has */
    uint32_t seen;                      /* changes of states that the NI has told */
    uint64_t counted[UNET_FE_COUNTERS]; /* what of its counters is in the statistics */
};

static inline struct fe_endpoint *fe_of(struct unet_endpoint *ep)
{
    return (struct fe_endpoint *)ep;
}

/* The NI's turn.  Returns the number of descriptors that it took. */
int unet_fe_service(struct fe_endpoint *fe);

/* ---- fe.c: the entries of struct unet_ops, and what doors are made of ------------- */

int unet_fe_open(const struct fe_door *door, const struct unet_config *config,
                 struct unet_endpoint **endpoint);
void unet_fe_close(struct unet_endpoint *ep);
void unet_fe_kick(struct unet_endpoint *ep, uint16_t channel);
int unet_fe_progress(struct unet_endpoint *ep);

/* What the configuration wants, for UNET_FE_CREATE. */
struct unet_fe_create unet_fe_wish(const struct unet_config *config);

/* Map the area, shared and with these flags of mmap, and attach segment and rings as `layout` says.
 * Errors: those of mmap. */
int unet_fe_map(struct fe_endpoint *fe, int fd, int flags, const struct unet_fe_create *layout);

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

void unet_fe_ranges_init(struct fe_endpoint *fe);

/* The module unpins what was pinned when the file is closed. */
void unet_fe_ranges_free(struct fe_endpoint *fe);

#endif
