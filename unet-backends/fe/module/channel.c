// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Opening and closing channels, and noticing that a peer is gone.
 *
 * Who has opened a channel tells its peer (UNET_FRAME_OPEN, again and again, at the user's request)
 * until the peer answers that it has, too.  The answer repeats the random number of the
 * opening, so nothing that is left of an earlier conversation opens or closes anything.
 * receive.c answers, whatever the user is doing.
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>

#include "fe.h"

/* ---- states ------------------------------------------------------------------ */

/* Who sees the channel open sees the peer's life. */
void fe_channel_set_state(struct fe_endpoint *ep, struct fe_channel *ch, u8 state)
{
	struct unet_fe_shared *shared = fe_shared(ep);

	smp_store_release(&ch->state, state); /* pairs with check_channel */
	WRITE_ONCE(shared->state[fe_channel_number(ep, ch)], state);
	smp_store_release(&shared->changes, ++ep->changes); /* who sees it sees the state */
	if (state == UNET_OPEN || state == UNET_DEAD)
		fe_notify(ep, NULL);
}

struct fe_channel *fe_channel_find(struct fe_endpoint *ep, const u8 *mac, u16 port, u64 key)
{
	struct fe_channel *ch;

	hlist_for_each_entry(ch, &ep->by_key[hash_64(key, ep->key_bits)], by_key) {
		if (ch->key_in == key && ch->port == port && ether_addr_equal(ch->mac, mac))
			return ch;
	}
	return NULL;
}

/* ---- opening ------------------------------------------------------------------- */

static int check_request(const struct fe_endpoint *ep, const struct unet_fe_connect *request)
{
	if (!ep->iface)
		return -ENETDOWN;
	if (request->port == 0 || is_multicast_ether_addr(request->mac))
		return -EADDRNOTAVAIL;
	return request->life ? 0 : -EINVAL;
}

static struct fe_channel *find_closed(struct fe_endpoint *ep)
{
	u32 n;

	for (n = 1; n <= ep->config.channels; n++) {
		if (READ_ONCE(ep->channel[n].state) == UNET_CLOSED)
			return &ep->channel[n];
	}
	return NULL;
}

static int open_channel(struct fe_endpoint *ep, struct fe_channel *ch,
			const struct unet_fe_connect *request)
{
	int error = -EEXIST;

	spin_lock_bh(&ep->rx_lock);
	if (!fe_channel_find(ep, request->mac, request->port, request->key_in)) {
		ch->key_in = request->key_in;
		ch->key_out = request->key_out;
		ch->life = request->life;
		ch->peer_life = 0;
		ch->port = request->port;
		ether_addr_copy(ch->mac, request->mac);
		hlist_add_head(&ch->by_key, &ep->by_key[hash_64(ch->key_in, ep->key_bits)]);
		fe_channel_set_state(ep, ch, UNET_CONNECTING);
		error = 0;
	}
	spin_unlock_bh(&ep->rx_lock);
	return error;
}

int fe_channel_connect(struct fe_endpoint *ep, struct unet_fe_connect *request)
{
	struct fe_channel *ch;
	int error = check_request(ep, request);

	if (error)
		return error;
	ch = find_closed(ep);
	if (!ch)
		return -ENOSPC;
	error = fe_user_add_channel(ep->user);
	if (error)
		return error;
	error = open_channel(ep, ch, request);
	if (error) {
		fe_user_remove_channels(ep->user, 1);
		return error;
	}
	request->channel = fe_channel_number(ep, ch);
	return 0;
}

/* ---- telling ---------------------------------------------------------------------- */

static struct fe_frame frame_to(const struct fe_endpoint *ep, const struct fe_channel *ch, u8 kind,
				u32 life, u32 user)
{
	struct fe_frame frame = {
		.kind = kind,
		.to_port = ch->port,
		.from_port = ep->config.port,
		.key = ch->key_out,
		.life = life,
		.user = user,
	};

	ether_addr_copy(frame.mac, ch->mac);
	return frame;
}

int fe_channel_tell(struct fe_endpoint *ep, unsigned long n)
{
	struct fe_channel *ch;
	u8 state;

	if (!ep->iface)
		return -ENETDOWN;
	if (!fe_is_channel(ep, n))
		return -EINVAL;
	ch = &ep->channel[n];
	state = smp_load_acquire(&ch->state); /* pairs with fe_channel_set_state */
	if (state == UNET_CONNECTING || state == UNET_OPEN) {
		struct fe_frame frame =
			state == UNET_OPEN ? frame_to(ep, ch, UNET_FRAME_ALIVE, ch->peer_life, n)
					   : frame_to(ep, ch, UNET_FRAME_OPEN, 0, ch->life);

		fe_frame_tell(ep->iface->dev, &frame, GFP_KERNEL);
	}
	return state == UNET_CLOSED ? -ENOTCONN : 0;
}

/* ---- closing ------------------------------------------------------------------------ */

/* When this returns nothing more is put into the channel's ring.  The peer may be open even if we
 * were not yet.
 */
static void close_channel(struct fe_endpoint *ep, struct fe_channel *ch)
{
	bool tell;

	spin_lock_bh(&ep->rx_lock);
	tell = ch->state != UNET_DEAD;
	hlist_del_init(&ch->by_key);
	fe_revoke_channel(ep, fe_channel_number(ep, ch));
	fe_channel_set_state(ep, ch, UNET_CLOSED);
	spin_unlock_bh(&ep->rx_lock);
	if (tell && ep->iface) {
		struct fe_frame frame = frame_to(ep, ch, UNET_FRAME_CLOSE, ch->peer_life, ch->life);

		fe_frame_tell(ep->iface->dev, &frame, GFP_KERNEL);
	}
}

int fe_channel_disconnect(struct fe_endpoint *ep, unsigned long n)
{
	if (!fe_is_channel(ep, n) || READ_ONCE(ep->channel[n].state) == UNET_CLOSED)
		return -EINVAL;
	close_channel(ep, &ep->channel[n]);
	fe_user_remove_channels(ep->user, 1);
	return 0;
}

void fe_channels_close(struct fe_endpoint *ep)
{
	unsigned int count = 0;
	u32 n;

	mutex_lock(&ep->mutex);
	for (n = 1; n <= ep->config.channels; n++) {
		if (READ_ONCE(ep->channel[n].state) == UNET_CLOSED)
			continue;
		close_channel(ep, &ep->channel[n]);
		count++;
	}
	mutex_unlock(&ep->mutex);
	fe_user_remove_channels(ep->user, count);
}

void fe_channels_die(struct fe_endpoint *ep)
{
	u32 n;

	spin_lock_bh(&ep->rx_lock);
	for (n = 1; n <= ep->config.channels; n++) {
		struct fe_channel *ch = &ep->channel[n];

		if (ch->state == UNET_CONNECTING || ch->state == UNET_OPEN)
			fe_channel_set_state(ep, ch, UNET_DEAD);
	}
	spin_unlock_bh(&ep->rx_lock);
}
