/* SPDX-License-Identifier: BSD-3-Clause
 *
 * segment.h - the memory that the two ends of a connection share: two rings.
 */
#ifndef SOCKETS_SEGMENT_H
#define SOCKETS_SEGMENT_H

#include "ring/ring.h"

enum {
    SOCKETS_SEGMENT_MAGIC = 0x756e6574,
    SOCKETS_SEGMENT_VERSION = 6,
    SOCKETS_RING_ROOM = 1 << SOCKETS_RING_LOG_MAX,
};

struct sockets_segment {
    uint32_t magic, version;
    _Atomic uint32_t accepted;          /* the accepting side has it, too */
    struct sockets_direction to_server; /* from the connecting to the accepting side */
    struct sockets_direction to_client;
    _Alignas(4096) char data[2][SOCKETS_RING_ROOM]; /* pages that nobody touches cost nothing */
};

/* A count of bytes that its side has not published yet: equal to no count that was. */
#define SOCKETS_UNKNOWN UINT64_MAX

/* Make a segment that can neither shrink nor grow, and map it.  Returns its descriptor, which the
 * caller closes, or -errno. */
int sockets_segment_make(struct sockets_segment **segment);

/* Map what a peer sent, if it is such a segment.  0 or -errno; the descriptor stays the caller's.
 */
int sockets_segment_map(int fd, struct sockets_segment **segment);

void sockets_segment_unmap(struct sockets_segment *segment);

#endif
