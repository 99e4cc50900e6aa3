// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Counters.
 *
 *   /sys/class/misc/unet/interfaces/eth0/sent        over all endpoints there ever were
 *                                       /strange     frames of no endpoint
 *                                       /1024/sent   of the endpoint at port 1024
 *                                            /uid    whose it is
 *
 * An interface's folder goes with its last endpoint.  Those of other network namespaces than the
 * first are eth0@4026532345, with the inode of /proc/PID/ns/net.
 */
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uidgid.h>
#include <net/net_namespace.h>

#include "fe.h"

/* What is shown beside enum unet_fe_counter. */
enum { SHOW_UID = UNET_FE_COUNTERS, SHOW_STRANGE, SHOW_UNREADABLE, SHOWN };

static struct attribute shown[SHOWN] = {
	[UNET_FE_SENT] = { .name = "sent", .mode = 0444 },
	[UNET_FE_SENT_BYTES] = { .name = "sent_bytes", .mode = 0444 },
	[UNET_FE_RECEIVED] = { .name = "received", .mode = 0444 },
	[UNET_FE_RECEIVED_BYTES] = { .name = "received_bytes", .mode = 0444 },
	[UNET_FE_LOST] = { .name = "lost", .mode = 0444 },
	[UNET_FE_FOREIGN] = { .name = "foreign", .mode = 0444 },
	[UNET_FE_EARLY] = { .name = "early", .mode = 0444 },
	[UNET_FE_MALFORMED] = { .name = "malformed", .mode = 0444 },
	[UNET_FE_OVERRUNS] = { .name = "overruns", .mode = 0444 },
	[UNET_FE_BAD_BUFFERS] = { .name = "bad_buffers", .mode = 0444 },
	[UNET_FE_BAD_DESCRIPTORS] = { .name = "bad_descriptors", .mode = 0444 },
	[UNET_FE_ERRORS_LOST] = { .name = "errors_lost", .mode = 0444 },
	[UNET_FE_DIRECT] = { .name = "direct", .mode = 0444 },
	[UNET_FE_REFUSED] = { .name = "refused", .mode = 0444 },
	[UNET_FE_UNPINNED] = { .name = "unpinned", .mode = 0444 },
	[UNET_FE_WAKEUPS] = { .name = "wakeups", .mode = 0444 },
	[SHOW_UID] = { .name = "uid", .mode = 0444 },
	[SHOW_STRANGE] = { .name = "strange", .mode = 0444 },
	[SHOW_UNREADABLE] = { .name = "unreadable", .mode = 0444 },
};

static unsigned int index_of(const struct attribute *attr)
{
	return attr - shown;
}

/* Both kinds of folder have these. */
static struct attribute *counter_attrs[] = {
	&shown[UNET_FE_SENT],
	&shown[UNET_FE_SENT_BYTES],
	&shown[UNET_FE_RECEIVED],
	&shown[UNET_FE_RECEIVED_BYTES],
	&shown[UNET_FE_LOST],
	&shown[UNET_FE_FOREIGN],
	&shown[UNET_FE_EARLY],
	&shown[UNET_FE_MALFORMED],
	&shown[UNET_FE_OVERRUNS],
	&shown[UNET_FE_BAD_BUFFERS],
	&shown[UNET_FE_BAD_DESCRIPTORS],
	&shown[UNET_FE_ERRORS_LOST],
	&shown[UNET_FE_DIRECT],
	&shown[UNET_FE_REFUSED],
	&shown[UNET_FE_UNPINNED],
	&shown[UNET_FE_WAKEUPS],
	NULL,
};

static struct attribute *endpoint_attrs[] = { &shown[SHOW_UID], NULL };
static struct attribute *interface_attrs[] = {
	&shown[SHOW_STRANGE],
	&shown[SHOW_UNREADABLE],
	NULL,
};

static const struct attribute_group counter_group = { .attrs = counter_attrs };
static const struct attribute_group endpoint_group = { .attrs = endpoint_attrs };
static const struct attribute_group interface_group = { .attrs = interface_attrs };

