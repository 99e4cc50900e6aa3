/* SPDX-License-Identifier: BSD-3-Clause
 *
 * position.c - where in its byte stream a TCP connection is.
 *
 * Sent: the kernel counts the bytes that it transmitted, those that it repeated, and those that
 * wait. Taken: the bytes that arrived in order, without those that wait to be read.  Neither counts
 * SYNs, and a FIN, which would count, is excluded by the state.
 */
#include "upgrade/position.h"
#include "real/real.h"
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>

enum {
    ESTABLISHED = 1,
    TRIES = 200,
};

static int position(int fd, uint64_t *sent, uint64_t *taken)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);
    int unread, again;

    if (sockets_real.ioctl(fd, SIOCINQ, &unread) < 0 ||
        sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0 ||
        sockets_real.ioctl(fd, SIOCINQ, &again) < 0)
        return -EAGAIN;
    if (unread != again)
        return -EAGAIN;
    if (length < offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(info.tcpi_bytes_retrans) ||
        info.tcpi_state != ESTABLISHED || (info.tcpi_options & TCPI_OPT_SYN_DATA))
        return -EOPNOTSUPP;
    *sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
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
