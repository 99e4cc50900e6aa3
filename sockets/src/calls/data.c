/* SPDX-License-Identifier: BSD-3-Clause
 *
 * data.c - read, write and their relatives.
 */
#include "calls/call.h"
#include "calls/hand.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* What the compiler calls instead, where it knows the size of a buffer, and libc's other names. */
ssize_t __read_chk(int fd, void *buffer, size_t count, size_t size);
ssize_t __recv_chk(int fd, void *buffer, size_t count, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t count, size_t size, int flags,
                       struct sockaddr *from, socklen_t *length);
ssize_t __read(int fd, void *buffer, size_t count);
ssize_t __write(int fd, const void *buffer, size_t count);
ssize_t __send(int fd, const void *buffer, size_t count, int flags);
void __chk_fail(void) __attribute__((noreturn));

enum { SPLICE_MOST = 64 << 10 }; /* what a pipe holds */

/* ---- one buffer, or several ------------------------------------------------------------ */

static ssize_t receive(struct sockets_stream *s, int fd, const struct iovec *iov, size_t count,
                       int flags)
{
    const ssize_t n = sockets_call_result(sockets_stream_receive(s, fd, iov, count, flags));

    sockets_table_leave(s);
    return n;
}

/* The kernel raises SIGPIPE itself: what it would have to refuse goes by TCP. */
static ssize_t transmit(struct sockets_stream *s, int fd, const struct iovec *iov, size_t count,
                        int flags)
{
    const struct msghdr msg = {.msg_iov = (struct iovec *)iov, .msg_iovlen = count};
    const ssize_t n = sockets_call_result(sockets_stream_send(s, fd, &msg, flags));

    sockets_table_leave(s);
    return n;
}

/* Sent by the kernel alone. */
static ssize_t sent_by_kernel(ssize_t n)
{
    if (n > 0)
        sockets_stream_note_kernel(true);
    return n;
}

/* What the ring cannot do; the call is then the kernel's. */
static bool is_for_kernel(const struct sockets_stream *s, int flags)
{
    return !s->upgraded || (flags & (MSG_OOB | MSG_ERRQUEUE));
}

SOCKETS_EXPORT ssize_t read(int fd, void *buffer, size_t count)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    const struct iovec iov = {buffer, count};
    ssize_t n;

    if (!s)
        return sockets_real.read(fd, buffer, count);
    if (!is_for_kernel(s, 0))
        return receive(s, fd, &iov, 1, 0);
    n = sockets_real.read(fd, buffer, count);
    sockets_call_end_read(s, n);
    return n;
}

SOCKETS_EXPORT ssize_t write(int fd, const void *buffer, size_t count)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    const struct iovec iov = {(void *)buffer, count};
    ssize_t n;

    if (!s)
        return sent_by_kernel(sockets_real.write(fd, buffer, count));
    if (!is_for_kernel(s, 0))
        return transmit(s, fd, &iov, 1, 0);
    n = sent_by_kernel(sockets_real.write(fd, buffer, count));
    sockets_table_leave(s);
    return n;
}

static bool is_bad_vector(const struct iovec *iov, int count)
{
    size_t total = 0;

    if (count < 0 || count > IOV_MAX)
        return true;
    for (int i = 0; i < count; i++) {
        if (iov[i].iov_len > SSIZE_MAX - total)
            return true;
        total += iov[i].iov_len;
    }
    return false;
}

SOCKETS_EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    ssize_t n;

    if (!s)
        return sockets_real.readv(fd, iov, count);
    if (!is_for_kernel(s, 0) && !is_bad_vector(iov, count))
        return receive(s, fd, iov, (size_t)count, 0);
    n = sockets_real.readv(fd, iov, count);
    sockets_call_end_read(s, n);
    return n;
}

SOCKETS_EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    ssize_t n;

    if (!s)
        return sent_by_kernel(sockets_real.writev(fd, iov, count));
    if (!is_for_kernel(s, 0) && !is_bad_vector(iov, count))
        return transmit(s, fd, iov, (size_t)count, 0);
    n = sent_by_kernel(sockets_real.writev(fd, iov, count));
    sockets_table_leave(s);
    return n;
}

SOCKETS_EXPORT ssize_t recv(int fd, void *buffer, size_t count, int flags)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    const struct iovec iov = {buffer, count};
    ssize_t n;

    if (!s)
        return sockets_real.recv(fd, buffer, count, flags);
    if (!is_for_kernel(s, flags))
        return receive(s, fd, &iov, 1, flags);
    n = sockets_real.recv(fd, buffer, count, flags);
    sockets_call_end_read(s, n);
    return n;
}

SOCKETS_EXPORT ssize_t send(int fd, const void *buffer, size_t count, int flags)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    const struct iovec iov = {(void *)buffer, count};
    ssize_t n;

    if (!s)
        return sent_by_kernel(sockets_real.send(fd, buffer, count, flags));
    if (s->upgraded)
        return transmit(s, fd, &iov, 1, flags);
    n = sent_by_kernel(sockets_real.send(fd, buffer, count, flags));
    sockets_table_leave(s);
    return n;
}

