/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.c - the messages of a link.
 */
#include "net/wire.h"
#include "real/real.h"
#include <errno.h>
#include <string.h>

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

int sockets_wire_flush(struct sockets_wire_writer *writer, int fd)
{
    while (sockets_wire_is_behind(writer)) {
        const ssize_t n =
            sockets_real.send(fd, (const char *)&writer->message + writer->done,
                              writer->bytes - writer->done, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0)
            writer->done += (size_t)n;
        else if (errno != EINTR)
            return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    }
    return 0;
}

int sockets_wire_write(struct sockets_wire_writer *writer, int fd, const struct sockets_wire *wire,
                       const void *data)
{
    int error = sockets_wire_flush(writer, fd);

    if (error)
        return error;
    writer->message.wire = *wire;
    if (wire->length > 0)
        memcpy(writer->message.data, data, wire->length);
    writer->done = 0;
    writer->bytes = sizeof(*wire) + wire->length;
    error = sockets_wire_flush(writer, fd);
    return error == -EAGAIN ? 0 : error;
}
