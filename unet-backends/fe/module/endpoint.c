// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Making and ending endpoints.
 *
 * References are held by the open file, by the endpoint's folder in sysfs, and by each frame that
 * is on its way from the user's pages.  The last one gives the memory back once no
 * receive handler can be looking at it any more.
 */
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "fe.h"

/* ---- memory ------------------------------------------------------------------ */

static void free_work(struct work_struct *work)
{
	struct fe_endpoint *ep = container_of(to_rcu_work(work), struct fe_endpoint, free_work);

	fe_ranges_free(ep);
	fe_area_free(ep);
	kvfree(ep->channel);
	kvfree(ep->by_key);
	kvfree(ep->slot);
	kvfree(ep->grant);
	bitmap_free(ep->busy);
	mutex_destroy(&ep->mutex);
	kfree(ep);
	module_put(THIS_MODULE);
}

static void last_put(struct kref *ref)
{
	struct fe_endpoint *ep = container_of(ref, struct fe_endpoint, ref);

	INIT_RCU_WORK(&ep->free_work, free_work);
	queue_rcu_work(fe_workqueue, &ep->free_work);
}

void fe_endpoint_put(struct fe_endpoint *ep)
{
	kref_put(&ep->ref, last_put);
}

/* The file's owner holds the module while this runs. */
struct fe_endpoint *fe_endpoint_alloc(void)
{
	struct fe_endpoint *ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);

	if (!ep)
		return NULL;
	__module_get(THIS_MODULE);
	kref_init(&ep->ref);
	mutex_init(&ep->mutex);
	spin_lock_init(&ep->rx_lock);
	spin_lock_init(&ep->tx_lock);
	init_waitqueue_head(&ep->wait);
	fe_ranges_init(ep);
	return ep;
}

/* ---- making --------------------------------------------------------------------- */

static int alloc_tables(struct fe_endpoint *ep)
{
	const struct unet_fe_create *c = &ep->config;

	ep->key_bits = order_base_2(c->channels + 1);
	ep->channel = kvcalloc(c->channels + 1, sizeof(*ep->channel), GFP_KERNEL_ACCOUNT);
	ep->by_key = kvcalloc(1u << ep->key_bits, sizeof(*ep->by_key), GFP_KERNEL_ACCOUNT);
	ep->slot = kvcalloc(c->send_slots, sizeof(*ep->slot), GFP_KERNEL_ACCOUNT);
	ep->grant = kvcalloc(UNET_GRANTS_MAX, sizeof(*ep->grant), GFP_KERNEL_ACCOUNT);
	ep->busy = bitmap_zalloc(c->send_slots, GFP_KERNEL_ACCOUNT);
	return ep->channel && ep->by_key && ep->slot && ep->grant && ep->busy ? 0 : -ENOMEM;
}

static void attach_rings(struct fe_endpoint *ep)
{
	const struct unet_fe_create *c = &ep->config;
	const struct fe_area *area = &ep->area;
	u32 n;

	fe_ring_attach(&ep->tx, area->base + area->send, c->send_slots);
	fe_ring_attach(&ep->errors, area->base + area->errors, c->send_slots);
	fe_ring_attach(&ep->free, area->base + area->free, c->free_slots);
	for (n = 1; n <= c->channels; n++)
		fe_ring_attach(&ep->channel[n].in,
			       area->base + area->receive + (n - 1) * area->receive_stride,
			       c->recv_slots);
	for (n = 0; n < c->send_slots; n++)
		ep->slot[n].ep = ep;
}

/* What this leaves behind when it fails, the last reference takes away. */
static int build(struct fe_endpoint *ep, const struct unet_fe_create *config)
{
	struct fe_area area;
	int error = fe_area_layout(config, &area);

	if (error)
		return error;
	ep->config = *config;
	error = alloc_tables(ep);
	if (error)
		return error;
	error = fe_area_alloc(ep, &area);
	if (error)
		return error;
	ep->area = area;
	attach_rings(ep);
	return 0;
}

static void describe(const struct fe_endpoint *ep, struct unet_fe_create *config)
{
	const struct fe_area *area = &ep->area;
	struct net_device *dev = ep->iface->dev;

	config->port = ep->config.port;
	ether_addr_copy(config->mac, dev->dev_addr);
	config->packet_bytes =
		min_t(u32, READ_ONCE(dev->mtu) - sizeof(struct unet_frame), UNET_MESSAGE_MAX);
	config->pad = 0;
	config->area_bytes = area->bytes;
	config->send = area->send;
	config->errors = area->errors;
	config->free = area->free;
	config->receive = area->receive;
	config->receive_stride = area->receive_stride;
	config->segment = area->segment;
}

static int join(struct fe_endpoint *ep, struct unet_fe_create *config)
{
	int error;

	rtnl_lock();
	error = fe_interface_join(ep, config->interface, config->port);
	if (error == 0)
		describe(ep, config);
	rtnl_unlock();
	return error;
}

static int enlist(struct fe_endpoint *ep)
{
	int error;

	ep->user = fe_user_get();
	if (!ep->user)
		return -ENOMEM;
	error = fe_user_add_endpoint(ep->user);
	if (error) {
		fe_user_put(ep->user);
		ep->user = NULL;
	}
	return error;
}

static void delist(struct fe_endpoint *ep)
{
	if (!ep->user)
		return;
	fe_user_remove_endpoint(ep->user);
	fe_user_put(ep->user);
	ep->user = NULL;
}

/* One attempt per open file: after a failure the endpoint is good for closing only. */
int fe_endpoint_create(struct fe_endpoint *ep, struct unet_fe_create *config)
{
	int error;

	if (config->version != UNET_FE_VERSION)
		return -EPROTO;
	if (strnlen(config->interface, sizeof(config->interface)) == sizeof(config->interface))
		return -EINVAL;
	if (test_and_set_bit(0, &ep->taken))
		return -EBUSY;
	error = enlist(ep);
	if (error == 0)
		error = build(ep, config);
	if (error == 0)
		error = join(ep, config);
	if (error == 0)
		smp_store_release(&ep->created, true); /* all of it is there: see fe_area_map */
	return error;
}

/* ---- ending ------------------------------------------------------------------------ */

void fe_endpoint_release(struct fe_endpoint *ep)
{
	if (ep->created) {
		fe_channels_close(ep);
		rtnl_lock();
		fe_interface_leave(ep);
		rtnl_unlock();
	}
	delist(ep);
	fe_endpoint_put(ep);
}
