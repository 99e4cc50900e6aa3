/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_service.h - what user space and the service unetni agree upon.
 *
 * A connection to the service's socket (SOCK_SEQPACKET) and UNET_FE_CREATE make an endpoint; the
 * connection is the endpoint.  What the two share is the area of unet_fe.h, in a sealed memfd, and
 * the kernel module's ioctls are messages: each has one of the structs below, sent and answered as
 * a whole.  Who polls, sleeps and rings otherwise than with the module:
 *
 *   client                                      service
 *   ------                                      -------
 *   fill a slot of the send queue               STORE(asleep, 1)
 *   full fence                          (G)     full fence                        (H)
 *   LOAD(asleep): if set, UNET_FE_SEND          look at the send queue once more
 *
 *   G pairs with H: either the client sees that it has to ring, or the service sees the slot.
 */
#ifndef UNET_SERVICE_H
#define UNET_SERVICE_H

#include <unet/unet_fe.h>

/* The service of interface NAME listens at UNET_SERVICE_FOLDER "/NAME". */
#define UNET_SERVICE_FOLDER "/run/unetni"

/* UNET_FE_CREATE, _CONNECT and _DISCONNECT are answered, UNET_FE_TELL and UNET_FE_SEND (the service
 * does not look at the send queue: look) are not.  Errors are those of unet(4); besides
 * -EOPNOTSUPP: a command that the service does not have.  A message of another length ends the
 * connection. */
struct unet_service_message {
    __u32 command;
    __s32 result; /* of an answer: 0 or -errno */
    union {
        struct unet_fe_create create; /* interface: empty, or the service's */
        struct unet_fe_connect connect;
        __u64 channel; /* of UNET_FE_DISCONNECT and UNET_FE_TELL */
    };
    __u64 asleep; /* in the answer to UNET_FE_CREATE: where in the area that word is, a __u32 */
};

/* Open files that come with the answer to UNET_FE_CREATE: the area, and the doorbell's ends to read
 * and to write, a pipe. */
enum { UNET_SERVICE_FILES = 3 };

UNET_ABI_ASSERT(sizeof(struct unet_service_message) == 128);

#endif
