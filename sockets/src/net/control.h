/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control.h - the TCP connection by which two ends meet, and on which a link falls back.
 *
 * Its descriptor is hidden and belongs to the caller (real/hidden.h).
 */
#ifndef SOCKETS_CONTROL_H
#define SOCKETS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    SOCKETS_CONTROL_PORTS = 4, /* any of which somebody else may use */
    SOCKETS_CONTROL_MS = 1000, /* for a step of the other side */
};

/* Listen for a while at the first of these ports that is free.  The descriptor of who comes, who
 * was greeted and may be a stranger, or -1. */
int sockets_control_accept(const struct sockaddr_storage *ours,
                           const uint16_t port[SOCKETS_CONTROL_PORTS], uint64_t greeting);

/* Connect to any of these ports, at which somebody who greets so may listen soon.  A descriptor or
 * -1. */
int sockets_control_connect(const struct sockaddr_storage *theirs,
                            const uint16_t port[SOCKETS_CONTROL_PORTS], uint64_t greeting);

/* Say all of it, which has room in the connection; hear so much, within SOCKETS_CONTROL_MS. */
bool sockets_control_say(int fd, const void *what, size_t bytes);
bool sockets_control_hear(int fd, void *what, size_t bytes);

#endif
