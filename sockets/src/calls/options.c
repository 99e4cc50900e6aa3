/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.c - fcntl, ioctl and setsockopt: what changes how a connection behaves.
 */
#include "calls/call.h"
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>

int sockets_call_copied(int fd, int copy); /* life.c */
int __fcntl(int fd, int command, ...);

static void set_nonblocking(int fd, bool nonblocking)
{
    struct sockets_stream *s = sockets_table_enter(fd);

    if (!s)
        return;
    atomic_store(&s->record->nonblocking, nonblocking);
    sockets_table_leave(s);
}

/* Does that to the descriptor's stream, if it is one's. */
static void with_stream(int fd, void (*change)(struct sockets_stream *s))
{
    struct sockets_stream *s = sockets_table_enter(fd);

    if (!s)
        return;
    change(s);
    sockets_table_leave(s);
}

/* All commands of fcntl take a pointer, an int or nothing, which the ABI passes alike. */
static int do_fcntl(int fd, int command, void *argument)
{
    const long value = (long)(intptr_t)argument;
    int result;

    sockets_call_prepare();
    if (command == F_SETSIG || (command == F_SETFL && (value & O_ASYNC)))
        with_stream(fd, sockets_stream_pin); /* the kernel signals what it sees */
    do
        result = sockets_real.fcntl(fd, command, argument);
    while (sockets_call_lacks_descriptor(result));
    if (result < 0)
        return result;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return sockets_call_copied(fd, result);
    case F_SETFL:
        set_nonblocking(fd, value & O_NONBLOCK);
        return result;
    default:
        return result;
    }
}

#define SOCKETS_ARGUMENT(last, argument)                                                           \
    va_list list;                                                                                  \
    va_start(list, last);                                                                          \
    void *argument = va_arg(list, void *);                                                         \
    va_end(list)

SOCKETS_EXPORT int fcntl(int fd, int command, ...)
{
    SOCKETS_ARGUMENT(command, argument);
    return do_fcntl(fd, command, argument);
}

SOCKETS_EXPORT int fcntl64(int fd, int command, ...)
{
    SOCKETS_ARGUMENT(command, argument);
    return do_fcntl(fd, command, argument);
}

SOCKETS_EXPORT int __fcntl(int fd, int command, ...)
{
    SOCKETS_ARGUMENT(command, argument);
    return do_fcntl(fd, command, argument);
}

static void correct_unread(int fd, int *bytes)
{
    struct sockets_stream *s = sockets_table_enter(fd);

    if (!s)
        return;
    if (s->upgraded)
        *bytes = sockets_stream_unread(s, *bytes);
    sockets_table_leave(s);
}

static void correct_mark(int fd, int *is_at_mark)
{
    struct sockets_stream *s = sockets_table_enter(fd);

    if (!s)
        return;
    if (s->upgraded)
        *is_at_mark = sockets_stream_is_at_mark(s, fd);
    sockets_table_leave(s);
}

SOCKETS_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    int result;

    SOCKETS_ARGUMENT(request, argument);
    sockets_call_prepare();
    if (request == FIOASYNC)
        with_stream(fd, sockets_stream_pin);
    result = sockets_real.ioctl(fd, request, argument);
    if (result < 0)
        return result;
    if (request == FIONBIO)
        set_nonblocking(fd, *(int *)argument);
    else if (request == SIOCINQ)
        correct_unread(fd, argument);
    else if (request == SIOCATMARK)
        correct_mark(fd, argument);
    return result;
}

/* What the kernel does to the bytes, or tells of them, one by one. */
static bool needs_tcp(int level, int name, const void *value, socklen_t length)
{
    int number = 0;

    if (value && length >= sizeof(number))
        number = *(const int *)value;
    if (level == SOL_SOCKET)
        return (name == SO_RCVLOWAT && number > 1) || name == SO_ZEROCOPY || name == SO_TIMESTAMP ||
               name == SO_TIMESTAMPNS || name == SO_TIMESTAMPING;
    return level == IPPROTO_TCP &&
           (name == TCP_ULP || name == TCP_REPAIR || name == TCP_FASTOPEN_CONNECT);
}

/* A cork holds wake-ups back, so that they do not count for others (send.c). */
static void note_cork(int fd)
{
    struct sockets_stream *s = sockets_table_enter(fd);

    if (!s)
        return;
    atomic_store(&s->nodelay, 0);
    sockets_table_leave(s);
}

/* Whether a connection with rings is asked to send at once: those do so by themselves (prompt.c).
 */
static bool keep_nodelay(int fd, bool asked)
{
    struct sockets_stream *s = sockets_table_enter(fd);
    bool keep;

    if (!s)
        return false;
    keep = s->upgraded;
    if (keep)
        sockets_stream_set_nodelay(s, fd, asked);
    sockets_table_leave(s);
    return keep;
}

SOCKETS_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    sockets_call_prepare();
    if (needs_tcp(level, name, value, length))
        with_stream(fd, sockets_stream_pin);
    if (level == IPPROTO_TCP && name == TCP_CORK)
        note_cork(fd);
    if (level == SOL_SOCKET && (name == SO_RCVTIMEO_OLD || name == SO_RCVTIMEO_NEW))
        with_stream(fd, sockets_stream_stay_awake);
    if (level == IPPROTO_TCP && name == TCP_NODELAY && value && length >= sizeof(int) &&
        keep_nodelay(fd, *(const int *)value != 0))
        return 0;
    return sockets_real.setsockopt(fd, level, name, value, length);
}

SOCKETS_EXPORT int getsockopt(int fd, int level, int name, void *restrict value,
                              socklen_t *restrict length)
{
    struct sockets_stream *s;
    int result;

    sockets_call_prepare();
    result = sockets_real.getsockopt(fd, level, name, value, length);
    if (result < 0 || level != IPPROTO_TCP || name != TCP_NODELAY || *length < sizeof(int) ||
        !(s = sockets_table_enter(fd)))
        return result;
    if (s->upgraded)
        *(int *)value = (int)atomic_load(&s->record->asked_nodelay);
    sockets_table_leave(s);
    return result;
}
