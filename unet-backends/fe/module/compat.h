/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What changed between Linux 6.1 and newer kernels.
 */
#ifndef UNET_FE_COMPAT_H
#define UNET_FE_COMPAT_H

#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* Called when nobody looks at the frame's user pages any more. */
void fe_sent(struct sk_buff *skb, struct ubuf_info *ubuf, bool success);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
static inline void fe_ubuf_init(struct ubuf_info *ubuf)
{
	ubuf->callback = fe_sent;
	ubuf->flags = SKBFL_ZEROCOPY_FRAG;
	refcount_set(&ubuf->refcnt, 1);
}
#else
static inline void fe_ubuf_init(struct ubuf_info *ubuf)
{
	static const struct ubuf_info_ops ops = { .complete = fe_sent };

	ubuf->ops = &ops;
	ubuf->flags = SKBFL_ZEROCOPY_FRAG;
	refcount_set(&ubuf->refcnt, 1);
}
#endif

#endif
