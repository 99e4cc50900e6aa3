// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * file.c - /dev/unet: its ioctls, mmap, poll, read and write.
 */
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "fe.h"

static int fe_open(struct inode *inode, struct file *file)
{
	const fmode_t both = FMODE_READ | FMODE_WRITE;

	if ((file->f_mode & both) != both)
		return -EINVAL;
	file->private_data = fe_endpoint_alloc();
	return file->private_data ? 0 : -ENOMEM;
}

static int fe_release(struct inode *inode, struct file *file)
{
	fe_endpoint_release(file->private_data);
	return 0;
}

/* ---- ioctls ------------------------------------------------------------------ */

static long create(struct fe_endpoint *ep, void __user *arg)
{
	struct unet_fe_create config;
	int error;

	if (copy_from_user(&config, arg, sizeof(config)))
		return -EFAULT;
	error = fe_endpoint_create(ep, &config);
	if (error)
		return error;
	return copy_to_user(arg, &config, sizeof(config)) ? -EFAULT : 0;
}

union request {
	struct unet_fe_connect connect;
	struct unet_fe_export export;
	struct unet_fe_pin pin;
	struct unet_fe_grant grant;
	u64 key;
};

/* Under the mutex. */
static int serve(struct fe_endpoint *ep, unsigned int command, union request *request)
{
	switch (command) {
	case UNET_FE_CONNECT:
		return fe_channel_connect(ep, &request->connect);
	case UNET_FE_EXPORT:
		return fe_export(ep, &request->export);
	case UNET_FE_PIN:
		return fe_pin(ep, &request->pin);
	case UNET_FE_UNPIN:
		return fe_unpin(ep, &request->pin);
	case UNET_FE_GRANT:
		return fe_grant(ep, &request->grant);
	default:
		return fe_revoke(ep, request->key);
	}
}

/* Those whose argument is read, and some of which write the answer in it. */
static long with_argument(struct fe_endpoint *ep, unsigned int command, void __user *arg)
{
	union request request;
	int error;

	if (copy_from_user(&request, arg, _IOC_SIZE(command)))
		return -EFAULT;
	mutex_lock(&ep->mutex);
	error = serve(ep, command, &request);
	mutex_unlock(&ep->mutex);
	if (error || !(_IOC_DIR(command) & _IOC_READ))
		return error;
	return copy_to_user(arg, &request, _IOC_SIZE(command)) ? -EFAULT : 0;
}

static long with_mutex(struct fe_endpoint *ep, unsigned int command, unsigned long arg)
{
	long result;

	fe_mark(FE_SEND_BEGINS);
	mutex_lock(&ep->mutex);
	switch (command) {
	case UNET_FE_SEND:
		result = fe_send(ep);
		break;
	case UNET_FE_TELL:
		result = fe_channel_tell(ep, arg);
		break;
	case UNET_FE_DISCONNECT:
		result = fe_channel_disconnect(ep, arg);
		break;
	case UNET_FE_UNEXPORT:
		result = fe_unexport(ep, arg);
		break;
	default:
		result = -ENOTTY;
	}
	mutex_unlock(&ep->mutex);
	fe_mark(FE_SEND_ENDS);
	return result;
}

static long fe_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct fe_endpoint *ep = file->private_data;

	if (command == UNET_FE_CREATE)
		return create(ep, (void __user *)arg);
	if (_IOC_TYPE(command) != UNET_FE_IOC)
		return -ENOTTY;
	if (!smp_load_acquire(&ep->created)) /* pairs with fe_endpoint_create */
		return -ENOTCONN;
	switch (command) {
	case UNET_FE_CONNECT:
	case UNET_FE_EXPORT:
	case UNET_FE_PIN:
	case UNET_FE_UNPIN:
	case UNET_FE_GRANT:
	case UNET_FE_REVOKE:
		return with_argument(ep, command, (void __user *)arg);
	default:
		return with_mutex(ep, command, arg);
	}
}

/* ---- the rest ------------------------------------------------------------------ */

static int fe_mmap(struct file *file, struct vm_area_struct *vma)
{
	return fe_area_map(file->private_data, vma);
}

static __poll_t fe_poll(struct file *file, poll_table *table)
{
	struct fe_endpoint *ep = file->private_data;

	poll_wait(file, &ep->wait, table);
	return READ_ONCE(ep->rung) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* One byte if the bell was rung, and then it was not. */
static ssize_t fe_read(struct file *file, char __user *buffer, size_t length, loff_t *offset)
{
	struct fe_endpoint *ep = file->private_data;

	if (length == 0)
		return 0;
	while (!xchg(&ep->rung, 0)) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(ep->wait, READ_ONCE(ep->rung)))
			return -ERESTARTSYS;
	}
	return put_user(0, buffer) ? -EFAULT : 1;
}

/* Ring one's own bell. */
static ssize_t fe_write(struct file *file, const char __user *buffer, size_t length, loff_t *offset)
{
	fe_ring_bell(file->private_data);
	return length;
}

static int fe_fasync(int fd, struct file *file, int on)
{
	struct fe_endpoint *ep = file->private_data;

	return fasync_helper(fd, file, on, &ep->fasync);
}

const struct file_operations fe_file_operations = {
	.owner = THIS_MODULE,
	.open = fe_open,
	.release = fe_release,
	.unlocked_ioctl = fe_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = fe_mmap,
	.poll = fe_poll,
	.read = fe_read,
	.write = fe_write,
	.fasync = fe_fasync,
	.llseek = noop_llseek,
};
