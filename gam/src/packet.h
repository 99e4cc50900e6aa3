/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packet.h - what travels between two ranks on a network that may lose it.
 *
 * A packet is a header and `length` bytes of frames; all numbers are
 * little-endian.  A frame is a message, or a part of one that is too long for a
 * packet; its parts come in packets that follow one another.  docs/protocol.md
 * says what the fields mean.
 */
#ifndef GAM_PACKET_H
#define GAM_PACKET_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "packets are read and written as they lie in memory: little-endian machines only"
#endif

#define GAM_PACKET_VERSION 5u

enum gam_packet_flag {
    GAM_PACKET_PING = 1u << 0,   /* answer at once */
    GAM_PACKET_PROBE = 1u << 1,  /* does one of this length arrive?  Zero bytes, no frames */
    GAM_PACKET_PASSED = 1u << 2, /* one did, of `passed` bytes */
    GAM_PACKET_ANSWER = 1u << 3, /* to GAM_PACKET_PING: tells of all that came before it */
};

/* Above the flags: which question a ping is, and to which an answer is. */
enum {
    GAM_PACKET_QUESTIONS = 4, /* are told apart */
    GAM_PACKET_ASKED = 4,     /* from this bit on; without GAM_PACKET_PING: 0 */
    GAM_PACKET_ANSWERED = 6,  /* from this bit on; without GAM_PACKET_ANSWER: 0 */
};

struct gam_packet {
    uint64_t mac;      /* of all that follows and all of `ack`, under the job's key: mac.h */
    uint64_t number;   /* counts this direction's packets with frames from 1; 0: no frames */
    uint64_t selected; /* bit i: packet ack + 1 + i has arrived */
    uint32_t ack;      /* all packets below this one have arrived; the low 32 bits */
    uint16_t source;   /* the sender's rank */
    uint16_t dest;     /* the receiver's */
    uint16_t length;   /* bytes of frames */
    uint16_t window;   /* packets that the receiver of this one may have in flight */
    uint8_t version;
    uint8_t flags;   /* enum gam_packet_flag, and two bits each for question and answer */
    uint16_t passed; /* without that flag: 0 */
};

static inline uint8_t gam_packet_asked(const struct gam_packet *packet)
{
    return packet->flags >> GAM_PACKET_ASKED & (GAM_PACKET_QUESTIONS - 1);
}

static inline uint8_t gam_packet_answered(const struct gam_packet *packet)
{
    return packet->flags >> GAM_PACKET_ANSWERED;
}

enum gam_frame_flag {
    GAM_FRAME_MORE = 1u << 0, /* the next frame goes on with this message */
};

struct gam_frame {
    uint32_t user; /* as in a U-Net descriptor */
    uint16_t length;
    uint16_t flags; /* enum gam_frame_flag */
};

#ifdef __cplusplus
#define GAM_WIRE_ASSERT static_assert
#else
#define GAM_WIRE_ASSERT _Static_assert
#endif
GAM_WIRE_ASSERT(sizeof(struct gam_packet) == 40, "the header on the wire");
GAM_WIRE_ASSERT(offsetof(struct gam_packet, number) == 8, "the hash covers all from here on");
GAM_WIRE_ASSERT(offsetof(struct gam_packet, ack) == 24, "the header on the wire");
GAM_WIRE_ASSERT(offsetof(struct gam_packet, length) == 32, "the header on the wire");
GAM_WIRE_ASSERT(offsetof(struct gam_packet, version) == 36, "the header on the wire");
GAM_WIRE_ASSERT(sizeof(struct gam_frame) == 8, "a frame's header on the wire");

#endif
