/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ends.h - between which two ends a connection is, as both of them see it.
 */
#ifndef SOCKETS_ENDS_H
#define SOCKETS_ENDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { SOCKETS_END = 18 }; /* bytes: an IPv6 address, and a port in network order */

struct sockets_ends {
    struct sockaddr_storage ours, theirs;
    uint8_t end[2][SOCKETS_END]; /* of the connecting and the accepting side */
};

/* False: it is not connected, or of another family than IP. */
bool sockets_ends_of(int fd, bool is_server, struct sockets_ends *ends);

#endif
