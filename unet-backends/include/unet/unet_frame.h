/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_frame.h - a message on an Ethernet.
 *
 * One frame carries one message.  Behind the Ethernet header stand the 24 bytes below, then the
 * message; frames shorter than the network's least are padded, so the header says the
 * length.  All numbers are little-endian.  docs/protocol.md has the rules.
 */
#ifndef UNET_FRAME_H
#define UNET_FRAME_H

#include <linux/types.h>
#include <unet/unet_abi.h>

/* The first of IEEE 802's two EtherTypes for local experiments. */
#define UNET_ETHERTYPE 0x88b5u
#define UNET_FRAME_VERSION 1u

/* Ports below are the kernel module's endpoints, the others those of packet sockets: a machine may
 * have both, and neither knows the other's. */
#define UNET_FRAME_SOCKET_PORTS 32768u

enum unet_frame_kind {
    UNET_FRAME_INLINE = 1, /* a message that fits into a descriptor */
    UNET_FRAME_PIECES = 2, /* a message, to be put into buffers */
    UNET_FRAME_OPEN = 3,   /* the sender has opened the channel */
    UNET_FRAME_OPENED = 4, /* the answer, if the receiver of that has, too */
    UNET_FRAME_CLOSE = 5,  /* the sender has closed it */
    UNET_FRAME_ALIVE = 6,  /* a question: answered if the channel is gone */
    UNET_FRAME_GONE = 7,   /* the answer */
    UNET_FRAME_DIRECT = 8, /* struct unet_frame_direct, and what belongs there */
};

struct unet_frame {
    __u8 version;
    __u8 kind;        /* enum unet_frame_kind */
    __le16 length;    /* bytes of message */
    __le16 to_port;   /* with the Ethernet header's addresses: which endpoint, of which one */
    __le16 from_port; /* the sender's */
    __le64 key;       /* the name of the channel's direction; in UNET_FRAME_GONE, of the other */
    __le32 life;      /* the opening of the receiver's channel that this is for; OPEN: 0 */
    __le32 user;      /* the descriptor's; without a message: see docs/protocol.md */
};

/* Where in the receiver's ranges a message belongs, and what allows that. */
struct unet_frame_direct {
    __le64 place; /* UNET_PLACE */
    __le64 grant;
};

UNET_ABI_ASSERT(sizeof(struct unet_frame) == 24);
UNET_ABI_ASSERT(sizeof(struct unet_frame_direct) == UNET_DIRECT_BYTES);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_frame, key) == 8);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_frame, life) == 16);

#endif
