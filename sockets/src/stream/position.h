/* SPDX-License-Identifier: BSD-3-Clause
 *
 * position.h - where in its byte stream a TCP connection is.
 */
#ifndef SOCKETS_POSITION_H
#define SOCKETS_POSITION_H

#include <stdint.h>

/* How many bytes the program has ever written (*sent) and read (*taken).  No other thread may be in
 * a call of the connection.  0; -EOPNOTSUPP: not established, or the kernel is
 * too old to tell; -EAGAIN: data arrives too fast. */
int sockets_position(int fd, uint64_t *sent, uint64_t *taken);

/* The first of the two, also of one whose peer sends nothing any more.  0 or -EOPNOTSUPP. */
int sockets_position_sent(int fd, uint64_t *sent);

/* The bytes that have gone either way so far, more or less; 0 if the kernel does not tell. */
struct sockets_traffic {
    uint64_t sent, received;
};
struct sockets_traffic sockets_position_traffic(int fd);

#endif
