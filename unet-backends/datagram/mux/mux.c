/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mux.c - what the engine of emulated endpoints wants of a transport.
 */
#include "datagram/mux/mux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- sending and receiving ------------------------------------------------------------ */

static unsigned mux_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++) {
        const struct msghdr *message = &batch->message[i].msg_hdr;
        const struct datagram_place *place = message->msg_name;

        if (!unet_mux_send(place->number, message->msg_iov, message->msg_iovlen, batch->bytes[i]))
            return i > 0 ? i : unet_datagram_no_room(de);
        de->no_room = 0;
    }
    return batch->count;
}

static void mux_say(struct datagram_endpoint *de, const struct datagram_place *to,
                    const struct unet_frame *frame)
{
    const struct iovec iov = {(void *)frame, sizeof *frame};

    (void)de;
    unet_mux_send(to->number, &iov, 1, sizeof *frame);
}

static struct datagram_place mux_place(uint32_t number)
{
    struct datagram_place place;

    memset(&place, 0, sizeof place); /* the holes, too */
    place.number = number;
    place.length = sizeof place.number;
    return place;
}

static int mux_receive(struct datagram_endpoint *de)
{
    struct mux_frame *frames = unet_mux_take(mux_of(de), &de->ni.ep.stats.overruns);
    int count = 0;

    while (frames) {
        struct mux_frame *frame = frames;
        const struct datagram_place from = mux_place(frame->from);

        unet_datagram_arrived(de, frame->bytes, frame->length, &from);
        frames = frame->next;
        free(frame);
        count++;
    }
    return count;
}

static void mux_probe(struct datagram_endpoint *de, const uint16_t *asked, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct datagram_link *link = &de->link[asked[i]];

        if (!unet_mux_is_there(link->peer.number, link->peer_port))
            unet_datagram_gone(de, asked[i]);
    }
}

/* ---- opening ----------------------------------------------------------------------------- */

static int epoll_watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/* What it sleeps on: the real endpoint, and its own inbox. */
static int mux_open_bells(struct mux_endpoint *me)
{
    int error;

    me->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (me->bell < 0)
        return -errno;
    me->de.socket = epoll_create1(EPOLL_CLOEXEC);
    if (me->de.socket < 0)
        return -errno;
    error = epoll_watch(me->de.socket, me->bell);
    return error ? error : epoll_watch(me->de.socket, unet_mux_fd());
}

static void mux_set_address(struct datagram_endpoint *de)
{
    struct mux_address own = {.port = de->port, .nonce = de->nonce};

    own.length = unet_mux_address(own.real);
    unet_ni_set_address(&de->ni, &own, sizeof own);
}

static int mux_bind(struct datagram_endpoint *de)
{
    struct mux_endpoint *me = mux_of(de);
    int error;

    me->bell = -1;
    error = unet_mux_join(me);
    if (error)
        return error;
    de->message_most = unet_mux_message_most() - (uint32_t)sizeof(struct unet_frame);
    de->ni.ep.packet_bytes = de->message_most;
    mux_set_address(de);
    return mux_open_bells(me);
}

static void mux_unbind(struct datagram_endpoint *de)
{
    struct mux_endpoint *me = mux_of(de);

    if (de->port == 0)
        return; /* it has not even joined */
    unet_mux_leave(me);
    if (de->socket >= 0)
        close(de->socket);
    if (me->bell >= 0)
        close(me->bell);
}

static int mux_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                       struct datagram_link *link, uint64_t *nonce)
{
    struct mux_address peer;
    uint32_t number;
    int error;

    (void)de;
    if (address->length != sizeof peer)
        return -EADDRNOTAVAIL;
    memcpy(&peer, address->bytes, sizeof peer);
    if (peer.port == 0 || peer.length == 0 || peer.length > MUX_REAL_MOST)
        return -EADDRNOTAVAIL;
    error = unet_mux_channel(&peer, &number);
    if (error)
        return error;
    link->peer = mux_place(number);
    link->peer_port = peer.port;
    *nonce = peer.nonce;
    return 0;
}

/* What comes to the real endpoint waits in a ring of its channel there. */
static uint32_t mux_backlog(struct unet_endpoint *ep, uint32_t length)
{
    (void)length;
    return ep->config.recv_slots / 4 * 3;
}

static const struct unet_datagram_ops mux_datagram_ops = {
    .attach = unet_datagram_attach,
    .send = unet_datagram_send_packets,
    .backlog = mux_backlog,
    .host = unet_datagram_no_host,
};

static const struct datagram_transport mux_transport = {
    .ops = &unet_mux_ops,
    .endpoint_bytes = sizeof(struct mux_endpoint),
    .bind = mux_bind,
    .unbind = mux_unbind,
    .resolve = mux_resolve,
    .name_opening = unet_datagram_name_opening,
    .send = mux_send,
    .say = mux_say,
    .receive = mux_receive,
    .probe = mux_probe,
};

static int mux_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_datagram_open(&mux_transport, config, endpoint);
}

#define MUX_PURPOSE                                                                                \
    "mux is several endpoints on one of another network, which UNET_MUX_BACKEND names (udp, eth; " \
    "by default fe); who needs one alone needs no mux"

static const struct unet_remedy mux_remedies[] = {
    {-ENODEV, MUX_PURPOSE}, {-EINVAL, MUX_PURPOSE}, {0, NULL}};

const struct unet_ops unet_mux_ops = {
    .name = "mux",
    .network = true,
    .remedies = mux_remedies,
    .open = mux_open,
    .close = unet_datagram_close,
    .address = unet_ni_address,
    .connect = unet_datagram_connect,
    .disconnect = unet_datagram_disconnect,
    .state = unet_datagram_state,
    .kick = unet_datagram_kick,
    .progress = unet_datagram_progress,
    .wait = unet_ni_wait,
    .datagrams = &mux_datagram_ops,
};
