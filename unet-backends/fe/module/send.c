// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * The trap: the send queue into frames.
 *
 * Where the device gathers, the frame points at the user's pages, of the segment or of a range, and
 * the descriptor is done when the last one that looked at the frame has let go of it.  Who wants a
 * frame for longer, a packet sniffer or a slow receiver on the same machine, gets a copy from the
 * network stack.  Short messages are copied at once: that is cheaper than two frames' worth of
 * book-keeping.
 *
 * `consumed` of the send queue is what is done.  Frames are done in any order, so:
 *
 *   done <= consumed by the NI (tx.position) <= filled by the user
 *
 * and a slot in [done, tx.position) is on its way if its bit in `busy` is set.
 */
#include <linux/etherdevice.h>
#include <linux/sched.h>

#include "fe.h"

/* ---- what is done ----------------------------------------------------------- */

static void finish(struct fe_endpoint *ep)
{
	unsigned long flags;
	u32 end, done;

	spin_lock_irqsave(&ep->tx_lock, flags);
	end = smp_load_acquire(&ep->tx.position); /* pairs with fe_send: `busy` is as new */
	done = ep->done;
	while (done != end && !test_bit(done & ep->tx.mask, ep->busy))
		done++;
	if (done != ep->done) {
		WRITE_ONCE(ep->done, done);
		fe_ring_publish(&ep->tx, done);
	}
	spin_unlock_irqrestore(&ep->tx_lock, flags);
}

/* Wherever a frame is freed, interrupts off included.  The endpoint may be closed by now. */
void fe_sent(struct sk_buff *skb, struct ubuf_info *ubuf, bool success)
{
	struct fe_slot *slot = container_of(ubuf, struct fe_slot, ubuf);
	struct fe_endpoint *ep = slot->ep;

	rcu_read_lock(); /* until here is done: the last reference frees after a grace period */
	clear_bit_unlock(slot - ep->slot, ep->busy);
	finish(ep);
	fe_endpoint_put(ep);
	rcu_read_unlock();
}

/* ---- checking ----------------------------------------------------------------- */

static int check_channel(const struct fe_endpoint *ep, u16 n)
{
	if (!fe_is_channel(ep, n))
		return -ENOTCONN;
	switch (smp_load_acquire(&ep->channel[n].state)) { /* pairs with fe_channel_set_state */
	case UNET_OPEN:
		return ep->iface ? 0 : -EPIPE;
	case UNET_DEAD:
		return -EPIPE;
	default:
		return -ENOTCONN;
	}
}

/* As unet_check_pieces. */
static int check_pieces(const struct fe_endpoint *ep, const struct unet_desc *desc)
{
	u64 sum = 0;
	unsigned int i;

	if (desc->pieces < 1 || desc->pieces > UNET_PIECES_MAX)
		return -EINVAL;
	for (i = 0; i < desc->pieces; i++) {
		if (!fe_in_segment(ep, desc->piece[i].offset, desc->piece[i].length))
			return -EFAULT;
		sum += desc->piece[i].length;
	}
	if (sum > UNET_MESSAGE_MAX)
		return -EMSGSIZE;
	return sum == desc->length && sum > 0 ? 0 : -EINVAL;
}

/* The peer's place is the peer's business. */
static int check_direct(struct fe_endpoint *ep, const struct unet_desc *desc)
{
	if (desc->pieces != 0 || desc->length == 0)
		return -EINVAL;
	if (desc->length > UNET_MESSAGE_MAX)
		return -EMSGSIZE;
	return fe_is_pinned(ep, desc->local, desc->length) ? 0 : -EFAULT;
}

static int check_content(struct fe_endpoint *ep, const struct unet_desc *desc)
{
	switch (desc->kind) {
	case UNET_INLINE:
		return desc->length <= UNET_INLINE_MAX ? 0 : -EMSGSIZE;
	case UNET_PIECES:
		return check_pieces(ep, desc);
	case UNET_DIRECT:
		return check_direct(ep, desc);
	default:
		return -EINVAL;
	}
}

/* Bytes behind the frame's header. */
static u32 wire_length(const struct unet_desc *desc)
{
	return desc->length + (desc->kind == UNET_DIRECT ? UNET_DIRECT_BYTES : 0);
}

