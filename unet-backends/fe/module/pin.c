// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Ranges of the user's address space, and which of their pages are pinned.
 *
 * The user's library decides what is pinned; here is checked that it may be.  A page is pinned for
 * as long as it stands in its range's table, whatever becomes of its mapping: frames are placed in
 * the page that was there when it was pinned.  The library is told when it is not any more, so that
 * it does not take what it had pinned once for what is there now.
 *
 * The receive handler looks pages up under rx_lock, and a page leaves the table under it before it
 * is unpinned.  Who sends looks under the mutex.  A table's own lock is taken within rx_lock, so it
 * keeps bottom halves away as that does.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "fe.h"

static u64 pages_of(const struct fe_range *range)
{
	return range->bytes >> PAGE_SHIFT;
}

void fe_ranges_init(struct fe_endpoint *ep)
{
	unsigned int n;

	for (n = 0; n <= UNET_RANGES_MAX; n++) {
		xa_init_flags(&ep->range[n].pages, XA_FLAGS_LOCK_BH);
		ep->range[n].ep = ep;
	}
}

/* ---- mappings that change --------------------------------------------------------- */

static void tell_stale(struct fe_endpoint *ep)
{
	WRITE_ONCE(fe_shared(ep)->stale, atomic_inc_return(&ep->stale));
}

/* May not sleep: pages are only looked for.  Either a page that is being pinned is found in the
 * table, or fe_pin sees the sequence.
 */
static bool mapping_changes(struct mmu_interval_notifier *mapping,
			    const struct mmu_notifier_range *what, unsigned long sequence)
{
	struct fe_range *range = container_of(mapping, struct fe_range, mapping);
	unsigned long first = max(what->start, mapping->interval_tree.start);
	unsigned long last = min(what->end - 1, mapping->interval_tree.last);
	unsigned long number = (first - range->address) >> PAGE_SHIFT;

	mmu_interval_set_seq(mapping, sequence);
	smp_mb(); /* pairs with pin_pages */
	if (xa_find(&range->pages, &number, (last - range->address) >> PAGE_SHIFT, XA_PRESENT))
		tell_stale(range->ep);
	return true;
}

static const struct mmu_interval_notifier_ops mapping_ops = { .invalidate = mapping_changes };

/* ---- unpinning ------------------------------------------------------------------ */

/* The page is in no table any more, or never was. */
static void let_go(struct fe_endpoint *ep, struct page *page)
{
	unpin_user_pages_dirty_lock(&page, 1, true);
	ep->pinned--;
	fe_uncharge(ep, 1);
}

static void unpin(struct fe_endpoint *ep, struct fe_range *range, u64 first, u64 last)
{
	unsigned long number;
	struct page *page;

	xa_for_each_range(&range->pages, number, page, first, last) {
		spin_lock_bh(&ep->rx_lock);
		xa_erase(&range->pages, number);
		spin_unlock_bh(&ep->rx_lock);
		let_go(ep, page);
		cond_resched();
	}
}

static void end_range(struct fe_endpoint *ep, struct fe_range *range)
{
	spin_lock_bh(&ep->rx_lock);
	range->bytes = 0;
	fe_revoke_range(ep, range - ep->range);
	spin_unlock_bh(&ep->rx_lock);
	mmu_interval_notifier_remove(&range->mapping);
	unpin(ep, range, 0, ULONG_MAX);
	xa_destroy(&range->pages);
}

/* Nobody else looks at the endpoint any more. */
void fe_ranges_free(struct fe_endpoint *ep)
{
	unsigned int n;

	for (n = 1; n <= UNET_RANGES_MAX; n++) {
		if (ep->range[n].bytes)
			end_range(ep, &ep->range[n]);
	}
}

/* ---- ranges ----------------------------------------------------------------------- */

static bool is_range(const struct fe_endpoint *ep, u64 number)
{
	return number >= 1 && number <= UNET_RANGES_MAX && ep->range[number].bytes;
}

static struct fe_range *range_of(struct fe_endpoint *ep, u64 number)
{
	return is_range(ep, number) ? &ep->range[number] : NULL;
}

/* Neither is cut off where a long has 32 bits. */
static bool is_addressable(u64 address, u64 bytes)
{
	return bytes > 0 && bytes <= UNET_PLACE_OFFSET && PAGE_ALIGNED(bytes | address) &&
	       (unsigned long)bytes == bytes && (unsigned long)address == address &&
	       access_ok((void __user *)(unsigned long)address, bytes);
}

int fe_export(struct fe_endpoint *ep, struct unet_fe_export *request)
{
	struct fe_range *range;
	unsigned int n;
	int error;

	if (!is_addressable(request->address, request->bytes))
		return -EINVAL;
	for (n = 1; n <= UNET_RANGES_MAX && ep->range[n].bytes; n++)
		;
	if (n > UNET_RANGES_MAX)
		return -ENOSPC;
	range = &ep->range[n];
	range->address = request->address;
	error = mmu_interval_notifier_insert(&range->mapping, current->mm, request->address,
					     request->bytes, &mapping_ops);
	if (error)
		return error;
	spin_lock_bh(&ep->rx_lock);
	range->bytes = request->bytes;
	spin_unlock_bh(&ep->rx_lock);
	request->range = n;
	return 0;
}

