/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier.h - what brings the words and bytes of a segment to the other end.
 *
 * Two ends on one machine share the segment, and nothing has to be brought.  Between hosts each end
 * has a segment of its own, and a carrier (net/link.h) plays the other end in it: it sends what
 * this end writes in its halves of the directions, and writes what the other end has written there.
 * The state machine is the same.  What a network changes is that a word of the other end's is an
 * old one, and that TCP may be faster than the carrier; so
 *
 * - before bytes follow by TCP what was in the ring, the other end must have seen that the ring was
 *   entered (`seen`): then it takes nothing from TCP that it has not been told of;
 * - a byte in TCP that a receiver in the ring cannot account for is left alone until the carrier
 *   has told whether it is a bell or the next phase's;
 * - the end of a stream is told once all that was in the ring has arrived;
 * - bells may be on their way to one that closes, who takes them before the kernel has to judge;
 * - a ring is left without data for TCP only when its reader has read it, or had a bell when all of
 *   it had arrived: a reader that falls asleep is known late.
 */
#ifndef SOCKETS_CARRIER_H
#define SOCKETS_CARRIER_H

#include "stream/stream.h"
#include <time.h>

struct sockets_carrier_ops {
    /* Write down what the other end has told.  May do what a sender does when its receiver sleeps,
     * or recalls.  Never blocks. */
    void (*look)(struct sockets_stream *s);

    /* The same, but while both directions are with TCP only now and then. */
    void (*glance)(struct sockets_stream *s);

    /* Tell the other end what this one has written. */
    void (*publish)(struct sockets_stream *s);

    /* Something was taken: tell it if the sender waits for that. */
    void (*taken)(struct sockets_stream *s);

    /* Somebody looks at memory for a while: a sender that is with TCP may enter the ring.  And
     * somebody is about to sleep for the stream; and nobody sleeps any more. */
    void (*spins)(struct sockets_stream *s);
    void (*sleeps)(struct sockets_stream *s);
    void (*wakes)(struct sockets_stream *s);

    /* This end leaves all waiting to the kernel's recv until somebody spins again.  Whether the
     * other end knows so, and enters no ring meanwhile; tells it if not.  With the receiver's gate.
     */
    bool (*rests)(struct sockets_stream *s);

    /* Whether the other end has seen that phase of what this one sends.  -EPIPE: it never will. */
    int (*seen)(struct sockets_stream *s, uint32_t phase);

    /* Sleep until the other end has seen that phase, or never will, or somebody disturbs; or for
     * `limit`, if that is not NULL.  0, -EAGAIN or -EINTR. */
    int (*await_seen)(struct sockets_stream *s, uint32_t phase, const struct timespec *limit);

    void (*disturb)(struct sockets_stream *s);

    /* Whether the other end, of which this one has recalled the ring, gives back what was not read:
     * 1; 0: it had left the ring before it heard of that; -EAGAIN: not known yet; -EPIPE: never. */
    int (*given_back)(struct sockets_stream *s);

    /* The stream is no more. */
    void (*close)(struct sockets_carrier *carrier);
};

struct sockets_carrier {
    const struct sockets_carrier_ops *ops;
    _Atomic uint32_t lost; /* nothing comes any more */
    /* Bytes of the ring that the other end has.  What is told with that is written before it. */
    _Atomic uint64_t arrived;
    _Atomic uint32_t rests; /* the other end takes what TCP brings, and looks at no ring */
    /* While it waits it looks at memory, and has not slept since.  To one that sleeps a ring is no
     * use: the message wakes the other host's thread, which says so, and is answered by a bell. */
    _Atomic uint32_t looks;
    /* So does this one, for connections as a whole, and the other end knows: all is TCP's.  Until
     * that ends; who sleeps is armed, so that the other end enters no ring before somebody wakes.
     */
    _Atomic uint32_t resting;
};

static inline void sockets_carrier_look(const struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0))
        s->carrier->ops->look((struct sockets_stream *)s);
}

static inline bool sockets_carrier_is_resting(const struct sockets_stream *s)
{
    return s->carrier && atomic_load_explicit(&s->carrier->resting, memory_order_acquire);
}

static inline void sockets_carrier_glance(const struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0) && !sockets_carrier_is_resting(s))
        s->carrier->ops->glance((struct sockets_stream *)s);
}

static inline void sockets_carrier_publish(struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0))
        s->carrier->ops->publish(s);
}

static inline void sockets_carrier_taken(struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0))
        s->carrier->ops->taken(s);
}

static inline void sockets_carrier_spins(struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0))
        s->carrier->ops->spins(s);
}

static inline void sockets_carrier_sleeps(struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0))
        s->carrier->ops->sleeps(s);
}

static inline void sockets_carrier_wakes(struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0))
        s->carrier->ops->wakes(s);
}

/* 1, 0, or -EPIPE; the last phase in which the ring was used is seen at least. */
static inline int sockets_carrier_seen(struct sockets_stream *s, uint32_t phase)
{
    return s->carrier ? s->carrier->ops->seen(s, phase) : 1;
}

#endif
