/* SPDX-License-Identifier: BSD-3-Clause
 *
 * listen.h - listeners to which nobody comes by mistake.
 */
#ifndef SOCKETS_TEST_LISTEN_H
#define SOCKETS_TEST_LISTEN_H

#include <arpa/inet.h>
#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of this machine, at a port that the kernel gives no connection, however many are taken, and at
 * which no ends of connections between hosts meet: those of another test would come to us.  Writes
 * down where that is; -1: errno says why. */
static inline int listen_anywhere(int flags, int backlog, struct sockaddr_in *address)
{
    enum { LOWEST = 10000, PORTS = 20000, TRIES = 100 };
    const int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < TRIES; i++) {
        uint32_t random = 0;

        if (getrandom(&random, sizeof(random), 0) < 0)
            break;
        address->sin_port = htons((uint16_t)(LOWEST + random % PORTS));
        if (bind(fd, (void *)address, sizeof(*address)) == 0 && listen(fd, backlog) == 0)
            return fd;
        if (errno != EADDRINUSE)
            break;
    }
    return -1;
}

#endif
