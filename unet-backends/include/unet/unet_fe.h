/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_fe.h - what user space and the kernel module unet_fe agree upon.
 *
 * Opening /dev/unet and UNET_FE_CREATE make an endpoint; the file is the endpoint.  mmap of it
 * gives one area: what the module tells (struct unet_fe_shared), the rings of unet_ring.h, the
 * segment.  The module is the network interface: producer of the receive rings and of the
 * completions, consumer of the send and free queues.  unet(4) has the errors.
 */
#ifndef UNET_FE_H
#define UNET_FE_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <unet/unet_abi.h>

#define UNET_FE_DEVICE "/dev/unet"
#define UNET_FE_VERSION 3u

/* Counters that the module keeps of an endpoint; sysfs has the same. */
enum unet_fe_counter {
    UNET_FE_SENT,            /* messages handed to the network */
    UNET_FE_SENT_BYTES,      /* of message */
    UNET_FE_RECEIVED,        /* messages put into receive rings */
    UNET_FE_RECEIVED_BYTES,  /* of message */
    UNET_FE_LOST,            /* messages that the interface did not take: down, or no cable */
    UNET_FE_FOREIGN,         /* frames dropped: no such channel, not its peer, or an old one */
    UNET_FE_EARLY,           /* openings told by peers before the channel was opened here */
    UNET_FE_MALFORMED,       /* frames dropped: they contradict themselves */
    UNET_FE_OVERRUNS,        /* frames dropped: no slot in their ring, or no buffer */
    UNET_FE_BAD_BUFFERS,     /* entries of the free queue that lie outside the segment */
    UNET_FE_BAD_DESCRIPTORS, /* sends refused */
    UNET_FE_ERRORS_LOST,     /* of those, completions that found no slot */
    UNET_FE_DIRECT,          /* of the received ones, those placed by direct access */
    UNET_FE_REFUSED,         /* direct frames dropped: no grant of that channel's covers them */
    UNET_FE_UNPINNED,        /* direct frames dropped: for pages that are not pinned */
    UNET_FE_WAKEUPS,         /* times a sleeper was woken */
    UNET_FE_COUNTERS
};

/* At the start of the area.  The module writes all of it but `armed`, and reads none of it
 * but `armed`. */
struct unet_fe_shared {
    __u32 armed __attribute__((aligned(128))); /* see unet_bell_arm */
    __u32 pad[31];
    __u64 counter[UNET_FE_COUNTERS];
    __u32 changes; /* of states, so far */
    __u32 stale;   /* times that pinned pages were no longer mapped as they had been */
    __u8 state[];  /* enum unet_channel_state by channel */
};

/* UNET_FE_CREATE.  Sizes are those of struct unet_config, none of them 0. */
struct unet_fe_create {
    /* in */
    __u32 version; /* UNET_FE_VERSION */
    __u32 segment_bytes;
    __u32 send_slots;
    __u32 recv_slots;
    __u32 free_slots;
    __u32 channels;
    char interface[16]; /* "eth0" */
    __u16 port;         /* in and out; 0: any that is free */
    /* out */
    __u8 mac[6];
    __u32 packet_bytes; /* the longest message */
    __u32 pad;
    __u64 area_bytes; /* for mmap at offset 0; the rest are offsets in the area */
    __u64 send;
    __u64 errors; /* completions, send_slots many */
    __u64 free;
    __u64 receive;        /* the ring of channel 1 */
    __u64 receive_stride; /* from one to the next */
    __u64 segment;
};

/* UNET_FE_CONNECT.  The keys name the directions of the channel: who knows them may use it. */
struct unet_fe_connect {
    __u8 mac[6]; /* the peer's */
    __u16 port;
    __u64 key_in;  /* what the peer's frames have to say */
    __u64 key_out; /* what ours say */
    __u32 life;    /* a random number for this opening, not 0 */
    __u32 channel; /* out: its number, from 1 */
};

/* UNET_FE_EXPORT.  Nothing of the range is pinned by that. */
struct unet_fe_export {
    __u64 address; /* whole pages */
    __u64 bytes;
    __u32 range; /* out: its number, from 1 */
    __u32 pad;
};

/* UNET_FE_PIN and UNET_FE_UNPIN.  All or none of the pages are pinned; none may be already.  Those
 * that are not are no obstacle to unpinning the others. */
struct unet_fe_pin {
    __u32 range;
    __u32 pages; /* up to UNET_FE_PIN_MAX */
    __u64 first; /* of the range's pages */
};

#define UNET_FE_PIN_MAX 64u

/* UNET_FE_GRANT.  The peer of a channel may write in part of a range, until UNET_FE_REVOKE takes
 * the key, or channel or range end. */
struct unet_fe_grant {
    __u32 channel;
    __u32 pad;
    __u64 place; /* UNET_PLACE */
    __u64 bytes;
    __u64 key; /* out: not 0, and not to be guessed */
};

#define UNET_FE_IOC 0xb5
#define UNET_FE_CREATE _IOWR(UNET_FE_IOC, 1, struct unet_fe_create)
#define UNET_FE_CONNECT _IOWR(UNET_FE_IOC, 2, struct unet_fe_connect)
/* The argument of the next two is the channel's number. */
#define UNET_FE_DISCONNECT _IO(UNET_FE_IOC, 3)
/* Tell the peer that we have opened the channel, or ask whether it still has. */
#define UNET_FE_TELL _IO(UNET_FE_IOC, 4)
/* The trap: service the send queue.  Returns the number of descriptors taken. */
#define UNET_FE_SEND _IO(UNET_FE_IOC, 5)
#define UNET_FE_EXPORT _IOWR(UNET_FE_IOC, 6, struct unet_fe_export)
/* The argument is the range's number. */
#define UNET_FE_UNEXPORT _IO(UNET_FE_IOC, 7)
#define UNET_FE_PIN _IOW(UNET_FE_IOC, 8, struct unet_fe_pin)
#define UNET_FE_UNPIN _IOW(UNET_FE_IOC, 9, struct unet_fe_pin)
#define UNET_FE_GRANT _IOWR(UNET_FE_IOC, 10, struct unet_fe_grant)
#define UNET_FE_REVOKE _IOW(UNET_FE_IOC, 11, __u64)

UNET_ABI_ASSERT(__builtin_offsetof(struct unet_fe_shared, counter) == 128);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_fe_shared, state) == 128 + 8 * UNET_FE_COUNTERS + 8);
UNET_ABI_ASSERT(sizeof(struct unet_fe_create) == 112);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_fe_create, port) == 40);
UNET_ABI_ASSERT(__builtin_offsetof(struct unet_fe_create, area_bytes) == 56);
UNET_ABI_ASSERT(sizeof(struct unet_fe_connect) == 32);
UNET_ABI_ASSERT(sizeof(struct unet_fe_export) == 24);
UNET_ABI_ASSERT(sizeof(struct unet_fe_pin) == 16);
UNET_ABI_ASSERT(sizeof(struct unet_fe_grant) == 32);

#endif
