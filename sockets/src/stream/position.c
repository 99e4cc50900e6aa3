/* SPDX-License-Identifier: BSD-3-Clause
 *
 * position.c - where in its byte stream a TCP connection is.
 *
 * Sent: the kernel counts the bytes that it transmitted, those that it repeated, and those that
 * wait. Taken: the bytes that arrived in order, without those that wait to be read.  Neither counts
 * SYNs, and a FIN, which would count, is excluded by the state.
 */
#include "stream/position.h"
#include "real/real.h"
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    ESTABLISHED = 1,
    CLOSE_WAIT = 8,
    TRIES = 200,
};

/* Whether the kernel counts what is asked for, of a connection that can still send. */
static bool ask(int fd, struct tcp_info *info)
{
    socklen_t length = sizeof(*info);

    return sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length) == 0 &&
           length >=
               offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(info->tcpi_bytes_retrans) &&
           (info->tcpi_state == ESTABLISHED || info->tcpi_state == CLOSE_WAIT) &&
           !(info->tcpi_options & TCPI_OPT_SYN_DATA);
}

static uint64_t sent_of(const struct tcp_info *info)
{
    return info->tcpi_bytes_sent - info->tcpi_bytes_retrans + info->tcpi_notsent_bytes;
}

int sockets_position_sent(int fd, uint64_t *sent)
{
    struct tcp_info info;

    if (!ask(fd, &info))
        return -EOPNOTSUPP;
    *sent = sent_of(&info);
    return 0;
}

static int position(int fd, uint64_t *sent, uint64_t *taken)
{
    struct tcp_info info;
    int unread, again;

    if (sockets_real.ioctl(fd, SIOCINQ, &unread) < 0)
        return -EAGAIN;
    if (!ask(fd, &info) || info.tcpi_state != ESTABLISHED)
        return -EOPNOTSUPP;
    if (sockets_real.ioctl(fd, SIOCINQ, &again) < 0 || unread != again)
        return -EAGAIN;
    *sent = sent_of(&info);
    *taken = info.tcpi_bytes_received - (uint64_t)unread;
    return 0;
}

int sockets_position(int fd, uint64_t *sent, uint64_t *taken)
{
    int error = -EAGAIN;

    for (int i = 0; error == -EAGAIN && i < TRIES; i++) /* data may arrive between the questions */
        error = position(fd, sent, taken);
    return error;
}

struct sockets_traffic sockets_position_traffic(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    if (sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0 ||
        length < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof(info.tcpi_bytes_sent))
        return (struct sockets_traffic){0};
    return (struct sockets_traffic){info.tcpi_bytes_sent, info.tcpi_bytes_received};
}
