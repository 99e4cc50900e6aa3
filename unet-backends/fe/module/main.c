// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Module parameters, loading, unloading.
 */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "fe.h"

/* ---- parameters ------------------------------------------------------------ */

unsigned int fe_copybreak = 256;
module_param_named(copybreak, fe_copybreak, uint, 0644);
MODULE_PARM_DESC(
	copybreak,
	"Messages up to that many bytes are copied rather than sent from the user's pages");

unsigned int fe_ethertype = UNET_ETHERTYPE;
module_param_named(ethertype, fe_ethertype, uint, 0444);
MODULE_PARM_DESC(ethertype, "EtherType of the frames, at least 0x600");

static char *interfaces = "";
module_param(interfaces, charp, 0444);
MODULE_PARM_DESC(interfaces, "Interfaces that may be used, separated by commas; empty: all");

static unsigned int first_port = 1024;
module_param(first_port, uint, 0644);
MODULE_PARM_DESC(first_port, "Ports from here on are for everybody, those below for CAP_NET_ADMIN");

static unsigned int last_port = UNET_FRAME_SOCKET_PORTS - 1;
module_param(last_port, uint, 0644);
MODULE_PARM_DESC(last_port, "Ports up to here are for everybody, those above for CAP_NET_ADMIN");

static unsigned int max_endpoints = 256;
module_param(max_endpoints, uint, 0644);
MODULE_PARM_DESC(max_endpoints, "Endpoints that one user may have");

static unsigned int max_channels = 65535;
module_param(max_channels, uint, 0644);
MODULE_PARM_DESC(max_channels, "Channels that one user may have, over all endpoints");

static unsigned int max_megabytes = 256;
module_param(max_megabytes, uint, 0644);
MODULE_PARM_DESC(max_megabytes,
		 "Memory of one endpoint; what a user may lock (RLIMIT_MEMLOCK) bounds the sum");

unsigned int fe_max_endpoints(void)
{
	return READ_ONCE(max_endpoints);
}

unsigned int fe_max_channels(void)
{
	return READ_ONCE(max_channels);
}

u64 fe_max_bytes(void)
{
	return (u64)READ_ONCE(max_megabytes) << 20;
}

bool fe_interface_allowed(const char *name)
{
	size_t length = strlen(name);
	const char *at = interfaces;

	if (!*at)
		return true;
	while (*at) {
		size_t here = strcspn(at, ",\n");

		if (here == length && strncmp(at, name, length) == 0)
			return true;
		at += here;
		at += *at != '\0';
	}
	return false;
}

void fe_user_ports(struct xa_limit *limit)
{
	limit->max = min(READ_ONCE(last_port), UNET_FRAME_SOCKET_PORTS - 1);
	limit->min = clamp(READ_ONCE(first_port), 1u, limit->max);
}

int fe_check_port(u16 port)
{
	struct xa_limit everybody;

	if (port >= UNET_FRAME_SOCKET_PORTS)
		return -EADDRNOTAVAIL;
	fe_user_ports(&everybody);
	if ((port < everybody.min || port > everybody.max) && !capable(CAP_NET_ADMIN))
		return -EACCES;
	return 0;
}

/* ---- loading and unloading --------------------------------------------------- */

struct workqueue_struct *fe_workqueue;
struct kobject *fe_interfaces_kobj;

static struct miscdevice fe_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "unet",
	.mode = 0600, /* udev gives it to a group */
	.fops = &fe_file_operations,
};

static int __init fe_register(void)
{
	int error = misc_register(&fe_device);

	if (error)
		return error;
	fe_interfaces_kobj = kobject_create_and_add("interfaces", &fe_device.this_device->kobj);
	if (!fe_interfaces_kobj)
		error = -ENOMEM;
	else
		error = fe_interfaces_init();
	if (error) {
		kobject_put(fe_interfaces_kobj);
		misc_deregister(&fe_device);
	}
	return error;
}

static int __init fe_init(void)
{
	int error;

	if (fe_ethertype < ETH_P_802_3_MIN || fe_ethertype > 0xffff) {
		pr_err("unet_fe: ethertype=0x%x: it has to be 0x600..0xffff\n", fe_ethertype);
		return -EINVAL;
	}
	fe_workqueue = alloc_workqueue("unet_fe", 0, 0);
	if (!fe_workqueue)
		return -ENOMEM;
	error = fe_register();
	if (error)
		destroy_workqueue(fe_workqueue);
	return error;
}

/* Every endpoint holds the module until its memory is given back, so none is left; but the last
 * function to do so may still be returning.
 */
static void __exit fe_exit(void)
{
	fe_interfaces_exit();
	kobject_put(fe_interfaces_kobj);
	misc_deregister(&fe_device);
	rcu_barrier();
	destroy_workqueue(fe_workqueue);
}

module_init(fe_init);
module_exit(fe_exit);
MODULE_DESCRIPTION("U-Net endpoints over Ethernet");
MODULE_AUTHOR("The Split-C project");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION("1");
