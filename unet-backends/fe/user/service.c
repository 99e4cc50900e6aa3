/* SPDX-License-Identifier: BSD-3-Clause
 *
 * service.c - the door to the service unetni: messages on a Unix socket.
 *
 * The service is trusted no more than the module would be if it could be somebody else's: the area
 * has to be sealed against shrinking and to contain what the answer says, and every answer has to
 * come in time.  A service that does not keep that has ended, as far as this endpoint goes: its
 * channels are dead.
 */
#include "fe/user/fe.h"

#include "core/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unet/unet_service.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 10 };

/* ---- the connection -------------------------------------------------------------------- */

/* To those above, peers have died; only here is it known that all did at once, and why. */
static void service_say_end(const struct fe_endpoint *fe)
{
    fprintf(stderr,
            "unet: the service unetni of %s has ended, and with it all channels of this process "
            "there; see systemctl status unetni@%s\n",
            fe->ni.ep.interface, fe->ni.ep.interface);
}

static void service_ended(struct fe_endpoint *fe)
{
    struct unet_endpoint *ep = &fe->ni.ep;

    if (fe->ended)
        return;
    fe->ended = true;
    service_say_end(fe);
    if (fe->epoll >= 0) /* or the descriptor would be readable for ever */
        epoll_ctl(fe->epoll, EPOLL_CTL_DEL, fe->fd, NULL);
    for (uint32_t n = 1; n < ep->rx_rings; n++)
        if (ep->channel[n].state == UNET_CONNECTING || ep->channel[n].state == UNET_OPEN)
            unet_ni_set_state(&fe->ni, (uint16_t)n, UNET_DEAD);
}

/* A service that is behind with this client's messages looks at the send queue anyway, and is told
 * of channels again later: those messages may be lost. */
static int service_send(struct fe_endpoint *fe, const struct unet_service_message *message,
                        int flags)
{
    ssize_t n;

    do
        n = send(fe->fd, message, sizeof *message, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *message || (n < 0 && errno == EAGAIN && flags))
        return 0;
    return -ENETDOWN;
}

/* The message is the answer, or the error. */
static int service_receive(struct fe_endpoint *fe, struct unet_service_message *message)
{
    const uint32_t command = message->command;
    ssize_t n;

    do
        n = recv(fe->fd, message, sizeof *message, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *message || message->command != command)
        return -ENETDOWN;
    return message->result;
}

static int service_ask(struct fe_endpoint *fe, struct unet_service_message *message)
{
    int error = fe->ended ? -ENETDOWN : service_send(fe, message, 0);

    if (error == 0)
        error = service_receive(fe, message);
    if (error == -ENETDOWN)
        service_ended(fe);
    return error;
}

static int service_connect(struct fe_endpoint *fe, struct unet_fe_connect *request)
{
    struct unet_service_message message = {.command = UNET_FE_CONNECT, .connect = *request};
    const int error = service_ask(fe, &message);

    if (error)
        return error;
    *request = message.connect;
    return unet_is_channel(&fe->ni.ep, request->channel) ? 0 : -EPROTO;
}

/* Only what unet_ops needs: the service has no ranges. */
static int service_call(struct fe_endpoint *fe, unsigned long command, uintptr_t argument)
{
    struct unet_service_message message = {.command = (uint32_t)command, .channel = argument};
    int error = 0;

    switch (command) {
    case UNET_FE_CONNECT:
        return service_connect(fe, (struct unet_fe_connect *)argument);
    case UNET_FE_DISCONNECT:
        return service_ask(fe, &message);
    case UNET_FE_TELL:
        if (!fe->ended)
            error = service_send(fe, &message, MSG_DONTWAIT);
        if (error)
            service_ended(fe);
        return error;
    default:
        return -EOPNOTSUPP;
    }
}

/* ---- the send queue ------------------------------------------------------------------------ */

