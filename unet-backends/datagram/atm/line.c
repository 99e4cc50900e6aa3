/* SPDX-License-Identifier: BSD-3-Clause
 *
 * line.c - cells over a UDP socket.
 */
#include "datagram/atm/cells.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 4 << 20 }; /* of the socket, each way; the kernel may grant less */

/* A number up to 65535, all of the text. */
static bool parse_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long number;

    if (*text < '0' || *text > '9')
        return false;
    number = strtoul(text, &end, 10);
    if (*end != '\0' || number > UINT16_MAX)
        return false;
    *port = htons((uint16_t)number);
    return true;
}

/* `host` may be in brackets. */
static bool parse_address(char *host, uint16_t port, struct datagram_place *place)
{
    const size_t length = strlen(host);

    memset(place, 0, sizeof *place);
    if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        place->ip6.sin6_family = AF_INET6;
        place->ip6.sin6_port = port;
        place->length = sizeof place->ip6;
        return inet_pton(AF_INET6, host + 1, &place->ip6.sin6_addr) == 1;
    }
    place->ip4.sin_family = AF_INET;
    place->ip4.sin_port = port;
    place->length = sizeof place->ip4;
    return inet_pton(AF_INET, host, &place->ip4.sin_addr) == 1;
}

int unet_atm_line_place(const char *text, struct datagram_place *place)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2];
    uint16_t port;

    if (!colon || (size_t)(colon - text) >= sizeof host || !parse_port(colon + 1, &port))
        return -EINVAL;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    return parse_address(host, port, place) ? 0 : -EINVAL;
}

/* None of the options is needed to work, but the errors that name who does not listen: the switch
 * would not learn of a node's death. */
static int line_set_options(struct atm_line *line, int family)
{
    const int bytes = BUFFER_BYTES, on = 1, segment = DATAGRAM_CELL_BYTES;
    const int level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    const int errors = family == AF_INET6 ? IPV6_RECVERR : IP_RECVERR;

    if (setsockopt(line->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(line->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(line->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(line->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    line->whole = setsockopt(line->fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof segment) == 0;
    setsockopt(line->fd, SOL_UDP, UDP_GRO, &on, sizeof on);
    return setsockopt(line->fd, level, errors, &on, sizeof on) == 0 ? 0 : -errno;
}

int unet_atm_line_open(struct atm_line *line, int family)
{
    line->fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return line->fd < 0 ? -errno : line_set_options(line, family);
}

/* The interface, or the way, does not let the kernel cut. */
static bool says_uncut(int error)
{
    return error == EIO || error == EINVAL || error == EMSGSIZE || error == EOPNOTSUPP;
}

static void line_stop_cutting(struct atm_line *line)
{
    const int none = 0;

    setsockopt(line->fd, SOL_UDP, UDP_SEGMENT, &none, sizeof none);
    line->whole = false;
}

size_t unet_atm_line_send(struct atm_line *line, const struct datagram_place *to,
                          const uint8_t *cells, size_t length)
{
    size_t at = 0;

    while (at < length) {
        const size_t most = line->whole ? LINE_MOST : DATAGRAM_CELL_BYTES;
        const size_t bytes = length - at < most ? length - at : most;

        if (sendto(line->fd, cells + at, bytes, 0, to ? &to->any : NULL, to ? to->length : 0) >= 0)
            at += bytes;
        else if (line->whole && bytes > DATAGRAM_CELL_BYTES && says_uncut(errno))
            line_stop_cutting(line);
        else if (errno != EINTR)
            break;
    }
    return at;
}
