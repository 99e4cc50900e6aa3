/* SPDX-License-Identifier: BSD-3-Clause
 *
 * listen.h - listeners to which nobody comes by mistake.
 */
#ifndef SOCKETS_TEST_LISTEN_H
#define SOCKETS_TEST_LISTEN_H

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of this machine, at any port but those where the ends of connections between hosts meet: those of
 * another test would come to us.  Writes down where that is; -1: errno says why. */
static inline int listen_anywhere(int flags, int backlog, struct sockaddr_in *address)
{
    enum { FIRST_TO_MEET = 49152, TRIES = 100 };

    for (int i = 0; i < TRIES; i++) {
        const int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
        socklen_t length = sizeof(*address);

        *address =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (fd < 0 || bind(fd, (void *)address, length) < 0 ||
            getsockname(fd, (void *)address, &length) < 0)
            return -1;
        if (ntohs(address->sin_port) < FIRST_TO_MEET)
            return listen(fd, backlog) == 0 ? fd : -1;
        close(fd);
    }
    return -1;
}

#endif
