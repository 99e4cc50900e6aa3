/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ring.h - a byte stream in memory that two processes share, one of which writes and one reads.
 *
 * Nothing that the other process can write is trusted.  Each end keeps its own index where the
 * other one cannot reach it, takes from shared memory only the index of the other end, reads that
 * once per turn, and checks it; addresses are computed with masks of its own.  A peer that breaks
 * the rules spoils its own stream and is reported (-EPROTO).
 */
#ifndef SOCKETS_RING_H
#define SOCKETS_RING_H

#include "ring/copy.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
    SOCKETS_RING_LOG_MIN = 16, /* 64 KiB */
    SOCKETS_RING_LOG_MAX = 20, /* 1 MiB: what a segment has room for in each direction */
};

/* One direction of a connection, as both processes see it.  Each half has one writer; they are two
 * cache lines apart because processors fetch lines in pairs. */
struct sockets_direction {
    /* The sender's half. */
    _Alignas(128) _Atomic uint64_t tail; /* bytes ever written into the ring */
    _Atomic uint64_t base;               /* the byte that lies at the ring's first address */
    _Atomic uint64_t sent;               /* bytes of the stream ever given to TCP */
    _Atomic uint32_t log;                /* of the ring's size */
    _Atomic uint32_t phase;              /* odd: what follows is in the ring; even: in TCP */
    _Atomic uint32_t bells;              /* doorbell bytes ever given to TCP */
    _Atomic uint32_t fin;                /* the sender has shut down or closed */
    _Atomic uint64_t since;     /* when it began to be unread; of one that is ordered (order.c) */
    _Atomic uint64_t kernel_at; /* when the sender had last done something that the kernel tells */
    _Atomic uint64_t other_at;  /* the same of files that are no connections with rings */
    _Atomic uint32_t sending;   /* threads that just give something to TCP */
    _Atomic uint64_t woken_at;  /* when somebody who sleeps at the other end was last woken */
    /* The receiver's half. */
    _Alignas(128) _Atomic uint64_t head; /* bytes ever read from the ring */
    _Atomic uint64_t taken;              /* bytes of the stream ever taken from TCP */
    _Atomic uint64_t waiter;   /* who sleeps, and wakes for several connections at once; or 0 */
    _Atomic uint32_t armed;    /* how many may sleep in the kernel and want a bell */
    _Atomic uint32_t dozing;   /* who sleeps is to be woken without TCP (stream/doze.c) */
    _Atomic uint32_t belled;   /* a bell is on its way: no other is rung */
    _Atomic uint32_t lets;     /* how often the receiver has let the sender ring again */
    _Atomic uint32_t want_tcp; /* the receiver asks for TCP from now on, for good */
    _Atomic uint32_t gone;     /* the receiver has closed: nobody will read the ring */
    _Atomic uint32_t recall;   /* and reads the ring no more: what lies there shall come by TCP */
    _Atomic uint32_t gate;     /* who may change what TCP means (stream.h) */
    _Atomic uint32_t ordered;  /* which of several connections has data first is of interest */
    _Atomic uint32_t core;     /* on which the receiver is going to sleep, from 1; 0: any */
};

/* What the writer keeps to itself. */
struct sockets_writer {
    uint64_t tail;
    uint64_t base;
    uint32_t log;
    uint32_t full;   /* how often the ring was full since it grew */
    uint32_t unread; /* bytes that the reader had not taken when last looked */
    struct sockets_copier copier;
};

/* A position in the buffers of a call. */
struct sockets_cursor {
    const struct iovec *iov;
    size_t count;
    size_t offset; /* in *iov */
};

enum sockets_take { SOCKETS_TAKE, SOCKETS_PEEK, SOCKETS_DISCARD };

/* Set up the writer of an empty ring. */
void sockets_ring_init(struct sockets_direction *dir, struct sockets_writer *w);

/* Bytes that can be read, or -EPROTO if the writer claims more than fits.  Never blocks. */
ssize_t sockets_ring_unread(const struct sockets_direction *dir, uint64_t head);

/* Bytes that the reader has not yet taken, or -EPROTO if it claims to have read what was never
 * written.  Never blocks. */
ssize_t sockets_ring_unsent(const struct sockets_direction *dir, const struct sockets_writer *w);

/* Copy as much as fits, and publish it.  Returns the bytes (0: full) and advances the cursor, or
 * -EPROTO.  An empty ring grows here up to 2^log_max if it was often full.  Never blocks. */
ssize_t sockets_ring_write(struct sockets_direction *dir, struct sockets_writer *w, char *data,
                           struct sockets_cursor *cursor, uint32_t log_max);

/* The free bytes that lie in one piece behind the tail, for a caller that fills them itself and
 * then calls sockets_ring_commit with how many it has filled.  0: full; -EPROTO. */
ssize_t sockets_ring_reserve(struct sockets_direction *dir, struct sockets_writer *w, char *data,
                             uint32_t log_max, char **piece);
void sockets_ring_commit(struct sockets_direction *dir, struct sockets_writer *w, size_t bytes);

/* The bytes of the ring from `from` to `to`, which were written and not overwritten, as far as they
 * lie in one piece. */
size_t sockets_ring_written(const struct sockets_writer *w, const char *data, uint64_t from,
                            uint64_t to, const char **piece);

/* Copy what is there as far as the buffers reach, and take it unless `how` is SOCKETS_PEEK;
 * SOCKETS_DISCARD takes without copying.  Returns the bytes (0: empty), or -EPROTO.  Never blocks.
 */
ssize_t sockets_ring_read(struct sockets_direction *dir, uint64_t *head, const char *data,
                          struct sockets_cursor *cursor, enum sockets_take how);

/* Bytes left from the cursor on. */
size_t sockets_cursor_left(const struct sockets_cursor *cursor);

/* Move the cursor; `bytes` are at most what is left. */
void sockets_cursor_advance(struct sockets_cursor *cursor, size_t bytes);

#endif
