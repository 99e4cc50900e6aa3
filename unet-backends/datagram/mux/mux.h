/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mux.h - emulated endpoints that share one real endpoint.
 *
 * A real endpoint costs what is scarce: pinned memory, a port, descriptors.  Emulated ones cost
 * memory that may be swapped, so a process may have any number of them.  Their frames travel as
 * messages of the real endpoint, over one real channel for each other process.
 *
 *      endpoint   endpoint   endpoint      rings, channels: datagram/
 *          |          |          |
 *          +----------+----------+         by ports
 *                     |
 *              the real endpoint           of the backend that UNET_MUX_BACKEND names; fe
 *
 *   host.c  the real endpoint, its peers, and frames to and from it
 *   mux.c   what the engine of emulated endpoints wants of a transport
 *
 * Whoever looks for arrivals takes in what has come for all.  Frames for others wait in their
 * inboxes, and their bells are rung: no endpoint is touched by any thread but its own.
 */
#ifndef UNET_MUX_H
#define UNET_MUX_H

#include "datagram/datagram.h"

#include <sys/uio.h>

enum { MUX_REAL_MOST = 48 }; /* bytes of a real endpoint's address */

/* An endpoint's address, as it stands in struct unet_address. */
struct mux_address {
    uint16_t port;
    uint16_t length; /* bytes used of `real` */
    uint32_t zero;
    uint64_t nonce;
    uint8_t real[MUX_REAL_MOST];
};

_Static_assert(sizeof(struct mux_address) == UNET_ADDRESS_MAX, "it fits");

/* A frame that has arrived, and has to wait until its endpoint looks. */
struct mux_frame {
    struct mux_frame *next;
    uint32_t from; /* the real channel on which it came; 0: from this process */
    uint32_t length;
    uint8_t bytes[];
};

struct mux_endpoint {
    struct datagram_endpoint de; /* first */
    struct mux_endpoint *next;
    int bell; /* an eventfd: rung when frames are put into an empty inbox */

    /* The host's lock guards these. */
    struct mux_frame *inbox, **inbox_end; /* oldest first */
    uint32_t waiting;
    uint32_t dropped; /* frames that found no room in it */
};

static inline struct mux_endpoint *mux_of(const struct datagram_endpoint *de)
{
    return (struct mux_endpoint *)de;
}

/* ---- host.c ------------------------------------------------------------------------ */

/* Take part in the process' real endpoint, which is opened if need be: fills in `port`.
 * Errors: those of unet_open; -EINVAL there is no such backend, -EADDRINUSE no port is free. */
int unet_mux_join(struct mux_endpoint *me);

/* The last one closes it. */
void unet_mux_leave(struct mux_endpoint *me);

/* Of the real endpoint: its longest message, a descriptor that is readable when something has
 * come and nobody has looked, and its address.  The latter returns its length. */
uint32_t unet_mux_message_most(void);
int unet_mux_fd(void);
uint16_t unet_mux_address(uint8_t bytes[MUX_REAL_MOST]);

/* The real channel to there, opened if need be, which waits for nobody.  0: it is this process.
 * Errors: those of unet_connect. */
int unet_mux_channel(const struct mux_address *address, uint32_t *channel);

/* Send a frame of `length` bytes.  False: there is no room now. */
bool unet_mux_send(uint32_t channel, const struct iovec *iov, size_t count, size_t length);

/* False if the endpoint at that port, or the process behind that channel, is known to be gone. */
bool unet_mux_is_there(uint32_t channel, uint16_t port);

/* Take in what has come for anybody.  Returns what has come for this one, to be freed frame by
 * frame, and adds to *dropped. */
struct mux_frame *unet_mux_take(struct mux_endpoint *me, uint64_t *dropped);

#endif
