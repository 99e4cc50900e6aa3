/* SPDX-License-Identifier: BSD-3-Clause
 *
 * client.c - connections: who may, and the messages that stand for the module's ioctls.
 *
 * A connection is an endpoint as an open file of /dev/unet is one.  Each message is answered at
 * once or never, and no answer is waited for: a client that does not read its answers is ended.
 *
 * What was in the send queue goes first when a channel or the endpoint is closed, but in its turn:
 * closing is done when the queue is empty, or one lap of it was taken.
 */
#include "unetni/unetni.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- answering ------------------------------------------------------------------------------ */

static bool answer_with(int connection, const struct unet_service_message *message, const int *file)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(UNET_SERVICE_FILES * sizeof(int))];
    } control = {0};
    struct iovec iov = {(void *)(uintptr_t)message, sizeof *message};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};

    if (file) {
        control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(UNET_SERVICE_FILES * sizeof(int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.align), file, UNET_SERVICE_FILES * sizeof(int));
        header.msg_control = &control;
        header.msg_controllen = sizeof control;
    }
    return sendmsg(connection, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *message;
}

/* False: the client does not read. */
static bool answer(const struct unetni_endpoint *ep, struct unet_service_message *message,
                   int result)
{
    message->result = result;
    return answer_with(ep->connection, message, NULL);
}

/* ---- creating -------------------------------------------------------------------------------- */

static int check_wish(const struct unetni_service *s, const struct unetni_endpoint *ep,
                      const struct unet_fe_create *wish)
{
    if (ep->created)
        return -EBUSY;
    if (wish->version != UNET_FE_VERSION)
        return -EPROTO;
    if (memchr(wish->interface, '\0', sizeof wish->interface) == NULL)
        return -EINVAL;
    if (wish->interface[0] && strcmp(wish->interface, s->wire.interface) != 0)
        return -ENODEV;
    return wish->port == 0 ? 0 : -EACCES; /* the service says which */
}

static int take_port(struct unetni_service *s, struct unetni_endpoint *ep)
{
    for (unsigned i = 0; i < UNETNI_PORTS - UNET_FRAME_SOCKET_PORTS; i++) {
        const uint16_t port = (uint16_t)(s->next_port++ | UNET_FRAME_SOCKET_PORTS);
        int error;

        if (s->port[port])
            continue;
        error = s->wire.ops->take_port(&s->wire, port, &ep->lock);
        if (error == 0) {
            ep->layout.port = port;
            s->port[port] = ep;
        }
        if (error != -EADDRINUSE)
            return error;
    }
    return -EADDRNOTAVAIL;
}

/* The client gets an end to write to, for it rings its own bell, too; but a file of its own:
 * whoever shares ours could make writing block. */