int fe_unexport(struct fe_endpoint *ep, unsigned long number)
{
	struct fe_range *range = range_of(ep, number);

	if (!range)
		return -EINVAL;
	end_range(ep, range);
	return 0;
}

/* ---- pinning ------------------------------------------------------------------------ */

static int check_request(struct fe_endpoint *ep, const struct unet_fe_pin *request,
			 struct fe_range **range)
{
	*range = range_of(ep, request->range);
	if (!*range || request->pages == 0 || request->pages > UNET_FE_PIN_MAX ||
	    request->first >= pages_of(*range) ||
	    request->pages > pages_of(*range) - request->first)
		return -EINVAL;
	return (*range)->mapping.mm == current->mm ? 0 : -EPERM;
}

static int charge(struct fe_endpoint *ep, unsigned long pages)
{
	int error;

	if (ep->area.pages + ep->pinned + pages > fe_max_bytes() >> PAGE_SHIFT)
		return -EDQUOT;
	error = fe_charge(ep, pages);
	if (error == 0)
		ep->pinned += pages;
	return error;
}

/* Of a file, it might be written back while frames are placed in it. */
static bool may_be_placed_in(struct page *page)
{
	page = compound_head(page);
	return PageAnon(page) || PageSwapBacked(page) || PageHuge(page);
}

static int get_pages(const struct fe_range *range, const struct unet_fe_pin *request,
		     struct page **page)
{
	unsigned long address = range->address + (request->first << PAGE_SHIFT);
	int i, got, count = request->pages;
	int error = 0;

	got = pin_user_pages_fast(address, count, FOLL_WRITE | FOLL_LONGTERM, page);
	if (got < count)
		error = got < 0 ? got : -EFAULT;
	for (i = 0; i < got && error == 0; i++) {
		if (!may_be_placed_in(page[i]))
			error = -EOPNOTSUPP;
	}
	if (error && got > 0)
		unpin_user_pages(page, got);
	return error;
}

/* What finds no place in the table is let go, and so are those that had found one. */
static int enter(struct fe_endpoint *ep, struct fe_range *range, const struct unet_fe_pin *request,
		 struct page **page)
{
	u64 first = request->first;
	u32 entered, i;
	int error = 0;

	for (entered = 0; entered < request->pages; entered++) {
		error = xa_insert_bh(&range->pages, first + entered, page[entered],
				     GFP_KERNEL_ACCOUNT);
		if (error)
			break;
	}
	if (error) {
		unpin(ep, range, first, first + request->pages - 1);
		for (i = entered; i < request->pages; i++)
			let_go(ep, page[i]);
	}
	return error;
}

static bool any_is_pinned(struct fe_range *range, const struct unet_fe_pin *request)
{
	unsigned long number = request->first;

	return xa_find(&range->pages, &number, number + request->pages - 1, XA_PRESENT);
}

/* What was charged is given back if it fails. */
static int pin_pages(struct fe_endpoint *ep, struct fe_range *range,
		     const struct unet_fe_pin *request)
{
	struct page *page[UNET_FE_PIN_MAX];
	unsigned long sequence = mmu_interval_read_begin(&range->mapping);
	int error = get_pages(range, request, page);

	if (error) {
		ep->pinned -= request->pages;
		fe_uncharge(ep, request->pages);
		return error;
	}
	error = enter(ep, range, request, page);
	smp_mb(); /* pairs with mapping_changes */
	if (mmu_interval_read_retry(&range->mapping, sequence))
		tell_stale(ep);
	return error;
}

int fe_pin(struct fe_endpoint *ep, const struct unet_fe_pin *request)
{
	struct fe_range *range;
	int error = check_request(ep, request, &range);

	if (error)
		return error;
	if (any_is_pinned(range, request))
		return -EBUSY;
	error = charge(ep, request->pages);
	return error ? error : pin_pages(ep, range, request);
}

int fe_unpin(struct fe_endpoint *ep, const struct unet_fe_pin *request)
{
	struct fe_range *range;
	int error = check_request(ep, request, &range);

	if (error == 0)
		unpin(ep, range, request->first, request->first + request->pages - 1);
	return error;
}

/* ---- looking ------------------------------------------------------------------------ */

bool fe_in_range(const struct fe_endpoint *ep, u64 place, u64 length)
{
	u64 number = place >> 48, offset = place & UNET_PLACE_OFFSET;

	return is_range(ep, number) && length > 0 && offset < ep->range[number].bytes &&
	       length <= ep->range[number].bytes - offset;
}

bool fe_is_pinned(struct fe_endpoint *ep, u64 place, u32 length)
{
	u64 offset = place & UNET_PLACE_OFFSET;
	u64 number, last;

	if (!fe_in_range(ep, place, length))
		return false;
	last = (offset + length - 1) >> PAGE_SHIFT;
	for (number = offset >> PAGE_SHIFT; number <= last; number++) {
		if (!xa_load(&ep->range[place >> 48].pages, number))
			return false;
	}
	return true;
}
