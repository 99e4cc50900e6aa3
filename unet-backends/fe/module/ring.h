/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The kernel's side of the rings of unet/unet_ring.h.
 *
 * The letters are those of the drawing there.  The other side is a user who may write anything
 * anywhere at any time: positions are private, slots are copied out once, and a `consumed` that
 * makes no sense means "full".
 */
#ifndef UNET_FE_RING_H
#define UNET_FE_RING_H

#include <asm/barrier.h>
#include <linux/build_bug.h>
#include <unet/unet_abi.h>

struct fe_ring {
	struct unet_ring_shared *shared;
	u32 mask;
	u32 position; /* the next slot to fill, or to read */
	u32 cached;   /* producer: last seen value of shared->consumed */
};

static inline void fe_ring_attach(struct fe_ring *ring, void *memory, u32 slots)
{
	ring->shared = memory;
	ring->mask = slots - 1;
	ring->position = 0;
	ring->cached = 0;
}

/* Producer: the slot to write next, or NULL when the ring is full. */
static inline struct unet_desc *fe_ring_reserve(struct fe_ring *ring)
{
	if (ring->position - ring->cached > ring->mask) {
		u32 consumed = smp_load_acquire(&ring->shared->consumed); /* A, matches D */

		if (ring->position - consumed > ring->mask)
			return NULL;
		ring->cached = consumed;
	}
	return &ring->shared->slot[ring->position & ring->mask];
}

/* Producer: make the reserved slot visible. */
static inline void fe_ring_submit(struct fe_ring *ring)
{
	struct unet_desc *slot = &ring->shared->slot[ring->position & ring->mask];

	ring->position++;
	smp_store_release(&slot->turn, ring->position); /* B, matches C */
}

/* Consumer: the slot `ahead` of the oldest, or NULL if it is not filled. */
static inline const struct unet_desc *fe_ring_peek(const struct fe_ring *ring, u32 ahead)
{
	u32 position = ring->position + ahead;
	const struct unet_desc *slot = &ring->shared->slot[position & ring->mask];

	if (smp_load_acquire(&slot->turn) != position + 1) /* C, matches B */
		return NULL;
	return slot;
}

/* Consumer: tell the producer that slots below that position may be overwritten. */
static inline void fe_ring_publish(struct fe_ring *ring, u32 position)
{
	smp_store_release(&ring->shared->consumed, position); /* D, matches A */
}

/* One fetch of each word, whatever the compiler thinks of plain copies. */
static inline void fe_copy_desc(struct unet_desc *copy, const struct unet_desc *slot)
{
	const u64 *from = (const u64 *)slot;
	u64 *to = (u64 *)copy;
	unsigned int i;

	static_assert(sizeof(*copy) % sizeof(*to) == 0);
	for (i = 0; i < sizeof(*copy) / sizeof(*to); i++)
		to[i] = READ_ONCE(from[i]);
}

#endif
