/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.c - poll, select and epoll.
 */
#include "calls/call.h"
#include "epoll/epoll.h"
#include "poll/poll.h"
#include "real/hidden.h"
#include "record/pause.h"

int __poll(struct pollfd *fds, nfds_t count, int timeout);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t size);
int __select(int count, fd_set *readable, fd_set *writable, fd_set *urgent,
             struct timeval *timeout);
void __chk_fail(void) __attribute__((noreturn));

/* ---- poll and select ---------------------------------------------------------------- */

SOCKETS_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    const struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};

    sockets_call_prepare();
    return sockets_ppoll(fds, count, timeout < 0 ? NULL : &t, NULL);
}

SOCKETS_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                         const sigset_t *mask)
{
    sockets_call_prepare();
    return sockets_ppoll(fds, count, timeout, mask);
}

SOCKETS_EXPORT int pselect(int count, fd_set *restrict readable, fd_set *restrict writable,
                           fd_set *restrict urgent, const struct timespec *restrict timeout,
                           const sigset_t *restrict mask)
{
    sockets_call_prepare();
    return sockets_pselect(count, readable, writable, urgent, timeout, mask);
}

/* Linux's select tells how much of the time is left. */
SOCKETS_EXPORT int select(int count, fd_set *restrict readable, fd_set *restrict writable,
                          fd_set *restrict urgent, struct timeval *restrict timeout)
{
    struct timespec t;
    uint64_t begin, passed, whole;
    int n, error;

    sockets_call_prepare();
    if (!timeout)
        return sockets_pselect(count, readable, writable, urgent, NULL, NULL);
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0 || timeout->tv_usec >= 1000000)
        return sockets_real.select(count, readable, writable, urgent, timeout);
    t = (struct timespec){timeout->tv_sec, timeout->tv_usec * 1000};
    begin = sockets_now_ns();
    n = sockets_pselect(count, readable, writable, urgent, &t, NULL);
    error = errno;
    passed = (sockets_now_ns() - begin) / 1000;
    whole = (uint64_t)timeout->tv_sec * 1000000 + (uint64_t)timeout->tv_usec;
    whole = whole > passed ? whole - passed : 0;
    *timeout = (struct timeval){(time_t)(whole / 1000000), (suseconds_t)(whole % 1000000)};
    errno = error;
    return n;
}

SOCKETS_EXPORT int __poll(struct pollfd *fds, nfds_t count, int timeout)
{
    return poll(fds, count, timeout);
}

SOCKETS_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
    if (size / sizeof(*fds) < count)
        __chk_fail();
    return poll(fds, count, timeout);
}

SOCKETS_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                               const sigset_t *mask, size_t size)
{
    if (size / sizeof(*fds) < count)
        __chk_fail();
    return ppoll(fds, count, timeout, mask);
}

SOCKETS_EXPORT int __select(int count, fd_set *readable, fd_set *writable, fd_set *urgent,
                            struct timeval *timeout)
{
    return select(count, readable, writable, urgent, timeout);
}

/* ---- epoll ------------------------------------------------------------------------ */

static int created(int epfd)
{
    if (sockets_hidden_is_ours())
        return sockets_hidden_made(epfd);
    if (epfd >= 0 && sockets_table_is_ours())
        sockets_epoll_add(epfd);
    return epfd;
}

SOCKETS_EXPORT int epoll_create(int size)
{
    sockets_call_prepare();
    return created(sockets_real.epoll_create(size));
}

SOCKETS_EXPORT int epoll_create1(int flags)
{
    sockets_call_prepare();
    return created(sockets_real.epoll_create1(flags));
}

SOCKETS_EXPORT int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    struct sockets_stream *s = sockets_call_enter(fd);
    struct sockets_epoll *set = sockets_epoll_enter(epfd);
    int result;

    if (sockets_epoll_find(fd) != set)
        sockets_epoll_make_cold(fd);
    if (!s && op == EPOLL_CTL_ADD && event) {
        sockets_call_foresee(fd);
        s = sockets_table_enter(fd);
    }
    if (s && set) {
        result = sockets_epoll_ctl(set, epfd, op, fd, s, event);
    } else {
        if (s) /* in a set that we know nothing of */
            sockets_stream_pin(s);
        if (set && event && op != EPOLL_CTL_DEL)
            sockets_epoll_note(set, epfd, event);
        result = sockets_real.epoll_ctl(epfd, op, fd, event);
    }
    if (s)
        sockets_table_leave(s);
    if (set)
        sockets_epoll_leave(set);
    return result;
}

/* For a set that was entered. */
static int wait_for(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                    int64_t timeout_ns, const sigset_t *mask)
{
    const int n = sockets_epoll_wait(set, epfd, events, max, timeout_ns, mask);

    sockets_epoll_leave(set);
    return n;
}

SOCKETS_EXPORT int epoll_pwait(int epfd, struct epoll_event *events, int max, int timeout,
                               const sigset_t *mask)
{
    struct sockets_epoll *set;

    sockets_call_prepare();
    set = max > 0 ? sockets_epoll_enter(epfd) : NULL;
    if (!set)
        return sockets_real.epoll_pwait(epfd, events, max, timeout, mask);
    return wait_for(set, epfd, events, max, timeout < 0 ? -1 : timeout * 1000000LL, mask);
}

SOCKETS_EXPORT int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
    return epoll_pwait(epfd, events, max, timeout, NULL);
}

SOCKETS_EXPORT int epoll_pwait2(int epfd, struct epoll_event *events, int max,
                                const struct timespec *timeout, const sigset_t *mask)
{
    struct sockets_epoll *set;

    sockets_call_prepare();
    if (max <= 0 ||
        (timeout && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_sec > 1000000)) ||
        !(set = sockets_epoll_enter(epfd)))
        return sockets_real.epoll_pwait2(epfd, events, max, timeout, mask);
    return wait_for(set, epfd, events, max,
                    timeout ? timeout->tv_sec * 1000000000LL + timeout->tv_nsec : -1, mask);
}
