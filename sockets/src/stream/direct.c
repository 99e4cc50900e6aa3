/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.c - a thread that takes what TCP brings while it sleeps in the kernel.
 *
 * The gate stays taken meanwhile, so that the sender stays in TCP.  One on another host would hear
 * of a sleeper too late; so there only a reader that does not spin sleeps so, once the other end
 * knows that it rests (carrier.h).
 */
#include "real/real.h"
#include "stream/internal.h"
#include <errno.h>

/* Who has data in its own ring may have to take it back, and be woken for that by a bell. */
static bool all_is_read(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->tx->head, memory_order_relaxed) ==
           atomic_load_explicit(&s->tx->tail, memory_order_relaxed);
}

/* Whether this thread may do so: the stream is in TCP, and nobody else reads. */
static bool begin_direct(struct sockets_stream *s, int fd)
{
    bool direct, stolen;

    if (!sockets_lock_take(&s->record->rx.lock, &stolen))
        return false;
    direct = !sockets_phase_is_ring(s->record->rx.phase) && !sockets_stream_bell_is_due(s) &&
             !s->record->rx.error && all_is_read(s) && sockets_stream_take_gate(s, fd);
    if (direct && (sockets_stream_sender_moved_on(s) || sockets_stream_bell_is_due(s) ||
                   (s->carrier && !s->carrier->ops->rests(s)))) {
        sockets_stream_give_gate(s);
        direct = false;
    }
    sockets_lock_give(&s->record->rx.lock);
    return direct;
}

static void end_direct(struct sockets_stream *s, ssize_t n, bool takes)
{
    bool stolen;

    sockets_lock_take(&s->record->rx.lock, &stolen);
    if (takes)
        sockets_stream_publish_taken(s, n);
    sockets_stream_give_gate(s);
    sockets_lock_give(&s->record->rx.lock);
}

static void give_up_sleep(struct sockets_stream *s)
{
    end_direct(s, -1, false);
    sockets_stream_disarm(s);
}

bool sockets_stream_receive_direct(struct sockets_stream *s, int fd, struct msghdr *msg, int flags,
                                   bool takes, ssize_t *n)
{
    if (!begin_direct(s, fd))
        return false;
    *n = sockets_stream_sleep_recvmsg(s, give_up_sleep, fd, msg, flags);
    *n = *n < 0 ? -errno : *n;
    end_direct(s, *n, takes);
    return true;
}
