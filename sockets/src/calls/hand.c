/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hand.c - connections that are handed to programs that know nothing of rings: by exec, by
 * posix_spawn, as standard input or output, by SCM_RIGHTS; and sets of epoll that are.
 *
 * What lies unread in their rings goes back to TCP first.  In the child of a vfork the table is its
 * parent's, whose descriptors may mean something else there; so a stream is only touched by
 * a descriptor that has its cookie.
 */
#include "calls/hand.h"
#include "calls/call.h"
#include "epoll/epoll.h"
#include <string.h>

static bool means(const struct sockets_stream *s, int fd)
{
    uint64_t cookie = 0;
    socklen_t length = sizeof(cookie);

    if (sockets_table_is_ours())
        return true;
    return sockets_real.getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 &&
           cookie == s->cookie;
}

/* The other end may be ours, too, and the program not be in a call of it. */
static void answer_here(void)
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;) {
        struct sockets_stream *s = sockets_table_enter(fd);

        if (!s)
            continue;
        if (s->upgraded && means(s, fd))
            sockets_stream_answer(s, fd);
        sockets_table_leave(s);
    }
}

static bool hand_stream(struct sockets_stream *s, int fd)
{
    if (!means(s, fd))
        return false;
    if (sockets_stream_recall(s, fd) > 0)
        answer_here();
    return true;
}

/* A child of vfork may have closed what the table knows. */
static void hand_set(int fd)
{
    if (sockets_table_is_ours())
        sockets_epoll_share(fd);
}

bool sockets_call_hand_over(int fd)
{
    struct sockets_stream *s = sockets_table_enter(fd);
    bool handed;

    hand_set(fd);
    if (!s)
        return false;
    handed = hand_stream(s, fd);
    sockets_table_leave(s);
    return handed;
}

/* A descriptor of a child of vfork that the table does not know by its number. */
static void hand_over_by_cookie(int fd)
{
    bool handed = false;

    for (int known = -1; !handed && (known = sockets_table_next(known + 1)) >= 0;) {
        struct sockets_stream *s = sockets_table_enter(known);

        if (!s)
            continue;
        handed = s->upgraded && hand_stream(s, fd);
        sockets_table_leave(s);
    }
}

static bool survives_exec(int fd)
{
    const int flags = sockets_real.fcntl(fd, F_GETFD);

    return flags >= 0 && !(flags & FD_CLOEXEC);
}

void sockets_call_hand_over_all(void)
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;)
        if (survives_exec(fd))
            sockets_call_hand_over(fd);
    for (int fd = -1; (fd = sockets_epoll_next(fd + 1)) >= 0;)
        if (survives_exec(fd))
            hand_set(fd);
    for (int fd = 0; fd <= STDERR_FILENO && !sockets_table_is_ours(); fd++)
        if (survives_exec(fd))
            hand_over_by_cookie(fd);
}

/* Who gets it never tells when it closes, so it is a holder for ever. */
static void pass(int fd)
{
    struct sockets_stream *s = sockets_table_enter(fd);

    hand_set(fd);
    if (!s)
        return;
    if (hand_stream(s, fd))
        atomic_fetch_add(&s->record->holders, 1);
    sockets_table_leave(s);
}

void sockets_call_hand_over_passed(const struct msghdr *msg)
{
    struct cmsghdr *c;

    for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
        const size_t bytes = c->cmsg_len > CMSG_LEN(0) ? c->cmsg_len - CMSG_LEN(0) : 0;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
            pass(fd);
        }
    }
}
