/* SPDX-License-Identifier: BSD-3-Clause
 *
 * urgent.c - where urgent data are.
 *
 * They go by TCP, whose sender is pinned, and the kernel knows their mark: a place in what TCP
 * brings, which one call of recv does not read across.
 */
#include "real/real.h"
#include "stream/internal.h"
#include <errno.h>
#include <sys/ioctl.h>

/* Under the lock.  Whether what is read next comes by TCP, and no bell is before it. */
static bool tcp_is_next(struct sockets_stream *s, int fd)
{
    if (sockets_stream_has_unread(s) && !atomic_load(&s->record->rx.recalled))
        return false; /* the sender may be in the ring, and its receiver not know yet */
    if (s->carrier && sockets_phase_is_ring(s->record->rx.phase) &&
        !sockets_stream_sender_moved_on(s))
        return false;
    sockets_stream_drain(s, fd);
    return !sockets_stream_bell_is_due(s);
}

bool sockets_stream_is_tcp_at_mark(int fd)
{
    const int error = errno;
    int is = 0;

    if (sockets_real.ioctl(fd, SIOCATMARK, &is) < 0)
        is = 0;
    errno = error;
    return is;
}

bool sockets_stream_is_at_mark(struct sockets_stream *s, int fd)
{
    bool stolen, is;

    if (!sockets_lock_take(&s->record->rx.lock, &stolen))
        return false;
    is = tcp_is_next(s, fd) && sockets_stream_is_tcp_at_mark(fd);
    sockets_lock_give(&s->record->rx.lock);
    return is;
}
