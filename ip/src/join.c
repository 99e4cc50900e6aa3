/* SPDX-License-Identifier: BSD-3-Clause
 *
 * join.c - a program joins the network of a gateway.
 */
#include "src/join.h"

#include <errno.h>
#include <ip/ip.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_S = 5 };

static int join_socket(const char *path)
{
    const struct timeval limit = {.tv_sec = ANSWER_S};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd, result;

    if (strlen(path) >= sizeof to.sun_path)
        return -ENAMETOOLONG;
    strcpy(to.sun_path, path);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    result = -errno;
    close(fd);
    return result;
}

static int join_ask(int fd, struct unet_endpoint *ep, struct ip_join_reply *reply)
{
    struct ip_join_request request = {.magic = IP_JOIN_MAGIC};
    ssize_t length;

    unet_address(ep, &request.endpoint);
    if (send(fd, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
        return -errno;
    length = recv(fd, reply, sizeof *reply, 0);
    if (length < 0)
        return errno == EAGAIN ? -ETIMEDOUT : -errno;
    if (length == 0)
        return -ECONNREFUSED;
    if (length != (ssize_t)sizeof *reply || reply->magic != IP_JOIN_MAGIC ||
        reply->endpoint.length > UNET_ADDRESS_MAX || reply->error < 0)
        return -EPROTO;
    return -reply->error;
}

int ip_gateway_join(struct unet_endpoint *ep, const char *path, struct ip_gateway *gateway)
{
    const int fd = join_socket(path);
    struct ip_join_reply reply;
    uint16_t channel = 0;
    int result;

    if (fd < 0)
        return fd;
    result = join_ask(fd, ep, &reply);
    if (result == 0)
        result = unet_connect(ep, &reply.endpoint, reply.tag, &channel);
    if (result < 0) {
        close(fd);
        return result;
    }
    *gateway = (struct ip_gateway){
        .fd = fd, .channel = channel, .address = {reply.address}, .mtu = reply.mtu};
    return 0;
}

void ip_gateway_leave(struct ip_gateway *gateway)
{
    close(gateway->fd);
    gateway->fd = -1;
}
