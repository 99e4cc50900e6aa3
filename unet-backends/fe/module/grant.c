// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Who may write where in ranges.
 *
 * A grant is for one channel's peer, for part of one range, and for as long as its owner says: what
 * comes for it later, as late as it may, finds another key in its slot.  Keys are random, so who
 * has not seen one cannot name it.
 */
#include <linux/bitmap.h>
#include <linux/random.h>

#include "fe.h"

#define KEY_SLOT ((u64)UNET_GRANTS_MAX - 1) /* the bits that name its slot */

static struct fe_grant *slot_of(const struct fe_endpoint *ep, u64 key)
{
	return &ep->grant[key & KEY_SLOT];
}

/* ---- giving ------------------------------------------------------------------- */

/* Of the slot, and never 0. */
static u64 new_key(unsigned int slot)
{
	u64 key;

	do
		key = (get_random_u64() & ~KEY_SLOT) | slot;
	while (!key);
	return key;
}

static int check_request(const struct fe_endpoint *ep, const struct unet_fe_grant *request)
{
	if (!fe_is_channel(ep, request->channel) ||
	    !fe_in_range(ep, request->place, request->bytes))
		return -EINVAL;
	return READ_ONCE(ep->channel[request->channel].state) == UNET_CLOSED ? -ENOTCONN : 0;
}

int fe_grant(struct fe_endpoint *ep, struct unet_fe_grant *request)
{
	unsigned int slot;
	int error = check_request(ep, request);

	if (error)
		return error;
	slot = find_first_zero_bit(ep->granted, UNET_GRANTS_MAX);
	if (slot >= UNET_GRANTS_MAX)
		return -ENOSPC;
	request->key = new_key(slot);
	spin_lock_bh(&ep->rx_lock);
	__set_bit(slot, ep->granted);
	ep->grant[slot] = (struct fe_grant){
		.key = request->key,
		.place = request->place,
		.bytes = request->bytes,
		.channel = request->channel,
	};
	spin_unlock_bh(&ep->rx_lock);
	return 0;
}

/* ---- revoking ------------------------------------------------------------------- */

/* Under rx_lock. */
static void end(struct fe_endpoint *ep, unsigned int slot)
{
	ep->grant[slot].key = 0;
	__clear_bit(slot, ep->granted);
}

/* When this returns nothing is placed by that key any more. */
int fe_revoke(struct fe_endpoint *ep, u64 key)
{
	struct fe_grant *grant = slot_of(ep, key);

	if (key == 0 || grant->key != key)
		return -EINVAL;
	spin_lock_bh(&ep->rx_lock);
	end(ep, grant - ep->grant);
	spin_unlock_bh(&ep->rx_lock);
	return 0;
}

void fe_revoke_channel(struct fe_endpoint *ep, u32 channel)
{
	unsigned int slot;

	for_each_set_bit(slot, ep->granted, UNET_GRANTS_MAX) {
		if (ep->grant[slot].channel == channel)
			end(ep, slot);
	}
}

void fe_revoke_range(struct fe_endpoint *ep, u64 range)
{
	unsigned int slot;

	for_each_set_bit(slot, ep->granted, UNET_GRANTS_MAX) {
		if (ep->grant[slot].place >> 48 == range)
			end(ep, slot);
	}
}

/* ---- looking ---------------------------------------------------------------------- */

bool fe_is_granted(const struct fe_endpoint *ep, u32 channel, u64 key, u64 place, u32 length)
{
	const struct fe_grant *grant = slot_of(ep, key);
	u64 offset = place - grant->place;

	return key != 0 && grant->key == key && grant->channel == channel &&
	       offset < grant->bytes && length <= grant->bytes - offset;
}