static int check(struct fe_endpoint *ep, const struct unet_desc *desc)
{
	int error = check_channel(ep, desc->channel);

	if (error == 0)
		error = check_content(ep, desc);
	if (error || desc->kind == UNET_INLINE)
		return error;
	if (wire_length(desc) > U16_MAX ||
	    wire_length(desc) + sizeof(struct unet_frame) > READ_ONCE(ep->iface->dev->mtu))
		return -EMSGSIZE;
	return 0;
}

static void refuse(struct fe_endpoint *ep, const struct unet_desc *desc, int error)
{
	struct unet_desc *slot = fe_ring_reserve(&ep->errors);

	fe_count(ep, UNET_FE_BAD_DESCRIPTORS, 1);
	if (!slot) {
		fe_count(ep, UNET_FE_ERRORS_LOST, 1);
		return;
	}
	slot->channel = desc->channel;
	slot->kind = UNET_ERROR;
	slot->pieces = 0;
	slot->length = desc->length;
	slot->user = desc->user;
	slot->error = -error;
	fe_ring_submit(&ep->errors);
}

/* ---- frames ---------------------------------------------------------------------- */

/* The message's pages: of the segment by their place in the area, or of a range by theirs there. */
static struct page *page_at(struct fe_endpoint *ep, const struct unet_desc *desc, u64 at)
{
	if (desc->kind == UNET_DIRECT)
		return fe_page_at(ep, at);
	return ep->area.page[at >> PAGE_SHIFT];
}

static void copy_range(struct fe_endpoint *ep, const struct unet_desc *desc, struct sk_buff *skb)
{
	u64 at = desc->local;
	u32 left = desc->length;

	while (left > 0) {
		u32 n = min_t(u32, left, PAGE_SIZE - offset_in_page(at));
		void *from = kmap_local_page(fe_page_at(ep, at));

		__skb_put_data(skb, from + offset_in_page(at), n);
		kunmap_local(from);
		at += n;
		left -= n;
	}
}

/* Into the room that make_frame has asked for. */
static void copy_message(struct fe_endpoint *ep, const struct unet_desc *desc, struct sk_buff *skb)
{
	unsigned int i;

	if (desc->kind == UNET_INLINE)
		__skb_put_data(skb, desc->data, desc->length);
	if (desc->kind == UNET_DIRECT)
		copy_range(ep, desc, skb);
	if (desc->kind != UNET_PIECES)
		return;
	for (i = 0; i < desc->pieces; i++)
		__skb_put_data(skb, fe_segment(ep, desc->piece[i].offset), desc->piece[i].length);
}

static unsigned int pages_of(u64 at, u32 length)
{
	return DIV_ROUND_UP(offset_in_page(at) + length, PAGE_SIZE);
}

static unsigned int count_frags(const struct unet_desc *desc)
{
	unsigned int i, count = 0;

	if (desc->kind == UNET_DIRECT)
		return pages_of(desc->local, desc->length);
	for (i = 0; i < desc->pieces; i++)
		count += pages_of(desc->piece[i].offset, desc->piece[i].length);
	return count;
}

static void add_frags(struct fe_endpoint *ep, const struct unet_desc *desc, struct sk_buff *skb,
		      u64 at, u32 left)
{
	while (left > 0) {
		struct page *page = page_at(ep, desc, at);
		u32 n = min_t(u32, left, PAGE_SIZE - offset_in_page(at));

		get_page(page);
		skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset_in_page(at), n);
		skb->len += n;
		skb->data_len += n;
		skb->truesize += PAGE_SIZE;
		at += n;
		left -= n;
	}
}

/* From here on the descriptor is on its way until fe_sent. */
static void point_at_message(struct fe_endpoint *ep, const struct unet_desc *desc,
			     struct sk_buff *skb)
{
	u32 n = ep->tx.position & ep->tx.mask;
	unsigned int i;

	if (desc->kind == UNET_DIRECT)
		add_frags(ep, desc, skb, desc->local, desc->length);
	for (i = 0; i < desc->pieces; i++)
		add_frags(ep, desc, skb, ep->area.segment + desc->piece[i].offset,
			  desc->piece[i].length);
	kref_get(&ep->ref);
	set_bit(n, ep->busy);
	fe_ubuf_init(&ep->slot[n].ubuf);
	skb_zcopy_init(skb, &ep->slot[n].ubuf);
}

