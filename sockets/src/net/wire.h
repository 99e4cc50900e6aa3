/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.h - the messages of a link.
 */
#ifndef SOCKETS_WIRE_H
#define SOCKETS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SOCKETS_WIRE_BYTES = 4096, /* of the ring in one message, at most */
};

/* As it travels, in the byte order of machines that unet_abi.h allows; `length` bytes follow. */
struct sockets_wire {
    uint32_t lane; /* of the receiver (road.h); by the control connection it has no meaning */
    uint32_t zero;
    uint16_t length;
    uint16_t flags; /* enum sockets_wire_flag */
    /* The sender's half of a direction. */
    uint32_t phase, bells;
    uint32_t taken_in; /* messages taken from the other end so far */
    uint64_t sent;
    uint64_t offset; /* of the bytes that follow, in the ring's stream */
    /* The receiver's half of the other one. */
    uint32_t lets;
    uint32_t seen; /* the phase that was taken in */
    uint64_t head, taken;
    uint64_t arrived; /* bytes of the ring's stream */
};

enum sockets_wire_flag {
    SOCKETS_WIRE_FIN = 1 << 0,
    SOCKETS_WIRE_ARMED = 1 << 1,
    SOCKETS_WIRE_WANT_TCP = 1 << 2,
    SOCKETS_WIRE_GONE = 1 << 3,
    SOCKETS_WIRE_RECALL = 1 << 4,
    SOCKETS_WIRE_HEARD = 1 << 5,    /* of the other end's recall, before the phase was taken */
    SOCKETS_WIRE_RETURNED = 1 << 6, /* the ring of the phase before goes by TCP once more */
    SOCKETS_WIRE_RESTS = 1 << 7,    /* the receiver sleeps in the kernel until it says otherwise */
    SOCKETS_WIRE_TCP = 1 << 8,      /* and the other end shall do the same (judge.h) */
    SOCKETS_WIRE_LOOKS = 1 << 9,    /* the receiver looks at memory while it waits */
    SOCKETS_WIRE_FLAGS = (1 << 10) - 1,
    /* Those of the sender's half. */
    SOCKETS_WIRE_SENDER = SOCKETS_WIRE_FIN | SOCKETS_WIRE_HEARD | SOCKETS_WIRE_RETURNED,
};

/* Whether a message of so many bytes can be one. */
bool sockets_wire_is_sound(const struct sockets_wire *wire, size_t bytes);

struct sockets_wire_message {
    struct sockets_wire wire;
    char data[SOCKETS_WIRE_BYTES];
};

/* Messages out of a byte stream, as they come. */
struct sockets_wire_reader {
    size_t have;
    struct sockets_wire_message message;
};

/* Read on.  1: reader->message is whole, and the next call begins another one; 0: not yet;
 * -EPROTO, -EPIPE: the stream has ended, or another -errno. */
int sockets_wire_read(struct sockets_wire_reader *reader, int fd);

/* Messages into a byte stream, as it takes them: what it has not taken of the last one. */
struct sockets_wire_writer {
    size_t done, bytes;
    struct sockets_wire_message message;
};

static inline bool sockets_wire_is_behind(const struct sockets_wire_writer *writer)
{
    return writer->done < writer->bytes;
}

/* Write on.  0: the stream has taken all; -EAGAIN: not yet; or another -errno. */
int sockets_wire_flush(struct sockets_wire_writer *writer, int fd);

/* Write a message behind the last one.  0: it will be taken, by calls of _flush if need be;
 * -EAGAIN: the last one has not been; or another -errno.  Never blocks. */
int sockets_wire_write(struct sockets_wire_writer *writer, int fd, const struct sockets_wire *wire,
                       const void *data);

#endif
