/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.h - what GAM messages look like in a U-Net descriptor.
 *
 * `user` of the descriptor has the header of a small message:
 *
 *   31      24 23      16 15   12 11    8 7        0
 *   +---------+----------+-------+-------+----------+
 *   | credits | credits  | words | kind  | handler  |
 *   |  bulk   |  small   |       |       |          |
 *   +---------+----------+-------+-------+----------+
 *
 * Its words are the inline data.  A bulk message has a header of four words
 * (struct gam_header) and up to GAM_MEDIUM_MAX bytes; when both fit into a
 * descriptor they travel inline, otherwise in one buffer of the segment.
 */
#ifndef GAM_WIRE_H
#define GAM_WIRE_H

#include <gam/gam.h>
#include <stdint.h>
#include <unet/unet_abi.h>
#include <unet/unet_siphash.h>

enum gam_kind {
    GAM_REQUEST = 1,
    GAM_REPLY = 2,
    GAM_ACK = 3,            /* carries credits only */
    GAM_GET = 4,            /* words: address there, address here, length, argument */
    GAM_MEDIUM_REQUEST = 5, /* header: up to four argument words */
    GAM_MEDIUM_REPLY = 6,
    GAM_STORE_DATA = 7, /* header: where it lands, see struct gam_header */
    GAM_GET_DATA = 8,
    GAM_PLACE_DATA = 9,   /* as GAM_STORE_DATA: base is an offset, arg has buffer and argument */
    GAM_ROWS_DATA = 10,   /* header: struct gam_rows_place; only the last piece names a handler */
    GAM_PLACE_SMALL = 11, /* class small, inline: struct gam_place_header, then the bytes */
};

/* Two classes of message, each with its own window per peer. */
enum gam_class {
    GAM_SMALL = 0, /* requests and gets: a slot of the receive ring */
    GAM_BULK = 1,  /* whatever has a header: a slot and a buffer */
    GAM_CLASSES = 2,
};

/* Where a piece of a transfer is copied to.  The piece that ends at `total` is the last and runs
 * the handler. */
struct gam_place {
    uint64_t base; /* address of the whole */
    uint64_t offset;
    uint64_t total;
    uint64_t arg;
};

/* Where a piece of rows is copied to: to the rest of one row, then to those behind it. */
struct gam_rows_place {
    uint64_t base;   /* address of the row that the piece begins in, */
    uint32_t start;  /* and where in that */
    uint32_t bytes;  /* of a row */
    uint64_t stride; /* from the beginning of a row to that of the next, as a signed number */
    uint64_t arg;
};

union gam_header {
    uint64_t word[GAM_WORDS_MAX];
    struct gam_place place;
    struct gam_rows_place rows;
};

/* A store of few bytes to a buffer of the receiver's. */
struct gam_place_header {
    uint64_t offset;
    uint32_t buffer;
    uint32_t arg;
};

#define GAM_BUFFER_BYTES 8192u /* one message of class bulk, header included */
#define GAM_INLINE_BYTES (UNET_INLINE_MAX - (uint32_t)sizeof(union gam_header))
#define GAM_WINDOW_MAX 255u /* its credits have to fit into a byte */

static inline uint32_t gam_user(enum gam_kind kind, uint32_t handler, uint32_t words)
{
    return handler | (uint32_t)kind << 8 | words << 12;
}

static inline uint32_t gam_user_handler(uint32_t user)
{
    return user & 0xff;
}

static inline uint32_t gam_user_kind(uint32_t user)
{
    return user >> 8 & 0xf;
}

static inline uint32_t gam_user_words(uint32_t user)
{
    return user >> 12 & 0xf;
}

static inline uint32_t gam_user_credits(uint32_t user, enum gam_class class_)
{
    return user >> (16 + 8 * class_) & 0xff;
}

/* The tag of the channel between two ranks: the same at both ends, and not to be computed without
 * the job's key. */
static inline uint64_t gam_tag(const uint64_t key[2], uint32_t a, uint32_t b)
{
    const uint32_t ranks[] = {a < b ? a : b, a < b ? b : a};

    return unet_siphash(key, ranks, sizeof(ranks));
}

#endif
