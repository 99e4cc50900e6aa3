/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.h - what a datagram between two udp endpoints looks like.
 *
 * A header and the bytes of one message; all numbers are little-endian.  The key names a channel's
 * direction: it is made of the tag, which is the conversation's secret, and of both
 * endpoints' nonces.
 */
#ifndef UNET_UDP_WIRE_H
#define UNET_UDP_WIRE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "headers are read and written as they lie in memory: little-endian machines only"
#endif

#define UDP_MAGIC 0x4e55u /* "UN" */
#define UDP_VERSION 1u
#define UDP_PAYLOAD_MAX 65507u

enum udp_kind {
    UDP_OPEN = 1,   /* the sender has opened the channel */
    UDP_OPENED = 2, /* the answer, if the receiver of that has, too */
    UDP_CLOSE = 3,  /* the sender has closed it */
    UDP_ALIVE = 4,  /* nothing: whether somebody is there shows in what the network answers */
    UDP_INLINE = 5, /* a message */
    UDP_BUFFER = 6, /* a message, to be put into buffers */
};

struct udp_header {
    uint16_t magic;
    uint8_t version;
    uint8_t kind;  /* enum udp_kind */
    uint16_t to;   /* the receiver's number of the channel; 0 in UDP_OPEN */
    uint16_t from; /* the sender's */
    uint64_t key;
    uint32_t user;
    uint32_t length;    /* of the message */
    uint32_t to_life;   /* which opening of the receiver's this is for; 0 in UDP_OPEN */
    uint32_t from_life; /* of the sender's channel: a random number for each opening */
};

#ifdef __cplusplus
#define UDP_WIRE_ASSERT static_assert
#else
#define UDP_WIRE_ASSERT _Static_assert
#endif
UDP_WIRE_ASSERT(sizeof(struct udp_header) == 32, "the header on the wire");
UDP_WIRE_ASSERT(offsetof(struct udp_header, key) == 8, "the header on the wire");
UDP_WIRE_ASSERT(offsetof(struct udp_header, to_life) == 24, "the header on the wire");

#endif
