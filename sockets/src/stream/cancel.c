/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cancel.c - calls of the kernel in which a thread sleeps, and may be cancelled.
 *
 * It then undoes what it has said of its sleep, and its call leaves the stream, which is of use to
 * others.  Only who sleeps pays for that.
 */
#include "real/real.h"
#include "stream/internal.h"
#include <pthread.h>

struct sleeper {
    struct sockets_stream *s;
    void (*undo)(struct sockets_stream *s);
};

static void nothing(struct sockets_stream *s)
{
    (void)s;
}

void (*sockets_stream_on_cancel)(struct sockets_stream *s) = nothing;

static void cancelled(void *sleeper)
{
    const struct sleeper *me = sleeper;

    if (me->undo)
        me->undo(me->s);
    sockets_stream_on_cancel(me->s);
}

ssize_t sockets_stream_sleep_recv(struct sockets_stream *s, void (*undo)(struct sockets_stream *s),
                                  int fd, int flags)
{
    struct sleeper me = {s, undo};
    char byte;
    ssize_t n;

    pthread_cleanup_push(cancelled, &me);
    n = sockets_real.recv(fd, &byte, 1, flags);
    pthread_cleanup_pop(0);
    return n;
}

ssize_t sockets_stream_sleep_recvmsg(struct sockets_stream *s,
                                     void (*undo)(struct sockets_stream *s), int fd,
                                     struct msghdr *msg, int flags)
{
    struct sleeper me = {s, undo};
    ssize_t n;

    pthread_cleanup_push(cancelled, &me);
    n = sockets_real.recvmsg(fd, msg, flags);
    pthread_cleanup_pop(0);
    return n;
}

ssize_t sockets_stream_sleep_sendmsg(struct sockets_stream *s, int fd, const struct msghdr *msg,
                                     int flags)
{
    struct sleeper me = {s, NULL};
    ssize_t n;

    pthread_cleanup_push(cancelled, &me);
    n = sockets_real.sendmsg(fd, msg, flags);
    pthread_cleanup_pop(0);
    return n;
}

int sockets_stream_sleep_poll(struct sockets_stream *s, struct pollfd *fds, nfds_t count)
{
    struct sleeper me = {s, NULL};
    int n;

    pthread_cleanup_push(cancelled, &me);
    n = sockets_real.poll(fds, count, -1);
    pthread_cleanup_pop(0);
    return n;
}