static bool copies(const struct net_device *dev, const struct unet_desc *desc, bool local)
{
	return local || desc->kind == UNET_INLINE || !(dev->features & NETIF_F_SG) ||
	       desc->length <= max_t(u32, READ_ONCE(fe_copybreak), ETH_ZLEN) ||
	       count_frags(desc) > MAX_SKB_FRAGS;
}

static const u8 frame_kind[] = {
	[UNET_INLINE] = UNET_FRAME_INLINE,
	[UNET_PIECES] = UNET_FRAME_PIECES,
	[UNET_DIRECT] = UNET_FRAME_DIRECT,
};

static struct sk_buff *make_frame(struct fe_endpoint *ep, const struct unet_desc *desc, bool local)
{
	const struct fe_channel *ch = &ep->channel[desc->channel];
	struct net_device *dev = ep->iface->dev;
	bool copy = copies(dev, desc, local);
	struct fe_frame frame = {
		.place = desc->remote,
		.grant = desc->grant,
		.kind = frame_kind[desc->kind],
		.length = wire_length(desc),
		.to_port = ch->port,
		.from_port = ep->config.port,
		.key = ch->key_out,
		.life = ch->peer_life,
		.user = desc->user,
	};
	struct sk_buff *skb;

	ether_addr_copy(frame.mac, ch->mac);
	skb = fe_frame_alloc(dev, &frame, copy ? desc->length : 0, GFP_KERNEL);
	fe_mark(FE_SEND_FRAMED);
	if (!skb)
		return NULL;
	if (copy)
		copy_message(ep, desc, skb);
	else
		point_at_message(ep, desc, skb);
	fe_mark(FE_SEND_FILLED);
	return skb;
}

/* One queue per endpoint, so that messages stay in order. */
static u16 queue_of(const struct fe_endpoint *ep, const struct net_device *dev)
{
	return ep->config.port % dev->real_num_tx_queues;
}

/* 0; -EAGAIN: not now; -ENETDOWN: it is lost; any other error refuses the descriptor. */
static int send_one(struct fe_endpoint *ep, const struct unet_desc *desc)
{
	struct net_device *dev;
	struct sk_buff *skb;
	bool local;
	u16 queue;
	int error = check(ep, desc);

	fe_mark(FE_SEND_CHECKED);
	if (error)
		return error;
	dev = ep->iface->dev;
	queue = queue_of(ep, dev);
	local = fe_frame_is_local(dev, ep->channel[desc->channel].mac);
	if (!local && netif_tx_queue_stopped(netdev_get_tx_queue(dev, queue)))
		return -EAGAIN;
	skb = make_frame(ep, desc, local);
	if (!skb)
		return -EAGAIN;
	error = fe_frame_send(dev, skb, queue, local);
	fe_mark(FE_SEND_HANDED);
	return error;
}

/* ---- the queue --------------------------------------------------------------------- */

static void account(struct fe_endpoint *ep, const struct unet_desc *desc, int error)
{
	if (error == -ENETDOWN) {
		fe_count(ep, UNET_FE_LOST, 1);
	} else if (error) {
		refuse(ep, desc, error);
	} else {
		fe_count(ep, UNET_FE_SENT, 1);
		fe_count(ep, UNET_FE_SENT_BYTES, desc->length);
	}
}

/* True if every slot holds a message on its way.  An honest user would see that, too. */
static bool all_on_their_way(const struct fe_endpoint *ep)
{
	return ep->tx.position - READ_ONCE(ep->done) > ep->tx.mask;
}

/* One lap at most, whatever is written meanwhile. */
int fe_send(struct fe_endpoint *ep)
{
	int count;

	for (count = 0; count <= ep->tx.mask && !all_on_their_way(ep); count++) {
		const struct unet_desc *slot = fe_ring_peek(&ep->tx, 0);
		struct unet_desc desc;
		int error;

		if (!slot)
			break;
		fe_copy_desc(&desc, slot);
		fe_mark(FE_SEND_READ);
		error = send_one(ep, &desc);
		if (error == -EAGAIN)
			break;
		account(ep, &desc, error);
		smp_store_release(&ep->tx.position, ep->tx.position + 1); /* pairs with finish */
		cond_resched();
	}
	finish(ep);
	return count;
}
