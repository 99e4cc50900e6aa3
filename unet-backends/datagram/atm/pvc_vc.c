/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pvc_vc.c - VCs, and the numbers of channels.
 */
#include "datagram/atm/pvc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/un.h>
#include <unistd.h>

/* The lower node's port counts more; a node's endpoint with itself has both the same. */
uint32_t unet_pvc_vci(uint32_t node, uint32_t port, uint32_t peer_node, uint32_t peer_port)
{
    const bool lower = node < peer_node;

    return ATM_VCI_USER + (lower ? port : peer_port) * PVC_PORTS + (lower ? peer_port : port);
}

int unet_pvc_claim(struct pvc_endpoint *pe)
{
    const uint32_t node = pe->settings.node;
    uint32_t port;
    uint16_t random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -EIO;
    port = random % PVC_PORTS;
    for (int tries = 0; tries < PVC_PORTS; tries++, port = (port + 1) % PVC_PORTS) {
        pe->claim =
            unet_pvc_kernel->open(&pe->settings, node, unet_pvc_vci(node, port, node, port));
        if (pe->claim >= 0) {
            pe->de.port = (uint16_t)port;
            return 0;
        }
        if (pe->claim != -EADDRINUSE)
            return pe->claim;
    }
    return -EADDRNOTAVAIL;
}

struct pvc_vc *unet_pvc_find(const struct pvc_endpoint *pe, const struct datagram_place *place)
{
    return pe->by_place[place->number];
}

static void vc_free(struct pvc_vc *vc)
{
    if (vc->fd >= 0)
        close(vc->fd);
    free(vc->in.buffer);
    free(vc);
}

/* An endpoint's channels to itself do not go by the adapter, nor does the kernel open one VC twice:
 * a Unix socket that is connected to itself, so that nobody else can send to it. */
static int loop_open(void)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    socklen_t length = sizeof place;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error;

    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&place, sizeof place.sun_family) == 0 && /* a free name */
        getsockname(fd, (struct sockaddr *)&place, &length) == 0 &&
        connect(fd, (struct sockaddr *)&place, length) == 0)
        return fd;
    error = -errno;
    close(fd);
    return error;
}

static int vc_open_socket(struct pvc_endpoint *pe, struct pvc_vc *vc)
{
    const uint32_t node = vc->place.number >> 8, port = vc->place.number & 255;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = vc};

    if (node == pe->settings.node)
        vc->fd = loop_open();
    else
        vc->fd = unet_pvc_kernel->open(&pe->settings, node,
                                       unet_pvc_vci(pe->settings.node, pe->de.port, node, port));
    if (vc->fd < 0)
        return vc->fd;
    return epoll_ctl(pe->de.socket, EPOLL_CTL_ADD, vc->fd, &event) == 0 ? 0 : -errno;
}

/* VCs stay until the endpoint is closed: a peer may ask later whether a channel is still there. */
static int vc_open(struct pvc_endpoint *pe, const struct datagram_place *place,
                   struct pvc_vc **opened)
{
    struct pvc_vc *vc = calloc(1, sizeof *vc);
    int error;

    if (!vc)
        return -ENOMEM;
    vc->place = *place;
    error = vc_open_socket(pe, vc);
    if (error == 0 && getrandom(&vc->next, sizeof vc->next, 0) != sizeof vc->next)
        error = -EIO;
    if (error) {
        vc_free(vc);
        return error;
    }
    pe->by_place[place->number] = vc;
    pe->only = pe->vcs++ == 0 ? vc : NULL;
    *opened = vc;
    return 0;
}

uint16_t unet_pvc_channel(const struct pvc_endpoint *pe, const struct pvc_vc *vc, unsigned number)
{
    const uint16_t n = vc->channel[number];
    const struct datagram_link *link = &pe->de.link[n];

    return n != 0 && pe->de.ni.ep.channel[n].state != UNET_CLOSED &&
                   link->life % PVC_NUMBERS == number && unet_datagram_same(&link->peer, &vc->place)
               ? n
               : 0;
}

/* What was free the longest is assigned first, so that late messages find nobody. */
static unsigned number_assign(const struct pvc_endpoint *pe, struct pvc_vc *vc, uint16_t n)
{
    for (int tries = 0; tries < PVC_NUMBERS; tries++) {
        const unsigned number = vc->next++ % PVC_NUMBERS;

        if (number == 0 || unet_pvc_channel(pe, vc, number) != 0)
            continue;
        vc->channel[number] = n;
        return number;
    }
    return 0;
}

int unet_pvc_name_opening(struct datagram_endpoint *de, uint16_t n, struct datagram_link *link)
{
    struct pvc_endpoint *pe = pvc_of(de);
    struct pvc_vc *vc = unet_pvc_find(pe, &link->peer);
    uint32_t random;
    unsigned number;
    int error;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -EIO;
    if (!vc) {
        error = vc_open(pe, &link->peer, &vc);
        if (error)
            return error;
    }
    number = number_assign(pe, vc, n);
    if (number == 0)
        return -ENOSPC;
    link->life = random / PVC_NUMBERS * PVC_NUMBERS + number;
    return 0;
}

void unet_pvc_await_room(struct pvc_endpoint *pe, struct pvc_vc *vc, bool waits)
{
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.ptr = vc};

    if (vc->waits == waits || vc->fd < 0)
        return;
    vc->waits = waits;
    epoll_ctl(pe->de.socket, EPOLL_CTL_MOD, vc->fd, &event);
}

void unet_pvc_end(struct pvc_endpoint *pe, struct pvc_vc *vc)
{
    close(vc->fd);
    vc->fd = -1;
    for (uint32_t n = 1; n < pe->de.ni.ep.rx_rings; n++)
        if (unet_datagram_same(&pe->de.link[n].peer, &vc->place))
            unet_datagram_lost(&pe->de, (uint16_t)n);
}

void unet_pvc_close_all(struct pvc_endpoint *pe)
{
    for (uint32_t i = 0; pe->by_place && i < PVC_PLACES; i++)
        if (pe->by_place[i])
            vc_free(pe->by_place[i]);
    free(pe->by_place);
    if (pe->de.socket >= 0 && pe->claim >= 0) /* opened after that one */
        close(pe->claim);
}
