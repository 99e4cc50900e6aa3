/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The parts of unet_fe.
 *
 *   main.c       module parameters, loading, unloading
 *   file.c       /dev/unet: its ioctls, mmap, poll, read and write
 *   interface.c  the network interfaces in use, and what happens to them
 *   endpoint.c   making and ending endpoints
 *   memory.c     the area that an endpoint shares with its user
 *   user.c       what one user may have
 *   pin.c        ranges of the user's address space, and which of their pages are pinned
 *   grant.c      who may write where in ranges
 *   channel.c    opening and closing channels, and noticing that a peer is gone
 *   send.c       the trap: the send queue into frames
 *   frame.c      frames on their way out
 *   receive.c    frames into the receive rings
 *   bell.c       waking who sleeps
 *   sysfs.c      counters
 *   timing.c     where the time goes, if built for that
 *
 * Locks, in the order in which they may be taken:
 *
 *   rtnl              the list of interfaces, and which endpoints an interface has
 *   endpoint->mutex   ioctls of one endpoint, one at a time; its interface
 *   endpoint->rx_lock (bottom halves off) channels and their states, receive rings, free queue
 *   endpoint->tx_lock (interrupts off) what of the send queue is done
 *
 * mmap takes none of them, for it holds the address space's lock, and an ioctl may fault.
 *
 * Memory that the user can write is read once, by fe_copy_desc or READ_ONCE, and what was read is
 * checked before it is used.
 */
#ifndef UNET_FE_INTERNAL_H
#define UNET_FE_INTERNAL_H

#include <linux/fs.h>
#include <linux/if_ether.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <unet/unet_fe.h>
#include <unet/unet_frame.h>

#include "compat.h"
#include "ring.h"
#include "timing.h"

struct fe_endpoint;

/* One channel.  `mac`, `port` and the keys are written under the mutex and rx_lock, so
 * either suffices to read them; the rest is rx_lock's, but see fe_channel_sends.
 */
struct fe_channel {
	struct hlist_node by_key;
	struct fe_ring in; /* the receive ring */
	u64 key_in;
	u64 key_out;
	u32 life;
	u32 peer_life;
	u16 port;
	u8 mac[ETH_ALEN];
	u8 state; /* enum unet_channel_state */
};

/* A range of the user's address space.  Pages come and go under the mutex, and go under rx_lock,
 * too; so either suffices to look at one.
 */
struct fe_range {
	u64 bytes; /* 0: none of that number; rx_lock and mutex to write */
	u64 address;
	struct mmu_interval_notifier mapping; /* tells of changes; its mm is the exporter's */
	struct xarray pages; /* those that are pinned, by their number in the range */
	struct fe_endpoint *ep;
};

/* What the peer of a channel may write in; rx_lock. */
struct fe_grant {
	u64 key; /* 0: nobody */
	u64 place;
	u64 bytes;
	u32 channel;
};

/* A message that is sent from the user's pages, until the network is done with them. */
struct fe_slot {
	struct ubuf_info ubuf;
	struct fe_endpoint *ep;
};

/* The pages shared with the user, and where in them is what. */
struct fe_area {
	struct page **page;
	unsigned long pages;
	void *base;
	u64 send;
	u64 errors;
	u64 free;
	u64 receive;
	u64 receive_stride;
	u64 segment;
	u64 bytes;
};

struct fe_interface {
	struct list_head list;
	struct net_device *dev;
	netdevice_tracker tracker;
	struct packet_type receive;
	struct xarray ports; /* endpoints */
	u32 next_port;
	struct ratelimit_state gone_limit;
	struct kobject kobj;	       /* counts the references */
	u64 retired[UNET_FE_COUNTERS]; /* of endpoints that are no more; rtnl */
	atomic_long_t strange;	       /* frames for ports that nobody has */
	atomic_long_t malformed;       /* frames that no endpoint can be told of */
};

/* What one user has. */
struct fe_user {
	struct list_head list;
	kuid_t uid;
	unsigned int references;
	unsigned int endpoints;
	unsigned int channels;
};

struct fe_endpoint {
	struct mutex mutex;
	struct fe_interface *iface; /* NULL once it is gone; rtnl and mutex to write */
	struct fe_area area;
	struct unet_fe_create config;
	unsigned long taken; /* bit 0: somebody creates, or has created, the endpoint */
	bool created;
	struct fe_user *user;
	struct user_struct *account; /* whose locked memory this is */
	unsigned long pinned;	     /* pages of ranges */
	atomic_t stale;		     /* see struct unet_fe_shared */

