/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.c - opening: the kernel's UDP stack is the network interface.
 */
#include "datagram/udp/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

enum { DATAGRAM_OVERHEAD = 768 }; /* of the kernel's, however short it is */

/* The question itself makes the network report that nobody listens.  And whoever looks for peers
 * wants all that they have said. */
static void udp_probe(struct datagram_endpoint *de, const uint16_t *asked, unsigned count)
{
    (void)asked;
    (void)count;
    unet_udp_read_errors(de);
    udp_of(de)->skip = 0;
}

static int udp_bind(struct datagram_endpoint *de)
{
    struct udp_endpoint *ue = udp_of(de);
    const uint32_t header = sizeof(struct unet_frame);
    int none = 0, error;

    for (unsigned i = 0; i < UDP_SOCKETS; i++)
        ue->socket[i].fd = -1;
    ue->epoll = -1;
    ue->sample_sends = ue->until_sample = UDP_SAMPLE_FIRST;
    ue->alone = true;
    error = unet_udp_open_arrivals(ue);
    if (error == 0)
        error = unet_udp_open_socket(ue);
    if (error)
        return error;
    ue->socket[0].fd = de->socket;
    ue->segments = setsockopt(de->socket, SOL_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
    de->message_most = UDP_PAYLOAD_MAX - header;
    de->ni.ep.packet_bytes = ue->datagram_most - header;
    return 0;
}

static void udp_unbind(struct datagram_endpoint *de)
{
    unet_udp_close_connected(udp_of(de));
    if (de->socket >= 0)
        close(de->socket);
    unet_udp_close_arrivals(udp_of(de));
}

/* Who takes in arrivals past the queues has no use for upcalls, which want to hear of one socket.
 */
static void udp_attach(struct unet_endpoint *ep, unet_packet_fn *fn, void *arg)
{
    unet_datagram_attach(ep, fn, arg);
    unet_udp_allow_connected(udp_of(datagram_of(ep)));
}

/* The socket's buffer counts what the kernel keeps beside a datagram's bytes, too: it is said to be
 * twice as long as it was asked to be for that. */
static uint32_t udp_backlog(struct unet_endpoint *ep, uint32_t length)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;

    if (getsockopt(datagram_of(ep)->socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size) < 0)
        return 1;
    return 1 + (uint32_t)bytes / (2 * length + DATAGRAM_OVERHEAD);
}

static int udp_host(const struct unet_endpoint *ep, struct sockaddr_storage *host)
{
    const struct datagram_endpoint *de = (const struct datagram_endpoint *)ep;
    union unet_sockaddr own = {0};
    socklen_t length = sizeof own;

    if (getsockname(de->socket, &own.any, &length) < 0)
        return -errno;
    if (own.any.sa_family == AF_INET)
        own.ip4.sin_port = 0;
    else
        own.ip6.sin6_port = 0;
    memcpy(host, &own, sizeof own);
    return 0;
}

static const struct unet_datagram_ops udp_datagram_ops = {
    .attach = udp_attach,
    .send = unet_datagram_send_packets,
    .backlog = udp_backlog,
    .host = udp_host,
};

static const struct datagram_transport udp_transport = {
    .ops = &unet_udp_ops,
    .endpoint_bytes = sizeof(struct udp_endpoint),
    .bind = udp_bind,
    .unbind = udp_unbind,
    .resolve = unet_udp_resolve,
    .name_opening = unet_datagram_name_opening,
    .send = unet_udp_send,
    .say = unet_datagram_say,
    .receive = unet_udp_receive,
    .probe = udp_probe,
};

static int udp_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_datagram_open(&udp_transport, config, endpoint);
}

#define UDP_PLACES UNET_INTERFACE_NAMES "an address, a network or an interface of every node"

static const struct unet_remedy udp_remedies[] = {
    {-EADDRNOTAVAIL, UDP_PLACES},
    {-EINVAL, UDP_PLACES},
    {-EADDRINUSE, "all UDP ports there have owners: end some (ss -uanp), or widen "
                  "net.ipv4.ip_local_port_range (sysctl)"},
    {0, NULL}};

const struct unet_ops unet_udp_ops = {
    .name = "udp",
    .network = true,
    .remedies = udp_remedies,
    .open = udp_open,
    .close = unet_datagram_close,
    .address = unet_ni_address,
    .connect = unet_datagram_connect,
    .disconnect = unet_datagram_disconnect,
    .state = unet_datagram_state,
    .kick = unet_datagram_kick,
    .progress = unet_datagram_progress,
    .wait = unet_ni_wait,
    .datagrams = &udp_datagram_ops,
};
