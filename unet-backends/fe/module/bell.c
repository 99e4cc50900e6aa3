// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Waking who sleeps.
 *
 * The endpoint's file is its doorbell.  Who is about to sleep sets `armed` and looks for messages;
 * we publish a message and look at `armed`.  Rung, the file is readable until it is read.
 */
#include <linux/poll.h>

#include "fe.h"

void fe_ring_bell(struct fe_endpoint *ep)
{
	WRITE_ONCE(ep->rung, 1);
	wake_up_interruptible_poll(&ep->wait, EPOLLIN | EPOLLRDNORM);
	kill_fasync(&ep->fasync, SIGIO, POLL_IN);
}

static bool almost_full(const struct fe_ring *ring)
{
	u32 used = ring->position - READ_ONCE(ring->shared->consumed);

	return used >= (ring->mask + 1) / 4 * 3;
}

/* Ring, then disarm, and only the arming that was seen: see unet_bell_ring. */
void fe_notify(struct fe_endpoint *ep, const struct fe_ring *ring)
{
	u32 *armed = &fe_shared(ep)->armed;
	u32 seen;

	smp_mb(); /* E, matches F in unet_bell_arm */
	seen = READ_ONCE(*armed);
	if (!seen || (ring && !(seen & UNET_NONEMPTY) && !almost_full(ring)))
		return;
	fe_count(ep, UNET_FE_WAKEUPS, 1);
	fe_ring_bell(ep);
	cmpxchg(armed, seen, 0);
}