	spinlock_t rx_lock ____cacheline_aligned_in_smp;
	struct fe_channel *channel; /* by number, from 1 */
	struct hlist_head *by_key;
	unsigned int key_bits;
	struct fe_ring free;
	u32 changes;
	struct fe_range range[UNET_RANGES_MAX + 1]; /* by number, from 1 */
	struct fe_grant *grant;			    /* by the low bits of its key */
	DECLARE_BITMAP(granted, UNET_GRANTS_MAX);

	struct fe_ring tx ____cacheline_aligned_in_smp;
	struct fe_ring errors;
	struct fe_slot *slot; /* by position in tx */
	spinlock_t tx_lock;
	unsigned long *busy; /* slots on their way */
	u32 done;	     /* tx positions below are neither queued nor on their way */

	u32 rung;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	u64 counter[UNET_FE_COUNTERS]; /* see fe_count */

	struct kref ref;
	struct rcu_work free_work;
	struct kobject kobj;
};

/* ---- main.c ---------------------------------------------------------------- */

extern unsigned int fe_copybreak;
extern unsigned int fe_ethertype;
extern struct workqueue_struct *fe_workqueue;
extern struct kobject *fe_interfaces_kobj;

bool fe_interface_allowed(const char *name);
int fe_check_port(u16 port);
void fe_user_ports(struct xa_limit *limit);
unsigned int fe_max_endpoints(void);
unsigned int fe_max_channels(void);
u64 fe_max_bytes(void);

/* ---- file.c ---------------------------------------------------------------- */

extern const struct file_operations fe_file_operations;

/* ---- user.c ---------------------------------------------------------------- */

/* The caller's, counted. */
struct fe_user *fe_user_get(void);
void fe_user_put(struct fe_user *user);

/* Take one more endpoint, or channel: 0 or -EDQUOT. */
int fe_user_add_endpoint(struct fe_user *user);
void fe_user_remove_endpoint(struct fe_user *user);
int fe_user_add_channel(struct fe_user *user);
void fe_user_remove_channels(struct fe_user *user, unsigned int count);

/* ---- memory.c -------------------------------------------------------------- */

/* Count pages as locked memory of the endpoint's user: 0 or -ENOBUFS. */
int fe_charge(struct fe_endpoint *ep, unsigned long pages);
void fe_uncharge(struct fe_endpoint *ep, unsigned long pages);

int fe_area_layout(const struct unet_fe_create *config, struct fe_area *area);
int fe_area_alloc(struct fe_endpoint *ep, struct fe_area *area);
void fe_area_free(struct fe_endpoint *ep);
int fe_area_map(struct fe_endpoint *ep, struct vm_area_struct *vma);

static inline struct unet_fe_shared *fe_shared(const struct fe_endpoint *ep)
{
	return ep->area.base;
}

static inline u8 *fe_segment(const struct fe_endpoint *ep, u32 offset)
{
	return (u8 *)ep->area.base + ep->area.segment + offset;
}

static inline bool fe_in_segment(const struct fe_endpoint *ep, u32 offset, u32 length)
{
	return offset <= ep->config.segment_bytes && length <= ep->config.segment_bytes - offset;
}

/* ---- endpoint.c ------------------------------------------------------------ */

struct fe_endpoint *fe_endpoint_alloc(void);
int fe_endpoint_create(struct fe_endpoint *ep, struct unet_fe_create *config);
void fe_endpoint_release(struct fe_endpoint *ep);
void fe_endpoint_put(struct fe_endpoint *ep);

/* The user's page shows it, too.  Who sends counts under the mutex, what arrives is counted under
 * rx_lock, and no counter is of both kinds.
 */
static inline void fe_count(struct fe_endpoint *ep, enum unet_fe_counter counter, u64 n)
{
	WRITE_ONCE(ep->counter[counter], ep->counter[counter] + n);
	WRITE_ONCE(fe_shared(ep)->counter[counter], ep->counter[counter]);
}

/* ---- interface.c ----------------------------------------------------------- */

/* Under rtnl.  Take a port of the interface (0: any) for the endpoint. */
int fe_interface_join(struct fe_endpoint *ep, const char *name, u16 port);
void fe_interface_leave(struct fe_endpoint *ep);
int fe_interfaces_init(void);
void fe_interfaces_exit(void);

/* ---- pin.c ----------------------------------------------------------------- */

void fe_ranges_init(struct fe_endpoint *ep);
void fe_ranges_free(struct fe_endpoint *ep);