static int open_bell(struct unetni_endpoint *ep, int file[UNET_SERVICE_FILES])
{
    char name[32];
    int end[2];

    if (pipe2(end, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    ep->bell = end[1];
    file[1] = end[0];
    snprintf(name, sizeof name, "/proc/self/fd/%d", end[1]);
    file[2] = open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    return file[2] < 0 ? -errno : 0;
}

static void describe(const struct unetni_service *s, const struct unetni_endpoint *ep,
                     struct unet_fe_create *layout)
{
    layout->port = ep->layout.port;
    layout->packet_bytes = s->wire.message_most;
    layout->pad = 0;
    memcpy(layout->mac, s->wire.own, sizeof layout->mac);
    memcpy(layout->interface, s->wire.interface, sizeof layout->interface);
}

static int make_endpoint(struct unetni_service *s, struct unetni_endpoint *ep,
                         struct unet_service_message *message, int file[UNET_SERVICE_FILES])
{
    int error = check_wish(s, ep, &message->create);

    if (error)
        return error;
    file[0] = unetni_area_make(s, ep, message);
    if (file[0] < 0)
        return file[0];
    error = open_bell(ep, file);
    if (error == 0)
        error = take_port(s, ep);
    if (error) {
        unetni_area_free(ep);
        return error;
    }
    describe(s, ep, &message->create);
    ep->created = true;
    unetni_schedule_wake(s, ep);
    return 0;
}

/* One attempt for each connection: who has failed may only close it. */
static bool create(struct unetni_service *s, struct unetni_endpoint *ep,
                   struct unet_service_message *message)
{
    int file[UNET_SERVICE_FILES] = {-1, -1, -1};
    bool good;

    message->result = make_endpoint(s, ep, message, file);
    good = answer_with(ep->connection, message, message->result == 0 ? file : NULL);
    for (unsigned i = 0; i < UNET_SERVICE_FILES; i++)
        if (file[i] >= 0)
            close(file[i]);
    return good && ep->created;
}

/* ---- closing ------------------------------------------------------------------------------ */

/* Channel 0: all, for the client has gone. */
static void close_when_drained(struct unetni_service *s, struct unetni_endpoint *ep, uint64_t n)
{
    if (!ep->drains)
        s->draining++;
    ep->drains = true;
    ep->drain_most = ep->layout.send_slots;
    ep->closes = n;
    unetni_schedule_wake(s, ep);
}

static bool disconnect(struct unetni_service *s, struct unetni_endpoint *ep,
                       struct unet_service_message *message)
{
    const uint64_t n = message->channel;

    if (!unetni_is_channel(ep, n) || ep->channel[n].state == UNET_CLOSED)
        return answer(ep, message, -EINVAL);
    if (ep->drains)
        return answer(ep, message, -EBUSY);
    close_when_drained(s, ep, n);
    return true;
}

static void drained(struct unetni_service *s, struct unetni_endpoint *ep)
{
    struct unet_service_message message = {.command = UNET_FE_DISCONNECT, .channel = ep->closes};

    ep->drains = false;
    s->draining--;
    if (ep->closes == 0) {
        unetni_client_end(s, ep);
        return;
    }
    unetni_channel_close(s, ep, ep->closes, UNET_CLOSED);
    if (!answer(ep, &message, 0))
        unetni_client_end(s, ep);
}

void unetni_client_drained(struct unetni_service *s)
{
    struct unetni_endpoint *ep, *next;

    for (ep = LIST_FIRST(&s->endpoints); ep; ep = next) {
        next = LIST_NEXT(ep, all);
        if (ep->drains && ep->in_batch == 0 && (ep->drain_most == 0 || !unetni_send_waits(ep)))
            drained(s, ep);
    }
}

void unetni_client_end(struct unetni_service *s, struct unetni_endpoint *ep)
{
    if (ep->drains)
        s->draining--;
    if (ep->created) {
        unetni_send_purge(s, ep);
        unetni_channels_close(s, ep);
        unetni_schedule_forget(s, ep);
        unetni_area_free(ep);
        s->port[ep->layout.port] = NULL;
        s->wire.ops->give_port(&s->wire, ep->layout.port);
    }
    close(ep->connection);
    if (ep->bell >= 0)
        close(ep->bell);
    if (ep->lock >= 0)
        close(ep->lock);
    unetni_user_leave(ep->user);
    LIST_REMOVE(ep, all);
    free(ep);
}

static void leave(struct unetni_service *s, struct unetni_endpoint *ep)
{
    if (!ep->created) {
        unetni_client_end(s, ep);
        return;
    }
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, ep->connection, NULL);
    close_when_drained(s, ep, 0);
}

/* ---- messages ---------------------------------------------------------------------------- */

/* False: the client is to be ended. */
static bool obey(struct unetni_service *s, struct unetni_endpoint *ep,
                 struct unet_service_message *message)
{
    if (message->command == UNET_FE_CREATE)
        return create(s, ep, message);
    if (!ep->created)
        return answer(ep, message, -ENOTCONN);
    switch (message->command) {
    case UNET_FE_CONNECT:
        return answer(ep, message, unetni_channel_connect(s, ep, &message->connect));
    case UNET_FE_DISCONNECT:
        return disconnect(s, ep, message);
    case UNET_FE_TELL:
        unetni_channel_tell(s, ep, message->channel);
        return true;
    case UNET_FE_SEND:
        return true;
    default:
        return answer(ep, message, -EOPNOTSUPP);
    }
}

/* One message, so that other clients have their turns.  Files that come with it are closed by the
 * kernel. */
void unetni_client_serve(struct unetni_service *s, struct unetni_endpoint *ep)
{
    struct unet_service_message message;
    const ssize_t n = recv(ep->connection, &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof message || !obey(s, ep, &message))
        leave(s, ep);
    else if (ep->created)
        unetni_schedule_wake(s, ep);
}

/* ---- accepting --------------------------------------------------------------------------- */

/* Without a file to accept with, the listener would be readable for ever. */
static void accept_and_close(struct unetni_service *s)
{
    int fd;

    close(s->spare);
    fd = accept(s->listener, NULL, NULL);
    if (fd >= 0)
        close(fd);
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct unetni_endpoint *make_client(struct unetni_service *s, int fd)
{
    struct unetni_endpoint *ep = calloc(1, sizeof *ep);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = ep};
    struct ucred who;
    socklen_t length = sizeof who;

    if (!ep)
        return NULL;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0)
        ep->user = unetni_user_join(s, who.uid);
    if (!ep->user || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        if (ep->user)
            unetni_user_leave(ep->user);
        free(ep);
        return NULL;
    }
    ep->connection = fd;
    ep->bell = ep->lock = -1;
    LIST_INSERT_HEAD(&s->endpoints, ep, all);
    return ep;
}

void unetni_client_accept(struct unetni_service *s)
{
    const struct unet_service_message refusal = {.command = UNET_FE_CREATE, .result = -EDQUOT};
    const int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            accept_and_close(s);
        return;
    }
    if (make_client(s, fd))
        return;
    answer_with(fd, &refusal, NULL);
    close(fd);
}