static const struct attribute_group *endpoint_groups[] = { &counter_group, &endpoint_group, NULL };
static const struct attribute_group *interface_groups[] = {
	&counter_group,
	&interface_group,
	NULL,
};

/* ---- endpoints ----------------------------------------------------------------- */

static struct fe_endpoint *endpoint_of(struct kobject *kobj)
{
	return container_of(kobj, struct fe_endpoint, kobj);
}

static ssize_t show_endpoint(struct kobject *kobj, struct attribute *attr, char *page)
{
	const struct fe_endpoint *ep = endpoint_of(kobj);
	unsigned int what = index_of(attr);

	if (what == SHOW_UID)
		return sysfs_emit(page, "%u\n", from_kuid_munged(current_user_ns(), ep->user->uid));
	return sysfs_emit(page, "%llu\n", READ_ONCE(ep->counter[what]));
}

static void release_endpoint(struct kobject *kobj)
{
	fe_endpoint_put(endpoint_of(kobj));
}

static const struct sysfs_ops endpoint_ops = { .show = show_endpoint };

static struct kobj_type endpoint_type = {
	.release = release_endpoint,
	.sysfs_ops = &endpoint_ops,
	.default_groups = endpoint_groups,
};

int fe_sysfs_add_endpoint(struct fe_endpoint *ep)
{
	int error;

	kref_get(&ep->ref);
	error = kobject_init_and_add(&ep->kobj, &endpoint_type, &ep->iface->kobj, "%u",
				     ep->config.port);
	if (error)
		kobject_put(&ep->kobj);
	return error;
}

/* ---- interfaces ------------------------------------------------------------------ */

static struct fe_interface *interface_of(struct kobject *kobj)
{
	return container_of(kobj, struct fe_interface, kobj);
}

static u64 sum_over_endpoints(struct fe_interface *iface, unsigned int what)
{
	u64 sum = READ_ONCE(iface->retired[what]);
	struct fe_endpoint *ep;
	unsigned long port;

	rcu_read_lock();
	xa_for_each(&iface->ports, port, ep)
		sum += READ_ONCE(ep->counter[what]);
	rcu_read_unlock();
	return sum;
}

static ssize_t show_interface(struct kobject *kobj, struct attribute *attr, char *page)
{
	struct fe_interface *iface = interface_of(kobj);
	unsigned int what = index_of(attr);

	if (what == SHOW_STRANGE)
		return sysfs_emit(page, "%ld\n", atomic_long_read(&iface->strange));
	if (what == SHOW_UNREADABLE)
		return sysfs_emit(page, "%ld\n", atomic_long_read(&iface->malformed));
	return sysfs_emit(page, "%llu\n", sum_over_endpoints(iface, what));
}

static void release_interface(struct kobject *kobj)
{
	kfree(interface_of(kobj));
}

static const struct sysfs_ops interface_ops = { .show = show_interface };

static struct kobj_type interface_type = {
	.release = release_interface,
	.sysfs_ops = &interface_ops,
	.default_groups = interface_groups,
};

void fe_sysfs_name(const struct net_device *dev, char name[FE_INTERFACE_NAME])
{
	const struct net *net = dev_net(dev);

	if (net_eq(net, &init_net))
		strscpy(name, dev->name, FE_INTERFACE_NAME);
	else
		snprintf(name, FE_INTERFACE_NAME, "%s@%u", dev->name, net->ns.inum);
}

/* After a failure the interface has been freed. */
int fe_sysfs_add_interface(struct fe_interface *iface)
{
	char name[FE_INTERFACE_NAME];
	int error;

	fe_sysfs_name(iface->dev, name);
	error = kobject_init_and_add(&iface->kobj, &interface_type, fe_interfaces_kobj, "%s", name);
	if (error)
		kobject_put(&iface->kobj);
	return error;
}

/* Waits for who is reading. */
void fe_sysfs_remove(struct kobject *kobj)
{
	kobject_del(kobj);
	kobject_put(kobj);
}
