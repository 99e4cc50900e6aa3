/* SPDX-License-Identifier: BSD-3-Clause
 *
 * owner.c - to which user the other end of a connection belongs.
 *
 * The kernel tells by NETLINK_SOCK_DIAG.  So two users can share rings although either could bind
 * the other's Unix name: only who has the connection can take part.
 */
#include "real/real.h"
#include "upgrade/upgrade.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>

struct query {
    struct nlmsghdr head;
    struct inet_diag_req_v2 req;
};

/* An address and port as inet_diag has them; false for other families. */
static bool diag_address(const struct sockaddr_storage *from, __be32 address[4], __be16 *port)
{
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)from;
        address[0] = in->sin_addr.s_addr;
        *port = in->sin_port;
        return true;
    }
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)from;
        memcpy(address, &in6->sin6_addr, 16);
        *port = in6->sin6_port;
        return true;
    }
    return false;
}

/* The query for the socket whose local end is our peer. */
static bool make_query(int fd, struct query *q)
{
    struct sockaddr_storage ours, theirs;
    socklen_t ours_length = sizeof(ours), theirs_length = sizeof(theirs);

    *q = (struct query){
        .head = {.nlmsg_len = sizeof(*q),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .req = {.sdiag_protocol = IPPROTO_TCP,
                .idiag_states = ~0u,
                .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    if (getsockname(fd, (void *)&ours, &ours_length) < 0 ||
        getpeername(fd, (void *)&theirs, &theirs_length) < 0)
        return false;
    q->req.sdiag_family = (uint8_t)theirs.ss_family;
    return diag_address(&theirs, q->req.id.idiag_src, &q->req.id.idiag_sport) &&
           diag_address(&ours, q->req.id.idiag_dst, &q->req.id.idiag_dport);
}

bool sockets_upgrade_peer_is(int fd, uid_t uid)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg msg;
        char attributes[1024];
    } answer;
    struct query q;
    ssize_t n = -1;
    int diag;

    if (!make_query(fd, &q))
        return false;
    diag = sockets_real.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diag < 0)
        return false;
    if (sockets_real.send(diag, &q, sizeof(q), 0) == (ssize_t)sizeof(q))
        n = sockets_real.recv(diag, &answer, sizeof(answer), MSG_DONTWAIT);
    sockets_real.close(diag);
    return n >= (ssize_t)(sizeof(answer.head) + sizeof(answer.msg)) &&
           answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
           answer.msg.idiag_state == 1 /* established */ && answer.msg.idiag_uid == uid;
}