/* TCP names no sender. */
SOCKETS_EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t count, int flags,
                                struct sockaddr *restrict from, socklen_t *restrict length)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    const struct iovec iov = {buffer, count};
    ssize_t n;

    if (!s)
        return sockets_real.recvfrom(fd, buffer, count, flags, from, length);
    if (!is_for_kernel(s, flags)) {
        n = receive(s, fd, &iov, 1, flags);
        if (n >= 0 && from && length)
            *length = 0;
        return n;
    }
    n = sockets_real.recvfrom(fd, buffer, count, flags, from, length);
    sockets_call_end_read(s, n);
    return n;
}

SOCKETS_EXPORT ssize_t sendto(int fd, const void *buffer, size_t count, int flags,
                              const struct sockaddr *to, socklen_t length)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    const struct iovec iov = {(void *)buffer, count};
    ssize_t n;

    if (!s)
        return sent_by_kernel(sockets_real.sendto(fd, buffer, count, flags, to, length));
    if (s->upgraded) /* connected: the address is ignored */
        return transmit(s, fd, &iov, 1, flags);
    n = sent_by_kernel(sockets_real.sendto(fd, buffer, count, flags, to, length));
    sockets_table_leave(s);
    return n;
}

/* ---- messages --------------------------------------------------------------------- */

static ssize_t receive_message(struct sockets_stream *s, int fd, struct msghdr *msg, int flags)
{
    const ssize_t n = sockets_stream_receive(s, fd, msg->msg_iov, msg->msg_iovlen, flags);

    if (n >= 0) {
        msg->msg_namelen = 0;
        msg->msg_controllen = 0;
        msg->msg_flags = 0;
    }
    return n;
}

static bool is_bad_message(const struct msghdr *msg)
{
    return msg->msg_iovlen > IOV_MAX || is_bad_vector(msg->msg_iov, (int)msg->msg_iovlen);
}

SOCKETS_EXPORT ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    ssize_t n;

    if (!s)
        return sockets_real.recvmsg(fd, msg, flags);
    if (!is_for_kernel(s, flags) && !is_bad_message(msg)) {
        n = sockets_call_result(receive_message(s, fd, msg, flags));
        sockets_table_leave(s);
        return n;
    }
    n = sockets_real.recvmsg(fd, msg, flags);
    sockets_call_end_read(s, n);
    return n;
}

SOCKETS_EXPORT ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    ssize_t n;

    if (!s) {
        if (msg && msg->msg_controllen > 0 && msg->msg_control)
            sockets_call_hand_over_passed(msg);
        return sent_by_kernel(sockets_real.sendmsg(fd, msg, flags));
    }
    if (s->upgraded && !is_bad_message(msg))
        n = sockets_call_result(sockets_stream_send(s, fd, msg, flags));
    else
        n = sent_by_kernel(sockets_real.sendmsg(fd, msg, flags));
    sockets_table_leave(s);
    return n;
}

SOCKETS_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                            struct timespec *timeout)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    unsigned done = 0;
    ssize_t n = 0;

    if (!s)
        return sockets_real.recvmmsg(fd, messages, count, flags, timeout);
    if (is_for_kernel(s, flags)) {
        const int result = sockets_real.recvmmsg(fd, messages, count, flags, timeout);
        sockets_call_end_read(s, result);
        return result;
    }
    while (done < count) {
        n = receive_message(s, fd, &messages[done].msg_hdr, flags & ~MSG_WAITFORONE);
        if (n < 0)
            break;
        messages[done++].msg_len = (unsigned)n;
        if (n == 0)
            break;
        if (flags & MSG_WAITFORONE)
            flags |= MSG_DONTWAIT;
    }
    sockets_table_leave(s);
    return done ? (int)done : (int)sockets_call_result(n);
}

SOCKETS_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    struct sockets_stream *s = sockets_call_begin(fd);
    unsigned done = 0;
    ssize_t n = 0;

    if (!s || !s->upgraded) {
        int result;

        for (unsigned i = 0; !s && messages && i < count; i++)
            if (messages[i].msg_hdr.msg_controllen > 0 && messages[i].msg_hdr.msg_control)
                sockets_call_hand_over_passed(&messages[i].msg_hdr);
        result = sent_by_kernel(sockets_real.sendmmsg(fd, messages, count, flags));
        if (s)
            sockets_table_leave(s);
        return result;
    }
    for (; done < count; done++) {
        n = sockets_stream_send(s, fd, &messages[done].msg_hdr, flags);
        if (n < 0)
            break;
        messages[done].msg_len = (unsigned)n;
    }
    sockets_table_leave(s);
    return done ? (int)done : (int)sockets_call_result(n);
}

/* ---- files and pipes ------------------------------------------------------------------ */

