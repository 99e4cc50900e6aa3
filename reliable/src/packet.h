/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packet.h - what travels between two ranks on a network that may lose it.
 *
 * A packet is a header and `length` bytes of frames; all numbers are
 * little-endian.  A frame is a message, or a part of one that is too long for a
 * packet; its parts come in packets that follow one another.  docs/protocol.md
 * says what the fields mean.
 */
#ifndef RELIABLE_PACKET_H
#define RELIABLE_PACKET_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "packets are read and written as they lie in memory: little-endian machines only"
#endif

#define RELIABLE_PACKET_VERSION 8u

enum reliable_packet_flag {
    RELIABLE_PACKET_PING = 1u << 0,    /* asks for an answer at once */
    RELIABLE_PACKET_PROBE = 1u << 1,   /* a probe of the path MTU: zero bytes, no frames */
    RELIABLE_PACKET_CONFIRM = 1u << 2, /* a probe of `confirmed` bytes has arrived */
    RELIABLE_PACKET_ANSWER = 1u << 3,  /* answers a ping: acknowledges all that came before that */
};

/* The bits above the flags: the number of the question, and of the question that is answered. */
enum {
    RELIABLE_PACKET_QUESTIONS = 4, /* numbers of questions */
    RELIABLE_PACKET_ASKED = 4,     /* from this bit on; without RELIABLE_PACKET_PING: 0 */
    RELIABLE_PACKET_ANSWERED = 6,  /* from this bit on; without RELIABLE_PACKET_ANSWER: 0 */
};

struct reliable_packet {
    uint64_t mac;    /* of all that follows and of all bits of `ack`, under the job's key: mac.h */
    uint64_t number; /* counts this direction's packets with frames from 1; 0: no frames */
    uint64_t selected; /* bit i: packet ack + 1 + i has arrived */
    uint32_t ack;      /* all packets below this one have arrived; the low 32 bits */
    uint16_t source;   /* the sender's rank */
    uint16_t dest;     /* the receiver's */
    uint16_t length;   /* bytes of frames */
    uint16_t rwnd;     /* packets that the receiver of this one may have in flight; and in the bits
                          from RELIABLE_PACKET_MARKS on how often the network has marked some */
    uint8_t version;
    uint8_t flags;      /* enum reliable_packet_flag, and two bits each for question and answer */
    uint16_t confirmed; /* length of a probe; without RELIABLE_PACKET_CONFIRM: the sender's smoothed
                           round trip in us, at most 65,535; 0: not known */
};

static inline uint8_t reliable_packet_asked(const struct reliable_packet *packet)
{
    return packet->flags >> RELIABLE_PACKET_ASKED & (RELIABLE_PACKET_QUESTIONS - 1);
}

static inline uint8_t reliable_packet_answered(const struct reliable_packet *packet)
{
    return packet->flags >> RELIABLE_PACKET_ANSWERED;
}

/* What is told of marks (explicit congestion notification, RFC 3168) is counted anew with every
 * acknowledgement of packets of which any was marked.  Its last five bits are in `rwnd`. */
enum { RELIABLE_PACKET_MARKS = 11, RELIABLE_PACKET_MARKS_MASK = 31 };

static inline uint16_t reliable_packet_rwnd(const struct reliable_packet *packet)
{
    return packet->rwnd & ((1u << RELIABLE_PACKET_MARKS) - 1);
}

static inline uint8_t reliable_packet_marks(const struct reliable_packet *packet)
{
    return (uint8_t)(packet->rwnd >> RELIABLE_PACKET_MARKS);
}

/* A packet without frames that is no probe may have words there that go on where `selected` ends.
 * All of a window can be told of. */
enum { RELIABLE_SACK_WORDS = 15 };

enum reliable_frame_flag {
    RELIABLE_FRAME_MORE = 1u << 0, /* the next frame goes on with this message */
    RELIABLE_FRAME_NOTE = 1u << 1, /* a note between drivers, of the kind `user`: one frame */
};

enum { RELIABLE_NOTE_BYTES = 48 }; /* of a note, at most */

struct reliable_frame {
    uint32_t user; /* as in a U-Net descriptor */
    uint16_t length;
    uint16_t flags; /* enum reliable_frame_flag */
};

#ifdef __cplusplus
#define RELIABLE_ASSERT static_assert
#else
#define RELIABLE_ASSERT _Static_assert
#endif
RELIABLE_ASSERT(sizeof(struct reliable_packet) == 40, "the header on the wire");
RELIABLE_ASSERT(offsetof(struct reliable_packet, number) == 8, "the hash covers all from here on");
RELIABLE_ASSERT(offsetof(struct reliable_packet, ack) == 24, "the header on the wire");
RELIABLE_ASSERT(offsetof(struct reliable_packet, length) == 32, "the header on the wire");
RELIABLE_ASSERT(offsetof(struct reliable_packet, version) == 36, "the header on the wire");
RELIABLE_ASSERT(sizeof(struct reliable_frame) == 8, "a frame's header on the wire");

#endif
