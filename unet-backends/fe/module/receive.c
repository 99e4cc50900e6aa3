// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Frames into the receive rings.
 *
 * Runs in the soft interrupt that took the frame from the device, on any processor.  The interface
 * is that of the packet type, the endpoint that of the port, and the channel that of the
 * sender and the key; a frame that finds none of them is counted and dropped.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "fe.h"

/* ---- reading ------------------------------------------------------------------ */

/* False if the frame contradicts itself. */
static bool parse(const struct sk_buff *skb, struct fe_frame *frame)
{
	struct unet_frame buffer;
	const struct unet_frame *header = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);
	struct unet_frame_direct direct;

	if (!header || header->version != UNET_FRAME_VERSION)
		return false;
	frame->kind = header->kind;
	frame->length = le16_to_cpu(header->length);
	frame->to_port = le16_to_cpu(header->to_port);
	frame->from_port = le16_to_cpu(header->from_port);
	frame->key = le64_to_cpu(header->key);
	frame->life = le32_to_cpu(header->life);
	frame->user = le32_to_cpu(header->user);
	ether_addr_copy(frame->mac, eth_hdr(skb)->h_source);
	if (frame->length > skb->len - sizeof(*header))
		return false;
	if (frame->kind == UNET_FRAME_DIRECT && frame->length > sizeof(direct)) {
		skb_copy_bits(skb, sizeof(*header), &direct, sizeof(direct));
		frame->place = le64_to_cpu(direct.place);
		frame->grant = le64_to_cpu(direct.grant);
	}
	return true;
}

static bool length_ok(const struct fe_frame *frame)
{
	switch (frame->kind) {
	case UNET_FRAME_INLINE:
		return frame->length <= UNET_INLINE_MAX;
	case UNET_FRAME_PIECES:
		return frame->length > 0;
	case UNET_FRAME_DIRECT:
		return frame->length > UNET_DIRECT_BYTES;
	case UNET_FRAME_OPEN:
	case UNET_FRAME_OPENED:
	case UNET_FRAME_CLOSE:
	case UNET_FRAME_ALIVE:
	case UNET_FRAME_GONE:
		return frame->length == 0;
	default:
		return false;
	}
}

/* Of the message, without its place. */
static u32 message_length(const struct fe_frame *frame)
{
	return frame->length - (frame->kind == UNET_FRAME_DIRECT ? UNET_DIRECT_BYTES : 0);
}

/* ---- messages -------------------------------------------------------------------- */

enum { BAD_MOST = 64 }; /* what one frame may look at: it holds up the others */

/* The next good buffer, `ahead` of the free queue's head.  Bad ones at the head go; bad ones
 * behind good ones wait until they are there.
 */
static bool next_buffer(struct fe_endpoint *ep, u32 ahead, struct unet_piece *piece)
{
	u32 tries;

	for (tries = 0; tries < BAD_MOST; tries++) {
		const struct unet_desc *slot = fe_ring_peek(&ep->free, ahead);
		u64 word;

		if (!slot)
			return false;
		word = READ_ONCE(slot->word[0]);
		piece->offset = word;
		piece->length = word >> 32;
		if (piece->length > 0 && fe_in_segment(ep, piece->offset, piece->length))
			return true;
		if (ahead > 0)
			return false;
		fe_count(ep, UNET_FE_BAD_BUFFERS, 1);
		ep->free.position++;
	}
	return false;
}

/* Buffers for `length` bytes, all or none.  Returns how many, or 0. */
static unsigned int take_buffers(struct fe_endpoint *ep, u32 length, struct unet_piece *piece)
{
	unsigned int count;

	for (count = 0; count < UNET_PIECES_MAX && length > 0; count++) {
		if (!next_buffer(ep, count, &piece[count]))
			break;
		piece[count].length = min(piece[count].length, length);
		length -= piece[count].length;
	}
	if (length > 0)
		count = 0;
	ep->free.position += count;
	fe_ring_publish(&ep->free, ep->free.position);
	return count;
}

static enum unet_fe_counter fill_pieces(struct fe_endpoint *ep, struct unet_desc *slot,
					const struct sk_buff *skb, u32 length)
{
	struct unet_piece piece[UNET_PIECES_MAX];
	unsigned int i, count = take_buffers(ep, length, piece);
	int at = sizeof(struct unet_frame);

	for (i = 0; i < count; i++) {
		if (skb_copy_bits(skb, at, fe_segment(ep, piece[i].offset), piece[i].length))
			return UNET_FE_MALFORMED;
		at += piece[i].length;
		slot->piece[i] = piece[i];
	}
	slot->kind = UNET_PIECES;
	slot->pieces = count;
	return count > 0 ? UNET_FE_RECEIVED : UNET_FE_OVERRUNS;
}