/* Under the mutex. */
int fe_export(struct fe_endpoint *ep, struct unet_fe_export *request);
int fe_unexport(struct fe_endpoint *ep, unsigned long range);
int fe_pin(struct fe_endpoint *ep, const struct unet_fe_pin *request);
int fe_unpin(struct fe_endpoint *ep, const struct unet_fe_pin *request);

/* Whether it is part of a range; also under rx_lock. */
bool fe_in_range(const struct fe_endpoint *ep, u64 place, u64 length);

/* Whether it is, and all of its pages are pinned. */
bool fe_is_pinned(struct fe_endpoint *ep, u64 place, u32 length);

/* A pinned page of a place that was checked, under the same lock. */
static inline struct page *fe_page_at(struct fe_endpoint *ep, u64 place)
{
	struct fe_range *range = &ep->range[place >> 48];

	return xa_load(&range->pages, (place & UNET_PLACE_OFFSET) >> PAGE_SHIFT);
}

/* ---- grant.c --------------------------------------------------------------- */

/* Under the mutex. */
int fe_grant(struct fe_endpoint *ep, struct unet_fe_grant *request);
int fe_revoke(struct fe_endpoint *ep, u64 key);

/* The next three under rx_lock. */
bool fe_is_granted(const struct fe_endpoint *ep, u32 channel, u64 key, u64 place, u32 length);
void fe_revoke_channel(struct fe_endpoint *ep, u32 channel);
void fe_revoke_range(struct fe_endpoint *ep, u64 range);

/* ---- channel.c ------------------------------------------------------------- */

int fe_channel_connect(struct fe_endpoint *ep, struct unet_fe_connect *request);
int fe_channel_disconnect(struct fe_endpoint *ep, unsigned long channel);
int fe_channel_tell(struct fe_endpoint *ep, unsigned long channel);
/* Tell all peers that we are going. */
void fe_channels_close(struct fe_endpoint *ep);
/* The interface is gone. */
void fe_channels_die(struct fe_endpoint *ep);

/* The next two under rx_lock.  The channel of these frames, or NULL. */
struct fe_channel *fe_channel_find(struct fe_endpoint *ep, const u8 *mac, u16 port, u64 key);
void fe_channel_set_state(struct fe_endpoint *ep, struct fe_channel *ch, u8 state);

static inline u16 fe_channel_number(const struct fe_endpoint *ep, const struct fe_channel *ch)
{
	return ch - ep->channel;
}

static inline bool fe_is_channel(const struct fe_endpoint *ep, unsigned long n)
{
	return n >= 1 && n <= ep->config.channels;
}

/* ---- send.c ---------------------------------------------------------------- */

int fe_send(struct fe_endpoint *ep);

/* ---- frame.c --------------------------------------------------------------- */

/* Where a frame goes, and its header. */
struct fe_frame {
	u64 place; /* of UNET_FRAME_DIRECT, and the next */
	u64 grant;
	u8 kind;
	u16 length;
	u16 to_port;
	u16 from_port;
	u64 key;
	u32 life;
	u32 user;
	u8 mac[ETH_ALEN];
};

/* A frame with room for `room` more bytes behind its header, which say nothing yet. */
struct sk_buff *fe_frame_alloc(struct net_device *dev, const struct fe_frame *frame,
			       unsigned int room, gfp_t gfp);

/* True if the peer is an endpoint of the same interface. */
bool fe_frame_is_local(const struct net_device *dev, const u8 *mac);

/* Send a frame without a message. */
void fe_frame_tell(struct net_device *dev, const struct fe_frame *frame, gfp_t gfp);

/* Pad, hand over, and whatever comes of it the frame is gone: 0, -EAGAIN the device has no room for
 * it now, -ENETDOWN it is lost.
 */
int fe_frame_send(struct net_device *dev, struct sk_buff *skb, u16 queue, bool local);

/* ---- receive.c ------------------------------------------------------------- */

int fe_receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
	       struct net_device *original);

/* ---- bell.c ---------------------------------------------------------------- */

/* A message came into the ring, or (NULL) something that every sleeper waits for. */
void fe_notify(struct fe_endpoint *ep, const struct fe_ring *ring);
void fe_ring_bell(struct fe_endpoint *ep);

/* ---- sysfs.c --------------------------------------------------------------- */

enum { FE_INTERFACE_NAME = IFNAMSIZ + sizeof("@4294967295") };

/* The name of an interface's folder. */
void fe_sysfs_name(const struct net_device *dev, char name[FE_INTERFACE_NAME]);
int fe_sysfs_add_interface(struct fe_interface *iface);
int fe_sysfs_add_endpoint(struct fe_endpoint *ep);
void fe_sysfs_remove(struct kobject *kobj);

#endif
