// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * The area that an endpoint shares with its user.
 *
 * The pages are the kernel's own, zeroed, and counted one by one: a frame on its way keeps those
 * that it points at.  They count as locked memory of the user who made the endpoint.  A mapping
 * keeps the open file, and so the endpoint.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "fe.h"

/* ---- layout ------------------------------------------------------------------ */

enum { RING_ALIGNMENT = 128, SLOTS_MIN = 4, SLOTS_MAX = 65536, CHANNELS_MAX = 65535 };

static u64 ring_bytes(u32 slots)
{
	return ALIGN(sizeof(struct unet_ring_shared) + (u64)slots * sizeof(struct unet_desc),
		     RING_ALIGNMENT);
}

static bool slots_ok(u32 slots)
{
	return slots >= SLOTS_MIN && slots <= SLOTS_MAX && (slots & (slots - 1)) == 0;
}

static bool sizes_ok(const struct unet_fe_create *c)
{
	return slots_ok(c->send_slots) && slots_ok(c->recv_slots) && slots_ok(c->free_slots) &&
	       c->channels >= 1 && c->channels <= CHANNELS_MAX && c->segment_bytes > 0 &&
	       c->segment_bytes % PAGE_SIZE == 0;
}

/* With these bounds no sum comes near 2^64. */
int fe_area_layout(const struct unet_fe_create *c, struct fe_area *area)
{
	if (!sizes_ok(c))
		return -EINVAL;
	*area = (struct fe_area){
		.send = ALIGN(sizeof(struct unet_fe_shared) + c->channels + 1, RING_ALIGNMENT),
		.receive_stride = ring_bytes(c->recv_slots),
	};
	area->errors = area->send + ring_bytes(c->send_slots);
	area->free = area->errors + ring_bytes(c->send_slots);
	area->receive = area->free + ring_bytes(c->free_slots);
	area->segment = PAGE_ALIGN(area->receive + c->channels * area->receive_stride);
	area->bytes = area->segment + c->segment_bytes;
	area->pages = area->bytes >> PAGE_SHIFT;
	return area->bytes <= fe_max_bytes() ? 0 : -EDQUOT;
}

/* ---- locked memory -------------------------------------------------------------- */

int fe_charge(struct fe_endpoint *ep, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	atomic_long_t *locked = &ep->account->locked_vm;

	if (atomic_long_add_return(pages, locked) > limit && !capable(CAP_IPC_LOCK)) {
		atomic_long_sub(pages, locked);
		return -ENOBUFS;
	}
	return 0;
}

void fe_uncharge(struct fe_endpoint *ep, unsigned long pages)
{
	atomic_long_sub(pages, &ep->account->locked_vm);
}

static int charge(struct fe_endpoint *ep, unsigned long pages)
{
	int error;

	ep->account = get_uid(current_user());
	error = fe_charge(ep, pages);
	if (error) {
		free_uid(ep->account);
		ep->account = NULL;
	}
	return error;
}

static void uncharge(struct fe_endpoint *ep, unsigned long pages)
{
	fe_uncharge(ep, pages);
	free_uid(ep->account);
	ep->account = NULL;
}

/* ---- pages ------------------------------------------------------------------------ */

static void free_pages_of(struct fe_area *area)
{
	unsigned long i;

	for (i = 0; i < area->pages && area->page[i]; i++)
		put_page(area->page[i]);
	kvfree(area->page);
	area->page = NULL;
}

static int alloc_pages_of(struct fe_area *area)
{
	unsigned long i;

	area->page = kvcalloc(area->pages, sizeof(*area->page), GFP_KERNEL_ACCOUNT);
	if (!area->page)
		return -ENOMEM;
	for (i = 0; i < area->pages; i++) {
		area->page[i] =
			alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN);
		if (!area->page[i])
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

int fe_area_alloc(struct fe_endpoint *ep, struct fe_area *area)
{
	int error = charge(ep, area->pages);

	if (error)
		return error;
	error = alloc_pages_of(area);
	if (error == 0) {
		area->base = vmap(area->page, area->pages, VM_MAP, PAGE_KERNEL);
		if (area->base)
			return 0;
		error = -ENOMEM;
	}
	if (area->page)
		free_pages_of(area);
	uncharge(ep, area->pages);
	return error;
}

void fe_area_free(struct fe_endpoint *ep)
{
	if (!ep->area.page)
		return;
	vunmap(ep->area.base);
	free_pages_of(&ep->area);
	uncharge(ep, ep->area.pages);
}

/* ---- mapping ----------------------------------------------------------------------- */

/* Also for what the user threw away, by madvise for example. */
static vm_fault_t fault(struct vm_fault *vmf)
{
	const struct fe_endpoint *ep = vmf->vma->vm_private_data;

	if (vmf->pgoff >= ep->area.pages)
		return VM_FAULT_SIGBUS;
	vmf->page = ep->area.page[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct operations = { .fault = fault };

int fe_area_map(struct fe_endpoint *ep, struct vm_area_struct *vma)
{
	if (!smp_load_acquire(&ep->created)) /* pairs with fe_endpoint_create */
		return -ENOTCONN;
	if (!(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	if (vma->vm_pgoff >= ep->area.pages || vma_pages(vma) > ep->area.pages - vma->vm_pgoff)
		return -ENXIO;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	vma->vm_private_data = ep;
	vma->vm_ops = &operations;
	return 0;
}