static enum unet_fe_counter fill_inline(struct unet_desc *slot, const struct sk_buff *skb,
					u32 length)
{
	slot->kind = UNET_INLINE;
	slot->pieces = 0;
	if (skb_copy_bits(skb, sizeof(struct unet_frame), slot->data, length))
		return UNET_FE_MALFORMED;
	return UNET_FE_RECEIVED;
}

/* Into pages that were found to be there. */
static bool place(struct fe_endpoint *ep, const struct sk_buff *skb, u64 at, u32 left)
{
	int from = sizeof(struct unet_frame) + sizeof(struct unet_frame_direct);
	bool placed = true;

	while (left > 0 && placed) {
		struct page *page = fe_page_at(ep, at);
		u32 n = min_t(u32, left, PAGE_SIZE - offset_in_page(at));
		void *to = kmap_local_page(page);

		placed = skb_copy_bits(skb, from, to + offset_in_page(at), n) == 0;
		kunmap_local(to);
		flush_dcache_page(page);
		from += n;
		at += n;
		left -= n;
	}
	return placed;
}

static enum unet_fe_counter fill_direct(struct fe_endpoint *ep, const struct fe_channel *ch,
					struct unet_desc *slot, const struct sk_buff *skb,
					const struct fe_frame *frame)
{
	u32 length = message_length(frame);

	if (!fe_is_granted(ep, fe_channel_number(ep, ch), frame->grant, frame->place, length))
		return UNET_FE_REFUSED;
	if (!fe_is_pinned(ep, frame->place, length))
		return UNET_FE_UNPINNED;
	if (!place(ep, skb, frame->place, length))
		return UNET_FE_MALFORMED;
	slot->kind = UNET_DIRECT;
	slot->pieces = 0;
	slot->remote = frame->place;
	slot->grant = frame->grant;
	fe_count(ep, UNET_FE_DIRECT, 1);
	return UNET_FE_RECEIVED;
}

/* UNET_FE_RECEIVED, or what to count instead. */
static enum unet_fe_counter fill(struct fe_endpoint *ep, const struct fe_channel *ch,
				 struct unet_desc *slot, const struct sk_buff *skb,
				 const struct fe_frame *frame)
{
	if (!slot)
		return UNET_FE_OVERRUNS;
	if (frame->kind == UNET_FRAME_INLINE)
		return fill_inline(slot, skb, frame->length);
	if (frame->kind == UNET_FRAME_PIECES)
		return fill_pieces(ep, slot, skb, frame->length);
	return fill_direct(ep, ch, slot, skb, frame);
}

static void deliver(struct fe_endpoint *ep, struct fe_channel *ch, const struct sk_buff *skb,
		    const struct fe_frame *frame)
{
	struct unet_desc *slot = fe_ring_reserve(&ch->in);
	enum unet_fe_counter counter = fill(ep, ch, slot, skb, frame);

	fe_mark(FE_RECEIVE_PLACED);
	fe_count(ep, counter, 1);
	if (counter != UNET_FE_RECEIVED)
		return;
	fe_count(ep, UNET_FE_RECEIVED_BYTES, message_length(frame));
	slot->channel = fe_channel_number(ep, ch);
	slot->length = message_length(frame);
	slot->user = frame->user;
	fe_ring_submit(&ch->in);
	fe_mark(FE_RECEIVE_PUBLISHED);
	fe_notify(ep, &ch->in);
	fe_mark(FE_RECEIVE_RUNG);
}

/* ---- channels --------------------------------------------------------------------- */

static struct fe_frame answer(const struct fe_frame *to, u8 kind, u64 key, u32 life, u32 user)
{
	struct fe_frame frame = {
		.kind = kind,
		.to_port = to->from_port,
		.from_port = to->to_port,
		.key = key,
		.life = life,
		.user = user,
	};

	ether_addr_copy(frame.mac, to->mac);
	return frame;
}

/* The number of our channel came back, with the key that we had said. */
static void peer_is_gone(struct fe_endpoint *ep, const struct fe_frame *frame)
{
	struct fe_channel *ch = fe_is_channel(ep, frame->life) ? &ep->channel[frame->life] : NULL;

	if (ch && ch->state == UNET_OPEN && ch->key_out == frame->key &&
	    ch->peer_life == frame->user && ch->port == frame->from_port &&
	    ether_addr_equal(ch->mac, frame->mac))
		fe_channel_set_state(ep, ch, UNET_DEAD);
	else
		fe_count(ep, UNET_FE_FOREIGN, 1);
}

