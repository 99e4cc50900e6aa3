/* SPDX-License-Identifier: BSD-3-Clause
 *
 * life.c - descriptors come, are copied, and go.
 */
#include "calls/call.h"
#include "calls/hand.h"
#include "epoll/epoll.h"
#include "real/hidden.h"
#include <netinet/in.h>
#include <netinet/tcp.h>

int __close(int fd);
int __connect(int fd, const struct sockaddr *to, socklen_t length);

/* ---- sockets come ----------------------------------------------------------------- */

SOCKETS_EXPORT int socket(int family, int type, int protocol)
{
    int fd;

    sockets_call_prepare();
    do
        fd = sockets_real.socket(family, type, protocol);
    while (sockets_call_lacks_descriptor(fd));
    if (sockets_hidden_is_ours())
        return sockets_hidden_made(fd);
    sockets_table_renew(fd);
    sockets_table_note_tcp(fd, (family == AF_INET || family == AF_INET6) &&
                                   (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
                                   (protocol == 0 || protocol == IPPROTO_TCP));
    return fd;
}

/* Of one that is noted only; what was noted is looked at again before rings are used. */
static bool is_tcp(int fd)
{
    if (!sockets_table_is_tcp(fd))
        sockets_table_note_tcp(fd, sockets_upgrade_is_tcp(fd));
    return sockets_table_is_tcp(fd);
}

static int accepted(int listener, int fd, int flags)
{
    const int error = errno;

    if (fd >= 0 && is_tcp(listener))
        sockets_table_add(fd, flags & SOCK_NONBLOCK);
    errno = error;
    return fd;
}

SOCKETS_EXPORT int accept(int fd, struct sockaddr *restrict from, socklen_t *restrict length)
{
    int new;

    sockets_call_prepare();
    do
        new = sockets_real.accept(fd, from, length);
    while (sockets_call_lacks_descriptor(new));
    return accepted(fd, new, 0);
}

SOCKETS_EXPORT int accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict length,
                           int flags)
{
    int new;

    sockets_call_prepare();
    do
        new = sockets_real.accept4(fd, from, length, flags);
    while (sockets_call_lacks_descriptor(new));
    return accepted(fd, new, flags);
}

SOCKETS_EXPORT int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    int result, error;

    sockets_call_prepare();
    result = sockets_real.connect(fd, to, length);
    error = errno;
    sockets_stream_note_kernel(true);
    if (to && (to->sa_family == AF_INET || to->sa_family == AF_INET6) &&
        (result == 0 || error == EINPROGRESS || error == EINTR) && !sockets_table_has(fd) &&
        is_tcp(fd))
        sockets_table_adopt(fd);
    errno = error;
    return result;
}

void sockets_call_foresee(int fd)
{
    const int error = errno;
    struct tcp_info info;
    socklen_t length = sizeof(info);

    if (sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
        info.tcpi_state == TCP_CLOSE && is_tcp(fd))
        sockets_table_adopt(fd);
    errno = error;
}

SOCKETS_EXPORT int __connect(int fd, const struct sockaddr *to, socklen_t length)
{
    return connect(fd, to, length);
}

/* ---- and go ----------------------------------------------------------------------- */

SOCKETS_EXPORT int shutdown(int fd, int how)
{
    struct sockets_stream *s = sockets_call_enter(fd);
    int result;

    if (!s)
        return sockets_real.shutdown(fd, how);
    if (how == SHUT_RD || how == SHUT_RDWR) {
        sockets_stream_stay_awake(s);
        sockets_stream_shut_reader(s);
    }
    if (s->upgraded && (how == SHUT_WR || how == SHUT_RDWR))
        sockets_stream_finish(s, fd);
    result = sockets_real.shutdown(fd, how);
    if (s->upgraded && how != SHUT_RD && result == 0)
        sockets_stream_note_shut(s);
    sockets_stream_note_kernel(!s->upgraded);
    sockets_epoll_state_changed(s);
    sockets_table_leave(s);
    return result;
}

