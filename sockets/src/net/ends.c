/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ends.c - between which two ends a connection is.
 */
#include "net/ends.h"
#include <netinet/in.h>
#include <string.h>

/* An end as 16 bytes of IPv6 address and a port; false for other families. */
static bool end_of(const struct sockaddr_storage *from, uint8_t end[SOCKETS_END])
{
    memset(end, 0, SOCKETS_END);
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)from;
        end[10] = end[11] = 0xff;
        memcpy(end + 12, &in->sin_addr, 4);
        memcpy(end + 16, &in->sin_port, 2);
        return true;
    }
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)from;
        memcpy(end, &in6->sin6_addr, 16);
        memcpy(end + 16, &in6->sin6_port, 2);
        return true;
    }
    return false;
}

bool sockets_ends_of(int fd, bool is_server, struct sockets_ends *ends)
{
    socklen_t ours = sizeof(ends->ours), theirs = sizeof(ends->theirs);

    return getsockname(fd, (void *)&ends->ours, &ours) == 0 &&
           getpeername(fd, (void *)&ends->theirs, &theirs) == 0 &&
           end_of(&ends->ours, ends->end[is_server]) &&
           end_of(&ends->theirs, ends->end[!is_server]);
}