static bool lives(const struct fe_channel *ch)
{
	return ch && (ch->state == UNET_OPEN || ch->state == UNET_CONNECTING);
}

/* Returns true if `reply` has to be sent. */
static bool arrived(struct fe_endpoint *ep, const struct sk_buff *skb, const struct fe_frame *frame,
		    struct fe_frame *reply)
{
	struct fe_channel *ch = fe_channel_find(ep, frame->mac, frame->from_port, frame->key);

	fe_mark(FE_RECEIVE_FOUND);
	if (frame->kind == UNET_FRAME_GONE) {
		peer_is_gone(ep, frame);
		return false;
	}
	if (frame->kind == UNET_FRAME_OPEN) {
		if (!lives(ch)) {
			fe_count(ep, UNET_FE_EARLY, 1);
			return false;
		}
		*reply = answer(frame, UNET_FRAME_OPENED, ch->key_out, frame->user, ch->life);
		return true;
	}
	if (frame->kind == UNET_FRAME_CLOSE && ch && frame->user == ch->peer_life) {
		if (ch->state == UNET_OPEN)
			fe_channel_set_state(ep, ch, UNET_DEAD);
		return false;
	}
	if (!lives(ch) || frame->life != ch->life) {
		fe_count(ep, UNET_FE_FOREIGN, 1);
		*reply = answer(frame, UNET_FRAME_GONE, frame->key, frame->user, frame->life);
		return frame->kind == UNET_FRAME_ALIVE;
	}
	switch (frame->kind) {
	case UNET_FRAME_OPENED:
		if (ch->state == UNET_CONNECTING) {
			ch->peer_life = frame->user;
			fe_channel_set_state(ep, ch, UNET_OPEN);
		}
		break;
	case UNET_FRAME_CLOSE: /* the peer was open before we were: it knows our life */
		if (ch->state == UNET_CONNECTING)
			fe_channel_set_state(ep, ch, UNET_DEAD);
		else
			fe_count(ep, UNET_FE_FOREIGN, 1);
		break;
	case UNET_FRAME_ALIVE:
		break;
	default:
		deliver(ep, ch, skb, frame);
	}
	return false;
}

/* ---- frames ------------------------------------------------------------------------- */

static void say(struct fe_interface *iface, const struct fe_frame *reply)
{
	if (reply->kind == UNET_FRAME_GONE && !__ratelimit(&iface->gone_limit))
		return;
	fe_frame_tell(iface->dev, reply, GFP_ATOMIC);
}

/* Of other ports than the module's, packet sockets know more. */
static void no_endpoint(struct fe_interface *iface, const struct fe_frame *frame)
{
	atomic_long_inc(&iface->strange);
	if (frame->kind == UNET_FRAME_ALIVE && frame->to_port < UNET_FRAME_SOCKET_PORTS) {
		struct fe_frame reply =
			answer(frame, UNET_FRAME_GONE, frame->key, frame->user, frame->life);

		say(iface, &reply);
	}
}

static void take(struct fe_interface *iface, const struct sk_buff *skb)
{
	struct fe_frame frame, reply;
	struct fe_endpoint *ep;
	bool speak = false;

	if (!parse(skb, &frame)) {
		atomic_long_inc(&iface->malformed);
		return;
	}
	ep = xa_load(&iface->ports, frame.to_port);
	if (!ep) {
		no_endpoint(iface, &frame);
		return;
	}
	spin_lock(&ep->rx_lock);
	fe_mark(FE_RECEIVE_READ);
	if (length_ok(&frame))
		speak = arrived(ep, skb, &frame, &reply);
	else
		fe_count(ep, UNET_FE_MALFORMED, 1);
	spin_unlock(&ep->rx_lock);
	if (speak)
		say(iface, &reply);
}

int fe_receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
	       struct net_device *original)
{
	struct fe_interface *iface = container_of(type, struct fe_interface, receive);

	fe_mark(FE_RECEIVE_BEGINS);
	/* For us alone, and of no VLAN: those have interfaces of their own. */
	if (skb->pkt_type == PACKET_HOST && !skb_vlan_tag_present(skb))
		take(iface, skb);
	else
		atomic_long_inc(&iface->strange);
	napi_consume_skb(skb, 1); /* its head is the next frame's */
	fe_mark(FE_RECEIVE_ENDS);
	return NET_RX_SUCCESS;
}