/* One ring is enough, so the word is cleared, as the service does when it is there. */
static void service_ring(struct fe_endpoint *fe)
{
    const struct unet_service_message message = {.command = UNET_FE_SEND};

    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* G, matches H in the service */
    if (fe->ended || !__atomic_load_n(fe->asleep, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(fe->asleep, 0, __ATOMIC_RELAXED);
    if (service_send(fe, &message, MSG_DONTWAIT) < 0)
        service_ended(fe);
}

static int service_taken(struct fe_endpoint *fe)
{
    const uint32_t consumed = __atomic_load_n(&fe->ni.ep.tx.shared->consumed, __ATOMIC_ACQUIRE);
    const uint32_t count = consumed - fe->ni.tx.position;

    service_ring(fe);
    return count <= fe->ni.ep.tx.position - fe->ni.tx.position ? (int)count : 0;
}

/* ---- its end ------------------------------------------------------------------------------ */

/* Nothing comes unasked, so whatever can be read is the end of the connection. */
static void service_look(struct fe_endpoint *fe)
{
    char byte;

    if (!fe->ended && !(recv(fe->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN))
        service_ended(fe);
}

static int service_sleep(struct unet_ni *ni, int ms)
{
    struct fe_endpoint *fe = fe_of(&ni->ep);
    struct epoll_event event[2];
    const int n = epoll_wait(fe->epoll, event, 2, ms);

    if (n < 0)
        return -errno;
    if (n > 0) {
        unet_bell_drain(ni->ep.bell[0]);
        service_look(fe);
    }
    return n > 0;
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool service_path(const char *interface, struct sockaddr_un *at)
{
    const char *wish = getenv("UNET_NI_SOCKET");
    int n;

    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (wish)
        n = snprintf(at->sun_path, sizeof at->sun_path, "%s", wish);
    else
        n = snprintf(at->sun_path, sizeof at->sun_path, UNET_SERVICE_FOLDER "/%s", interface);
    return n > 0 && (size_t)n < sizeof at->sun_path;
}

/* A named socket needs no interface: its service has one. */
static int service_find(struct unet_fe_create *wish, struct sockaddr_un *at)
{
    int error = 0;

    if (!getenv("UNET_NI_SOCKET"))
        error = unet_local_interface(unet_local_wish("auto"), wish->interface);
    if (error == 0 && !service_path(wish->interface, at))
        error = -ENAMETOOLONG;
    return error;
}

static int service_reach(struct fe_endpoint *fe, const struct sockaddr_un *at)
{
    const struct timeval patience = {.tv_sec = ANSWER_SECONDS};

    fe->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fe->fd < 0)
        return -errno;
    setsockopt(fe->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fe->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fe->fd, (const struct sockaddr *)at, sizeof *at) == 0)
        return 0;
    return errno == ENOENT || errno == ECONNREFUSED ? -ENODEV : -errno;
}

/* As many as there was room for. */
static void service_close_files(const struct cmsghdr *control)
{
    const size_t count = control ? (control->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

    for (size_t i = 0; i < count; i++)
        close(((const int *)CMSG_DATA(control))[i]);
}

/* The files that come with an answer. */
static int service_take_files(struct msghdr *header, int file[UNET_SERVICE_FILES])
{
    const size_t bytes = UNET_SERVICE_FILES * sizeof(int);
    const struct cmsghdr *control = CMSG_FIRSTHDR(header);

    if (header->msg_flags & MSG_CTRUNC) {
        service_close_files(control);
        return -EMFILE;
    }
    if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
        control->cmsg_len != CMSG_LEN(bytes))
        return -EPROTO;
    memcpy(file, CMSG_DATA(control), bytes);
    return 0;
}

/* A user who has too much is told so unasked, and the connection is closed. */
static int service_create(struct fe_endpoint *fe, struct unet_service_message *message,
                          int file[UNET_SERVICE_FILES])
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(UNET_SERVICE_FILES * sizeof(int))];
    } control;
    struct iovec iov = {message, sizeof *message};
    struct msghdr header = {.msg_iov = &iov,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control};
    ssize_t n;

    service_send(fe, message, 0);
    do
        n = recvmsg(fe->fd, &header, MSG_CMSG_CLOEXEC);
    while (n < 0 && (errno == EINTR || errno == ECONNRESET)); /* told first, and once */
    if (n != (ssize_t)sizeof *message)
        return -ENODEV;
    return message->result ? message->result : service_take_files(&header, file);
}

static bool fits(const struct unet_fe_create *layout, uint64_t at, uint64_t bytes)
{
    return at % sizeof(uint32_t) == 0 && at <= layout->area_bytes &&
           bytes <= layout->area_bytes - at;
}

/* With the sizes that were asked for, and these come back unchanged or are not looked at. */
static bool layout_ok(const struct unet_config *c, const struct unet_service_message *m)
{
    const struct unet_fe_create *l = &m->create;
    const uint64_t receive = unet_ring_bytes(c->recv_slots);

    return fits(l, 0, sizeof(struct unet_fe_shared) + c->channels + 1) &&
           fits(l, m->asleep, sizeof(uint32_t)) &&
           fits(l, l->send, unet_ring_bytes(c->send_slots)) &&
           fits(l, l->errors, unet_ring_bytes(c->send_slots)) &&
           fits(l, l->free, unet_ring_bytes(c->free_slots)) &&
           fits(l, l->segment, c->segment_bytes) && l->receive_stride >= receive &&
           l->receive_stride <= l->area_bytes / c->channels &&
           fits(l, l->receive, l->receive_stride * c->channels) &&
           l->packet_bytes >= UNET_INLINE_MAX && l->packet_bytes <= UNET_MESSAGE_MAX;
}