/* The descriptor is about to mean something else. */
static struct sockets_stream *forget(int fd)
{
    if (sockets_epoll_find(fd) && sockets_table_is_ours())
        sockets_epoll_closing(fd);
    sockets_table_note_tcp(fd, false);
    return sockets_table_closing(fd);
}

static void forgotten(struct sockets_stream *s)
{
    const int error = errno;

    sockets_stream_note_kernel(!s || !s->upgraded);
    sockets_table_closed(s);
    errno = error;
}

static int close_ours(int fd)
{
    struct sockets_stream *s = forget(fd);
    const int result = sockets_real.close(fd);

    forgotten(s);
    return result;
}

SOCKETS_EXPORT int close(int fd)
{
    sockets_call_prepare();
    if (sockets_hidden_is_ours())
        return sockets_hidden_close_made(fd);
    if (sockets_hidden_is(fd)) {
        errno = EBADF;
        return -1;
    }
    return close_ours(fd);
}

SOCKETS_EXPORT int __close(int fd)
{
    return close(fd);
}

static void forget_range(unsigned first, unsigned last)
{
    if (!sockets_table_is_ours())
        return;
    for (int fd = (int)first - 1; (fd = sockets_table_next(fd + 1)) >= 0 && (unsigned)fd <= last;)
        close_ours(fd);
    for (int fd = (int)first - 1; (fd = sockets_epoll_next(fd + 1)) >= 0 && (unsigned)fd <= last;)
        close_ours(fd);
}

SOCKETS_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    sockets_call_prepare();
    if (flags == 0 && first <= last && first <= INT32_MAX)
        forget_range(first, last);
    return sockets_hidden_close_range(first, last, flags);
}

SOCKETS_EXPORT void closefrom(int first)
{
    sockets_call_prepare();
    forget_range(first < 0 ? 0 : (unsigned)first, ~0u);
    if (sockets_hidden_close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0) < 0)
        sockets_real.closefrom(first);
}

/* ---- copies ----------------------------------------------------------------------- */

/* A copy of a socket that has not connected is to be the same connection when it has. */
static void foresee_copy(int fd)
{
    if (!sockets_table_has(fd))
        sockets_call_foresee(fd);
}

static int copied(int fd, int copy)
{
    const int error = errno;

    if (copy >= 0 && sockets_table_is_ours()) {
        foresee_copy(fd);
        sockets_table_copy(fd, copy);
        sockets_epoll_copy(fd, copy);
    }
    errno = error;
    return copy;
}

/* Standard input and output are used by stdio, and by programs that are executed. */
static void hand_over_standard(int fd, int copy)
{
    if (copy < 0 || copy > STDERR_FILENO)
        return;
    foresee_copy(fd);
    sockets_call_hand_over(fd);
}

SOCKETS_EXPORT int dup(int fd)
{
    int copy;

    sockets_call_prepare();
    do
        copy = sockets_real.dup(fd);
    while (sockets_call_lacks_descriptor(copy));
    hand_over_standard(fd, copy);
    return copied(fd, copy);
}

static int replace(int fd, int copy, int flags, bool with_flags)
{
    struct sockets_stream *s;

    sockets_call_prepare();
    if (fd == copy || sockets_real.fcntl(fd, F_GETFD) < 0)
        return with_flags ? sockets_real.dup3(fd, copy, flags) : sockets_real.dup2(fd, copy);
    hand_over_standard(fd, copy);
    if (sockets_table_is_ours())
        sockets_hidden_evade(copy);
    s = forget(copy);
    copy = with_flags ? sockets_real.dup3(fd, copy, flags) : sockets_real.dup2(fd, copy);
    forgotten(s);
    return copied(fd, copy);
}

SOCKETS_EXPORT int dup2(int fd, int copy)
{
    return replace(fd, copy, 0, false);
}

SOCKETS_EXPORT int dup3(int fd, int copy, int flags)
{
    return replace(fd, copy, flags, true);
}

/* fcntl(F_DUPFD), for options.c. */
int sockets_call_copied(int fd, int copy);
int sockets_call_copied(int fd, int copy)
{
    return copied(fd, copy);
}
