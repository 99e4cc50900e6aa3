// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Frames on their way out.
 *
 * Messages go straight to the device, past its queueing discipline: if it has no room, they stay
 * in the user's send queue.  Frames for an endpoint of the same interface never leave the
 * machine: they are received as if they had come from outside.
 */
#include <linux/etherdevice.h>

#include "fe.h"

/* There is room: see fe_frame_alloc. */
static void put_header(struct sk_buff *skb, const struct fe_frame *frame)
{
	struct unet_frame *header = __skb_put(skb, sizeof(*header));

	header->version = UNET_FRAME_VERSION;
	header->kind = frame->kind;
	header->length = cpu_to_le16(frame->length);
	header->to_port = cpu_to_le16(frame->to_port);
	header->from_port = cpu_to_le16(frame->from_port);
	header->key = cpu_to_le64(frame->key);
	header->life = cpu_to_le32(frame->life);
	header->user = cpu_to_le32(frame->user);
	if (frame->kind == UNET_FRAME_DIRECT) {
		struct unet_frame_direct *direct = __skb_put(skb, sizeof(*direct));

		direct->place = cpu_to_le64(frame->place);
		direct->grant = cpu_to_le64(frame->grant);
	}
}

/* In a fragment of a page, and with a head that another frame has left: in half of the time that
 * alloc_skb takes.
 */
static struct sk_buff *alloc_in_fragment(unsigned int size)
{
	struct sk_buff *skb = NULL;
	void *data;

	local_bh_disable();
	data = napi_alloc_frag(size);
	if (data) {
		skb = napi_build_skb(data, size);
		if (!skb)
			skb_free_frag(data);
	}
	local_bh_enable();
	return skb;
}

static struct sk_buff *alloc(unsigned int bytes, gfp_t gfp)
{
	unsigned int size = SKB_DATA_ALIGN(bytes) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));

	return size <= PAGE_SIZE ? alloc_in_fragment(size) : alloc_skb(bytes, gfp | __GFP_NOWARN);
}

struct sk_buff *fe_frame_alloc(struct net_device *dev, const struct fe_frame *frame,
			       unsigned int room, gfp_t gfp)
{
	unsigned int header = sizeof(struct unet_frame) + sizeof(struct unet_frame_direct);
	unsigned int bytes = max_t(unsigned int, header + room, ETH_ZLEN);
	struct sk_buff *skb = alloc(LL_RESERVED_SPACE(dev) + bytes + dev->needed_tailroom, gfp);

	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_network_header(skb);
	put_header(skb, frame);
	skb->dev = dev;
	skb->protocol = cpu_to_be16(fe_ethertype);
	if (dev_hard_header(skb, dev, fe_ethertype, frame->mac, NULL, skb->len) <= 0) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reset_mac_header(skb);
	return skb;
}

bool fe_frame_is_local(const struct net_device *dev, const u8 *mac)
{
	return ether_addr_equal_64bits(dev->dev_addr, mac);
}

static int send_local(struct net_device *dev, struct sk_buff *skb)
{
	if (!netif_running(dev)) {
		kfree_skb(skb);
		return -ENETDOWN;
	}
	skb->protocol = eth_type_trans(skb, dev);
	return netif_rx(skb) == NET_RX_SUCCESS ? 0 : -ENETDOWN;
}

/* What the device would pad with may be somebody else's data. */
static bool pad(struct sk_buff *skb)
{
	return eth_skb_pad(skb) == 0;
}

/* As __dev_direct_xmit, for a frame that every device takes as it is. */
static int xmit_linear(struct net_device *dev, struct sk_buff *skb, u16 queue)
{
	struct netdev_queue *txq = netdev_get_tx_queue(dev, queue);
	int result = NETDEV_TX_BUSY;

	skb_set_queue_mapping(skb, queue);
	local_bh_disable(); /* who stops the device waits until here is done */
	if (unlikely(!netif_running(dev) || !netif_carrier_ok(dev))) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		local_bh_enable();
		return NET_XMIT_DROP;
	}
	HARD_TX_LOCK(dev, txq, smp_processor_id());
	if (!netif_xmit_frozen_or_drv_stopped(txq))
		result = netdev_start_xmit(skb, dev, txq, false);
	HARD_TX_UNLOCK(dev, txq);
	local_bh_enable();
	return result;
}

static int xmit(struct net_device *dev, struct sk_buff *skb, u16 queue)
{
	if (skb_is_nonlinear(skb))
		return __dev_direct_xmit(skb, queue);
	return xmit_linear(dev, skb, queue);
}

int fe_frame_send(struct net_device *dev, struct sk_buff *skb, u16 queue, bool local)
{
	int result;

	if (local)
		return send_local(dev, skb);
	if (!pad(skb))
		return -ENETDOWN;
	result = xmit(dev, skb, queue);
	if (dev_xmit_complete(result))
		return result == NETDEV_TX_OK ? 0 : -ENETDOWN;
	kfree_skb(skb);
	return -EAGAIN;
}

/* It may be lost as any frame may. */
void fe_frame_tell(struct net_device *dev, const struct fe_frame *frame, gfp_t gfp)
{
	struct sk_buff *skb = fe_frame_alloc(dev, frame, 0, gfp);

	if (!skb)
		return;
	if (fe_frame_is_local(dev, frame->mac))
		send_local(dev, skb);
	else if (pad(skb))
		dev_queue_xmit(skb);
}
