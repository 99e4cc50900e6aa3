/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slab.h - packets in memory, of which buffer.c keeps account.
 */
#ifndef RELIABLE_SLAB_H
#define RELIABLE_SLAB_H

#include "packet.h"
#include <stdbool.h>

enum {
    RELIABLE_SLAB_BYTES = 65536, /* a train of packets that the kernel cuts is hardly longer */
};

/* Memory that a connection's packets lie in one behind the other, so that a train of them goes to
 * the kernel in one piece.  Each has RELIABLE_HEADROOM bytes in front, and begins at a multiple of
 * 8. */
struct reliable_slab {
    struct reliable_slab *next; /* in the list of free slabs */
    uint32_t used;              /* bytes */
    uint32_t buffers;           /* that lie in it; when the last one is put back, it is free */
    uint8_t bytes[RELIABLE_SLAB_BYTES];
};

/* A packet in memory: to be sent, sent and not acknowledged, or received out of order. */
struct reliable_buffer {
    struct reliable_buffer *next; /* in the list of free buffers, or of those that wait in order */
    struct reliable_slab *slab;   /* in which it lies */
    union {
        struct reliable_packet *packet;
        uint8_t *bytes;
    };
    uint64_t sent_at;      /* when it was last sent */
    uint64_t transmission; /* the connection's count of transmissions at that time */
    uint32_t size;         /* bytes that it has in the slab, headroom not counted */
    uint32_t length;       /* of those, bytes used, header included */
    bool lost;             /* it has to be sent again */
    bool retransmitted;    /* it was, so its acknowledgement measures no round trip */
};

#endif