static bool area_ok(int fd, uint64_t bytes)
{
    struct stat status;

    return fstat(fd, &status) == 0 && (uint64_t)status.st_size >= bytes &&
           (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
}

static int service_watch(struct fe_endpoint *fe, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    return epoll_ctl(fe->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int service_open_bell(struct fe_endpoint *fe)
{
    int error;

    fe->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (fe->epoll < 0)
        return -errno;
    fe->ni.ep.fd = fe->epoll;
    error = service_watch(fe, fe->ni.ep.bell[0]);
    return error ? error : service_watch(fe, fe->fd);
}

static int service_attach(struct fe_endpoint *fe, const struct unet_service_message *answer,
                          int area)
{
    struct unet_endpoint *ep = &fe->ni.ep;
    int error;

    if (!layout_ok(&ep->config, answer) || !area_ok(area, answer->create.area_bytes))
        return -EPROTO;
    error = unet_fe_map(fe, area, 0, &answer->create);
    if (error)
        return error;
    fe->asleep = (uint32_t *)((uint8_t *)fe->shared + answer->asleep);
    for (uint32_t n = 0; n <= ep->config.channels; n++) {
        ep->channel[n].bell = fe->asleep;
        ep->channel[n].fence = true;
    }
    memcpy(ep->interface, answer->create.interface, sizeof answer->create.interface);
    ep->interface[sizeof answer->create.interface - 1] = '\0';
    return ep->config.polled ? 0 : service_open_bell(fe);
}

static void service_keep_bell(struct fe_endpoint *fe, const int file[UNET_SERVICE_FILES])
{
    if (fe->ni.ep.config.polled) {
        close(file[1]);
        close(file[2]);
        return;
    }
    fe->ni.ep.bell[0] = file[1];
    fe->ni.ep.bell[1] = file[2];
}

static int service_open(struct fe_endpoint *fe, struct unet_fe_create *layout)
{
    struct unet_service_message message = {.command = UNET_FE_CREATE};
    struct sockaddr_un at;
    int file[UNET_SERVICE_FILES];
    int error = service_find(layout, &at);

    if (error == 0)
        error = service_reach(fe, &at);
    if (error)
        return error;
    message.create = *layout;
    error = service_create(fe, &message, file);
    if (error)
        return error;
    service_keep_bell(fe, file);
    error = service_attach(fe, &message, file[0]);
    close(file[0]);
    *layout = message.create;
    return error;
}

static void service_close(struct fe_endpoint *fe)
{
    if (fe->epoll >= 0)
        close(fe->epoll);
    if (fe->fd >= 0)
        close(fe->fd);
}

static const struct fe_door service_door = {
    .ops = &unet_ni_ops,
    .kind = {.link_bytes = sizeof(struct unet_link),
             .memory = UNET_NI_NONE,
             .rings = true,
             .retry_ms = 1,
             .look_ms = 100,
             .sleep = service_sleep,
             .tell = unet_fe_tell},
    .capabilities = UNET_CAP_REMOTE,
    .open = service_open,
    .close = service_close,
    .call = service_call,
    .kick = service_ring,
    .service = service_taken,
    .look = service_look,
};

static int ni_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_fe_open(&service_door, config, endpoint);
}

static const struct unet_remedy ni_remedies[] = {
    {-ENODEV, "the service unetni has to run on every node (systemctl start unetni@INTERFACE), "
              "and " UNET_INTERFACE_NAMES "its interface, or UNET_NI_SOCKET its socket"},
    {-EACCES, "who is in the group of the service's socket may use it: see unetni(8)"},
    {-EDQUOT, "the limits of the service (--max-endpoints, --max-megabytes) are too low: see "
              "unetni(8)"},
    {-ENETDOWN, "is the service unetni gone?"},
    {-EPROTO, "the service unetni is of another version: install the same one on every node"},
    {0, NULL}};

const struct unet_ops unet_ni_ops = {
    .name = "ni",
    .network = true,
    .remedies = ni_remedies,
    .open = ni_open,
    .close = unet_fe_close,
    .address = unet_ni_address,
    .connect = unet_fe_connect,
    .disconnect = unet_fe_disconnect,
    .state = unet_fe_state,
    .kick = unet_fe_kick,
    .progress = unet_fe_progress,
    .wait = unet_ni_wait,
};
