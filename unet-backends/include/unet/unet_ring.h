/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_ring.h - the only ring code of the project: one producer, one consumer.
 *
 * A ring is an array of 64-byte descriptors.  Whether a slot is filled is
 * written in the slot itself (`turn`), so that one cache line carries a whole
 * small message and its announcement: one line written, one line read.
 *
 * Slot i of lap k (position p = k * size + i) is *filled* when turn == p + 1.
 * The consumer tells how far it is in `consumed`, on a line of its own and
 * rarely (every quarter of the ring, and whenever it finds the ring empty); the
 * producer reads that line only when the ring looks full to it.
 *
 *   producer                              consumer
 *   --------                              --------
 *   if (p - cached >= size)
 *       cached = LOAD.acquire(consumed) (A)
 *   write slot
 *   STORE.release(turn, p + 1)      (B)   LOAD.acquire(turn) == p + 1    (C)
 *                                         read slot
 *                                         STORE.release(consumed, p + 1) (D)
 *
 *   B pairs with C: who sees the turn sees the slot's contents.
 *   D pairs with A: who sees the count may overwrite the slots below it.
 *
 * Verbs: the producer reserves, writes and submits; the consumer peeks, reads
 * and releases.  None of them blocks, allocates or makes a system call.
 *
 * `struct unet_ring_shared` and the slots may lie in memory that a stranger
 * writes.  The consumer therefore trusts nothing in a slot, and the producer
 * takes a `consumed` that is ahead of it, or more than a ring behind, for "full".
 */
#ifndef UNET_RING_H
#define UNET_RING_H

#include <stdint.h>
#include <unet/unet_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One side's private view.  The producer uses position and cached, the
 * consumer position and published. */
struct unet_ring {
    struct unet_ring_shared *shared;
    uint32_t mask;     /* slots - 1 */
    uint32_t position; /* the next slot to fill, or to read */
    union {
        uint32_t cached;    /* producer: last seen value of shared->consumed */
        uint32_t published; /* consumer: last value written there */
    };
};

/* Bytes of a ring of `slots` descriptors (a power of two). */
static inline uint64_t unet_ring_bytes(uint32_t slots)
{
    return sizeof(struct unet_ring_shared) + (uint64_t)slots * sizeof(struct unet_desc);
}

/* Attach one side to a ring that is empty and has never been used. */
static inline void unet_ring_attach(struct unet_ring *ring, void *memory, uint32_t slots)
{
    ring->shared = (struct unet_ring_shared *)memory;
    ring->mask = slots - 1;
    ring->position = 0;
    ring->cached = 0;
}

/* Producer: free slots by what it knows, asking the consumer's line only when
 * it knows of none. */
static inline uint32_t unet_ring_room(struct unet_ring *ring)
{
    uint32_t used = ring->position - ring->cached;

    if (__builtin_expect(used > ring->mask, 0)) {
        uint32_t consumed =
            __atomic_load_n(&ring->shared->consumed, __ATOMIC_ACQUIRE); /* A, matches D */

        if (ring->position - consumed > ring->mask + 1) /* a lie: stay full */
            return 0;
        ring->cached = consumed;
        used = ring->position - consumed;
    }
    return ring->mask + 1 - used;
}

/* Producer: the slot to write next, or NULL when the ring is full.  The slot
 * stays the same until unet_ring_submit. */
static inline struct unet_desc *unet_ring_reserve(struct unet_ring *ring)
{
    if (__builtin_expect(unet_ring_room(ring) == 0, 0))
        return 0;
    return &ring->shared->slot[ring->position & ring->mask];
}

/* Producer: make the reserved slot visible. */
static inline void unet_ring_submit(struct unet_ring *ring)
{
    struct unet_desc *slot = &ring->shared->slot[ring->position & ring->mask];

    ring->position++;
    __atomic_store_n(&slot->turn, ring->position, __ATOMIC_RELEASE); /* B, matches C */
}

/* Producer: the same for a message of `length` bytes in the slot's `data`.  The store that makes it
 * visible says all that is missing: what a message costs between two processors is stores. */
static inline void unet_ring_submit_inline(struct unet_ring *ring, uint16_t channel,
                                           uint32_t length, uint32_t user)
{
    struct unet_desc *slot = &ring->shared->slot[ring->position & ring->mask];

    ring->position++;
    slot->length = length;
    slot->user = user;
    __atomic_store_n(&slot->head, UNET_INLINE_HEAD(ring->position, channel),
                     __ATOMIC_RELEASE); /* B, matches C */
}

/* Consumer: tell the producer of every slot released so far. */
static inline void unet_ring_publish(struct unet_ring *ring)
{
    if (ring->published != ring->position) {
        ring->published = ring->position;
        __atomic_store_n(&ring->shared->consumed, ring->position,
                         __ATOMIC_RELEASE); /* D, matches A */
    }
}

/* Consumer: the oldest filled slot, or NULL when there is none. */
static inline struct unet_desc *unet_ring_peek(struct unet_ring *ring)
{
    struct unet_desc *slot = &ring->shared->slot[ring->position & ring->mask];

    if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == ring->position + 1) /* C, matches B */
        return slot;
    unet_ring_publish(ring);
    return 0;
}

/* Consumer: give the peeked slot back. */
static inline void unet_ring_release(struct unet_ring *ring)
{
    ring->position++;
    if (ring->position - ring->published > ring->mask >> 2)
        unet_ring_publish(ring);
}

#ifdef __cplusplus
}
#endif
#endif
