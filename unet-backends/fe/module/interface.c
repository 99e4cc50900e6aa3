// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * The network interfaces in use, and what happens to them.
 *
 * An interface is here from its first endpoint to its last.  All under rtnl, so none goes while an
 * endpoint is being made on it.
 */
#include <linux/if_arp.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "fe.h"

static LIST_HEAD(interfaces);

static struct fe_interface *find(const struct net_device *dev)
{
	struct fe_interface *iface;

	list_for_each_entry(iface, &interfaces, list) {
		if (iface->dev == dev)
			return iface;
	}
	return NULL;
}

/* ---- from the first endpoint to the last --------------------------------------- */

static struct fe_interface *make(struct net_device *dev)
{
	struct fe_interface *iface = kzalloc(sizeof(*iface), GFP_KERNEL);

	if (!iface)
		return NULL;
	iface->dev = dev;
	xa_init_flags(&iface->ports, XA_FLAGS_ALLOC);
	ratelimit_state_init(&iface->gone_limit, HZ, 1000);
	ratelimit_set_flags(&iface->gone_limit, RATELIMIT_MSG_ON_RELEASE);
	if (fe_sysfs_add_interface(iface))
		return NULL;
	netdev_hold(dev, &iface->tracker, GFP_KERNEL);
	list_add(&iface->list, &interfaces);
	iface->receive = (struct packet_type){
		.type = cpu_to_be16(fe_ethertype),
		.dev = dev,
		.func = fe_receive,
	};
	dev_add_pack(&iface->receive);
	return iface;
}

/* No receive handler runs any more when dev_remove_pack is back. */
static void drop(struct fe_interface *iface)
{
	dev_remove_pack(&iface->receive);
	list_del(&iface->list);
	netdev_put(iface->dev, &iface->tracker);
	xa_destroy(&iface->ports);
	fe_sysfs_remove(&iface->kobj);
}

static void drop_if_unused(struct fe_interface *iface)
{
	if (xa_empty(&iface->ports))
		drop(iface);
}

/* ---- endpoints ------------------------------------------------------------------- */

static int take_port(struct fe_interface *iface, struct fe_endpoint *ep, u16 port)
{
	struct xa_limit limit;
	u32 any;
	int error;

	if (port) {
		error = xa_insert(&iface->ports, port, ep, GFP_KERNEL);
		return error == -EBUSY ? -EADDRINUSE : error;
	}
	fe_user_ports(&limit);
	error = xa_alloc_cyclic(&iface->ports, &any, ep, limit, &iface->next_port, GFP_KERNEL);
	if (error < 0)
		return error == -EBUSY ? -EADDRNOTAVAIL : error;
	ep->config.port = any;
	return 0;
}

static int check_device(const struct net_device *dev)
{
	if (!dev)
		return -ENODEV;
	if (!fe_interface_allowed(dev->name))
		return -EACCES;
	if ((dev->type != ARPHRD_ETHER && dev->type != ARPHRD_LOOPBACK) || !dev->header_ops)
		return -EOPNOTSUPP;
	if (READ_ONCE(dev->mtu) < sizeof(struct unet_frame) + UNET_INLINE_MAX)
		return -EMSGSIZE;
	return 0;
}

static int join(struct fe_endpoint *ep, struct fe_interface *iface, u16 port)
{
	int error = take_port(iface, ep, port);

	if (error)
		return error;
	ep->iface = iface;
	error = fe_sysfs_add_endpoint(ep);
	if (error) {
		ep->iface = NULL;
		xa_erase(&iface->ports, ep->config.port);
	}
	return error;
}

int fe_interface_join(struct fe_endpoint *ep, const char *name, u16 port)
{
	struct net_device *dev = __dev_get_by_name(current->nsproxy->net_ns, name);
	struct fe_interface *iface;
	int error = check_device(dev);

	if (error == 0 && port)
		error = fe_check_port(port);
	if (error)
		return error;
	iface = find(dev);
	if (!iface)
		iface = make(dev);
	if (!iface)
		return -ENOMEM;
	error = join(ep, iface, port);
	if (error)
		drop_if_unused(iface);
	return error;
}

static void retire(struct fe_interface *iface, struct fe_endpoint *ep)
{
	unsigned int i;

	xa_erase(&iface->ports, ep->config.port);
	for (i = 0; i < UNET_FE_COUNTERS; i++)
		iface->retired[i] += READ_ONCE(ep->counter[i]);
	mutex_lock(&ep->mutex);
	ep->iface = NULL;
	mutex_unlock(&ep->mutex);
	fe_sysfs_remove(&ep->kobj);
}

void fe_interface_leave(struct fe_endpoint *ep)
{
	struct fe_interface *iface = ep->iface;

	if (!iface)
		return;
	retire(iface, ep);
	drop_if_unused(iface);
}

/* ---- what happens to interfaces ---------------------------------------------------- */

static void unregistered(struct fe_interface *iface)
{
	struct fe_endpoint *ep;
	unsigned long port;

	xa_for_each(&iface->ports, port, ep) {
		retire(iface, ep);
		fe_channels_die(ep);
	}
	drop(iface);
}

static void renamed(struct fe_interface *iface)
{
	char name[FE_INTERFACE_NAME];

	fe_sysfs_name(iface->dev, name);
	if (kobject_rename(&iface->kobj, name))
		pr_warn("unet_fe: %s keeps its old name in sysfs\n", name);
}

static int event(struct notifier_block *block, unsigned long what, void *info)
{
	struct fe_interface *iface = find(netdev_notifier_info_to_dev(info));

	if (iface && what == NETDEV_UNREGISTER)
		unregistered(iface);
	else if (iface && what == NETDEV_CHANGENAME)
		renamed(iface);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = event };

int fe_interfaces_init(void)
{
	return register_netdevice_notifier(&notifier);
}

void fe_interfaces_exit(void)
{
	unregister_netdevice_notifier(&notifier);
}