SOCKETS_EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t count)
{
    struct sockets_stream *s = sockets_call_begin(out);
    ssize_t n;

    if (!s)
        return sent_by_kernel(sockets_real.sendfile(out, in, offset, count));
    if (s->upgraded && count <= SSIZE_MAX)
        n = sockets_call_result(sockets_stream_sendfile(s, out, in, offset, count));
    else
        n = sent_by_kernel(sockets_real.sendfile(out, in, offset, count));
    sockets_table_leave(s);
    return n;
}

SOCKETS_EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t count)
{
    return sendfile(out, in, offset, count);
}

/* Write what a pipe has room for, and wait for room, unless that must not be, only while it has
 * none.  A pipe that can be written to takes a piece of PIPE_BUF bytes at once. */
static ssize_t write_to_pipe(int out, const char *data, size_t count, bool wait)
{
    const size_t capacity = (size_t)sockets_real.fcntl(out, F_GETPIPE_SZ);
    struct pollfd pipe = {.fd = out, .events = POLLOUT};
    size_t done = 0;
    int unread;

    if (sockets_real.ioctl(out, FIONREAD, &unread) == 0 && unread == 0) {
        const ssize_t n = sockets_real.write(out, data, MIN(count, capacity));
        return n < 0 ? -errno : n;
    }
    while (done < count) {
        const int ready = wait && done == 0 ? 1 : sockets_real.poll(&pipe, 1, 0);
        const ssize_t n =
            ready > 0 ? sockets_real.write(out, data + done, MIN(count - done, PIPE_BUF)) : ready;

        if (n <= 0)
            return done > 0 ? (ssize_t)done : n < 0 ? -errno : -EAGAIN;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* From the connection into a pipe: what the pipe has taken is taken from the connection. */
static ssize_t splice_piece(struct sockets_stream *s, int fd, int out, struct iovec iov, int flags)
{
    const bool wait = !(flags & MSG_DONTWAIT) && !(sockets_real.fcntl(out, F_GETFL) & O_NONBLOCK);
    ssize_t n;

    if (sockets_real.fcntl(out, F_GETPIPE_SZ) < 0)
        return -EINVAL; /* it is no pipe */
    n = sockets_stream_receive(s, fd, &iov, 1, MSG_PEEK | flags);
    if (n <= 0)
        return n;
    n = write_to_pipe(out, iov.iov_base, (size_t)n, wait);
    sockets_stream_note_kernel(true);
    if (n <= 0)
        return n;
    iov.iov_len = (size_t)n;
    return sockets_stream_receive(s, fd, &iov, 1, MSG_WAITALL);
}

static ssize_t splice_out(struct sockets_stream *s, int fd, int out, size_t count, unsigned flags)
{
    const size_t most = count < SPLICE_MOST ? count : SPLICE_MOST;
    char *buffer = malloc(most);
    ssize_t n;

    if (!buffer)
        return -ENOMEM;
    n = splice_piece(s, fd, out, (struct iovec){buffer, most},
                     flags & SPLICE_F_NONBLOCK ? MSG_DONTWAIT : 0);
    free(buffer);
    return n;
}

SOCKETS_EXPORT ssize_t splice(int in, off64_t *in_offset, int out, off64_t *out_offset,
                              size_t count, unsigned flags)
{
    struct sockets_stream *from = sockets_call_begin(in), *to = sockets_call_begin(out);
    ssize_t n;

    if (to && to->upgraded)
        sockets_stream_pin(to);
    if (from && from->upgraded && !in_offset && !out_offset && count > 0)
        n = sockets_call_result(splice_out(from, in, out, count, flags));
    else
        n = sent_by_kernel(sockets_real.splice(in, in_offset, out, out_offset, count, flags));
    if (from)
        sockets_table_leave(from);
    if (to)
        sockets_table_leave(to);
    return n;
}

/* ---- other names ------------------------------------------------------------------ */

SOCKETS_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t count, size_t size)
{
    if (count > size)
        __chk_fail();
    return read(fd, buffer, count);
}

SOCKETS_EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t count, size_t size, int flags)
{
    if (count > size)
        __chk_fail();
    return recv(fd, buffer, count, flags);
}

SOCKETS_EXPORT ssize_t __recvfrom_chk(int fd, void *buffer, size_t count, size_t size, int flags,
                                      struct sockaddr *from, socklen_t *length)
{
    if (count > size)
        __chk_fail();
    return recvfrom(fd, buffer, count, flags, from, length);
}

SOCKETS_EXPORT ssize_t __read(int fd, void *buffer, size_t count)
{
    return read(fd, buffer, count);
}

SOCKETS_EXPORT ssize_t __write(int fd, const void *buffer, size_t count)
{
    return write(fd, buffer, count);
}

SOCKETS_EXPORT ssize_t __send(int fd, const void *buffer, size_t count, int flags)
{
    return send(fd, buffer, count, flags);
}
