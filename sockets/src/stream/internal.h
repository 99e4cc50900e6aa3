/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - what the files of the stream share.
 */
#ifndef SOCKETS_STREAM_INTERNAL_H
#define SOCKETS_STREAM_INTERNAL_H

#include "stream/stream.h"

static inline bool sockets_phase_is_ring(uint32_t phase)
{
    return phase & 1;
}

/* The gate of a direction: the receiver reads from TCP, or the sender enters the ring. */
enum { SOCKETS_GATE_OPEN, SOCKETS_GATE_SENDER, SOCKETS_GATE_RECEIVER };

/* Both want the lock of the direction. */
void sockets_stream_leave_ring(struct sockets_stream *s);
void sockets_stream_ring_bell(struct sockets_stream *s, int fd);

/* The peer has broken the rules: end the connection.  Returns -ECONNRESET. */
int sockets_stream_break(struct sockets_stream *s, int fd);

/* The ring of a stream that ends counts no longer. */
void sockets_stream_release_growth(struct sockets_stream *s);

/* Take bells that nobody needs away from TCP. */
void sockets_stream_drain(struct sockets_stream *s, int fd);

#endif
