/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_abi.h - the memory that an application shares with its network interface.
 *
 * This is the one header that backends, applications and the kernel module
 * have in common: fixed-width types, fixed offsets, no functions.  Every
 * offset is asserted at the end; changing one raises UNET_ABI_VERSION.
 *
 * Terms are those of the U-Net paper (von Eicken, Basu, Buch, Vogels, SOSP
 * 1995, section 3): an endpoint has a communication segment and three queues;
 * the network interface (NI) services them.
 */
#ifndef UNET_ABI_H
#define UNET_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define UNET_ABI_VERSION 1u

/* Bytes that a descriptor carries by itself; nothing larger is "small". */
#define UNET_INLINE_MAX 48u
/* Pieces of the segment that one descriptor gathers or scatters. */
#define UNET_PIECES_MAX 4u
/* Bytes of one message on a base-level endpoint, over all pieces. */
#define UNET_MESSAGE_MAX 65536u

/* What a descriptor holds. */
enum unet_kind {
    UNET_EMPTY = 0,
    UNET_INLINE = 1, /* `length` bytes in `data` */
    UNET_PIECES = 2, /* `pieces` entries of `piece`, `length` is their sum */
    UNET_DIRECT = 3, /* as UNET_PIECES, to land at `remote` in the peer's segment; without pieces:
                        from `local` in a range of one's own to `remote` in one of the peer's */
    UNET_ERROR = 4,  /* receive side only: a send that was refused, see `error` */
    UNET_PLACED = 5, /* receive side only: the first UNET_PLACED_HEADER bytes are in `data`, and the
                        others of `length` where the receiver wanted them (unet_set_placement) */
};

enum { UNET_PLACED_HEADER = 32 };

/* The state of a channel, as either end sees it. */
enum unet_channel_state {
    UNET_CLOSED = 0,     /* not in use */
    UNET_CONNECTING = 1, /* open here, not yet at the peer: sends are -EAGAIN */
    UNET_OPEN = 2,
    UNET_DEAD = 3, /* the peer closed the channel or its endpoint, or its process died: sends are
                      -EPIPE, what had arrived can still be read */
};

/* Conditions that wake a sleeper or run an upcall (section 3.1): bits of the word that an endpoint
 * arms. */
enum unet_condition {
    UNET_NONEMPTY = 1u << 0,    /* a message is there */
    UNET_ALMOST_FULL = 1u << 1, /* a receive ring is three quarters full */
};

/* A range of the endpoint's own communication segment, in bytes. */
struct unet_piece {
    uint32_t offset;
    uint32_t length;
};

/* One descriptor of a send, receive or free queue: one cache line.
 *
 * `turn` belongs to the ring (unet_ring.h).  `user` travels untouched from the
 * sender's descriptor to the receiver's: the layer above keeps its message
 * type there.  In an UNET_ERROR descriptor, `channel`, `user` and `length` are
 * those of the refused send and `error` is a positive errno value. */
struct unet_desc {
    union {
        struct {
            uint32_t turn;
            uint16_t channel; /* the local endpoint's own number of the channel */
            uint8_t kind;     /* enum unet_kind */
            uint8_t pieces;   /* entries used in `piece` */
        };
        uint64_t head; /* these together, see UNET_INLINE_HEAD */
    };
    uint32_t length; /* bytes of message */
    uint32_t user;
    union {
        uint8_t data[UNET_INLINE_MAX];
        uint64_t word[UNET_INLINE_MAX / 8];
        struct {
            struct unet_piece piece[UNET_PIECES_MAX];
            uint64_t remote; /* UNET_DIRECT: offset in the peer's segment, or UNET_PLACE */
            uint32_t error;  /* UNET_ERROR: errno value */
            uint32_t pad;
        };
        struct {            /* UNET_DIRECT without pieces */
            uint64_t local; /* UNET_PLACE */
            uint64_t grant; /* the peer's, for `remote` */
        };
    };
} __attribute__((aligned(64)));

/* A place in the ranges of its address space that an endpoint exports: range, counted from 1, and
 * offset in it. */
#define UNET_PLACE(range, offset) ((uint64_t)(range) << 48 | (offset))
#define UNET_PLACE_OFFSET 0xffffffffffffull

/* Bytes of a message that a network takes for place and grant. */
#define UNET_DIRECT_BYTES 16u

/* Ranges that an endpoint may export at once, and grants that it may have given. */
#define UNET_RANGES_MAX 16u
#define UNET_GRANTS_MAX 256u

/* The head of an inline message, for who writes it by one store. */
#define UNET_INLINE_HEAD(turn, channel)                                                            \
    ((uint64_t)UNET_INLINE << 48 | (uint64_t)(channel) << 32 | (turn))

/* The part of a ring that both sides share, followed by the slots; unet_ring.h says how they use
 * it.  Zeroed memory is an empty ring. */
struct unet_ring_shared {
    uint32_t consumed __attribute__((aligned(128)));
    uint32_t pad[31]; /* two lines: the adjacent-line prefetcher takes pairs */
    struct unet_desc slot[];
};

#ifdef __cplusplus
#define UNET_ABI_ASSERT(condition) static_assert(condition, #condition)
#else
#define UNET_ABI_ASSERT(condition) _Static_assert(condition, #condition)
#endif
UNET_ABI_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__); /* or UNET_INLINE_HEAD is another */
UNET_ABI_ASSERT(sizeof(struct unet_piece) == 8);
UNET_ABI_ASSERT(sizeof(struct unet_desc) == 64);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_desc, user) == 12);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_desc, data) == 16);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_desc, remote) == 48);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_desc, grant) == 24);
UNET_ABI_ASSERT(sizeof(struct unet_ring_shared) == 128);

#endif
