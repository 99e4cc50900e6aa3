/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.c - the messages of a link.
 */
#include "net/wire.h"
#include "real/real.h"
#include <errno.h>

enum { WRITE_MS = 1000 };

bool sockets_wire_is_sound(const struct sockets_wire *wire, size_t bytes)
{
    return bytes >= sizeof(*wire) && wire->length <= SOCKETS_WIRE_BYTES &&
           bytes == sizeof(*wire) + wire->length && (wire->flags & ~SOCKETS_WIRE_FLAGS) == 0;
}

int sockets_wire_read(struct sockets_wire_reader *reader, int fd)
{
    const struct sockets_wire *wire = &reader->message.wire;

    for (;;) {
        size_t whole = sizeof(*wire);
        ssize_t n;

        if (reader->have >= sizeof(*wire)) {
            whole += wire->length;
            if (!sockets_wire_is_sound(wire, whole))
                return -EPROTO;
            if (reader->have == whole) {
                reader->have = 0;
                return 1;
            }
        }
        n = sockets_real.recv(fd, (char *)&reader->message + reader->have, whole - reader->have,
                              MSG_DONTWAIT);
        if (n <= 0)
            return n == 0 ? -EPIPE : errno == EAGAIN || errno == EINTR ? 0 : -errno;
        reader->have += (size_t)n;
    }
}

int sockets_wire_write(int fd, const struct sockets_wire *wire, const void *data)
{
    const size_t head = sizeof(*wire), whole = head + wire->length;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    size_t done = 0;

    while (done < whole) {
        struct iovec iov[2] = {{(char *)wire + done, done < head ? head - done : 0},
                               {(char *)data + (done < head ? 0 : done - head),
                                done < head ? wire->length : whole - done}};
        const struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
        const ssize_t n = sockets_real.sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0)
            done += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            return -errno;
        else if (sockets_real.poll(&p, 1, WRITE_MS) == 0)
            return -ETIMEDOUT;
    }
    return 0;
}
