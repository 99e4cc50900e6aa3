/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Where the time of sending and of receiving goes: make TIMING=y, for benchmarks.
 *
 * Each mark ends a section that began with the mark before it, on any processor: for one sender
 * and one receiver at a time.  /sys/module/unet_fe/parameters/timing has a line for each section:
 * name, times, cycles in all.  Writing to it begins anew.
 */
#ifndef UNET_FE_TIMING_H
#define UNET_FE_TIMING_H

enum fe_mark {
	FE_SEND_BEGINS,
	FE_SEND_READ,	 /* the mutex taken, the descriptor copied out */
	FE_SEND_CHECKED, /* channel and pieces */
	FE_SEND_FRAMED,	 /* the frame allocated, its header written */
	FE_SEND_FILLED,	 /* the message copied, or pointed at */
	FE_SEND_HANDED,	 /* the device's driver is back */
	FE_SEND_ENDS,	 /* counted, published, the mutex released */
	FE_RECEIVE_BEGINS,
	FE_RECEIVE_READ,   /* the header, and the endpoint of its port */
	FE_RECEIVE_FOUND,  /* the channel */
	FE_RECEIVE_PLACED, /* the message copied */
	FE_RECEIVE_PUBLISHED,
	FE_RECEIVE_RUNG, /* the doorbell, if somebody sleeps */
	FE_RECEIVE_ENDS, /* the frame freed */
	FE_MARKS
};

#ifdef UNET_FE_TIMING
void fe_mark(enum fe_mark mark);
#else
static inline void fe_mark(enum fe_mark mark)
{
}
#endif

#endif
