/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.c - options that a socket has from before it was a connection of ours.
 */
#include "real/real.h"
#include "upgrade/upgrade.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/time.h>

bool sockets_upgrade_needs_tcp(int fd)
{
    static const struct {
        int level, name, most;
    } options[] = {
        {SOL_SOCKET, SO_RCVLOWAT, 1},           {SOL_SOCKET, SO_ZEROCOPY, 0},
        {SOL_SOCKET, SO_TIMESTAMP, 0},          {SOL_SOCKET, SO_TIMESTAMPNS, 0},
        {SOL_SOCKET, SO_TIMESTAMPING, 0},       {IPPROTO_TCP, TCP_REPAIR, 0},
        {IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        int value[2] = {0}; /* some kernels tell more of SO_TIMESTAMPING */
        socklen_t length = sizeof(value);

        if (sockets_real.getsockopt(fd, options[i].level, options[i].name, value, &length) == 0 &&
            value[0] > options[i].most)
            return true;
    }
    return !sockets_upgrade_is_tcp(fd) || (sockets_real.fcntl(fd, F_GETFL) & O_ASYNC) ||
           sockets_real.fcntl(fd, F_GETSIG) > 0;
}

bool sockets_upgrade_has_limit(int fd)
{
    struct timeval limit = {0};
    socklen_t length = sizeof(limit);

    return sockets_real.getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &length) < 0 ||
           limit.tv_sec != 0 || limit.tv_usec != 0;
}

bool sockets_upgrade_is_tcp(int fd)
{
    int protocol;
    socklen_t length = sizeof(protocol);

    return sockets_real.getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 &&
           protocol == IPPROTO_TCP;
}
