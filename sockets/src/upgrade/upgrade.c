/* SPDX-License-Identifier: BSD-3-Clause
 *
 * upgrade.c - how the two ends of a connection find each other and get their rings.
 */
#include "upgrade/upgrade.h"
#include "epoll/epoll.h"
#include "real/hidden.h"
#include "real/real.h"
#include "upgrade/position.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

enum {
    DEFAULT_OPS = 4,
    RANDOM_OPS = 16,
    TRIES = 12,      /* until a peer counts as foreign */
    PENDING = 64,    /* rendezvous of this process at a time: each takes a descriptor */
    SEGMENT_MS = 20, /* a peer that has come makes its segment meanwhile */
    NEVER = ~0u,
};

static uint32_t first_ops = DEFAULT_OPS;
static bool random_ops;

/* The streams that wait for their peers, and a count of them. */
static struct sockets_stream *_Atomic waiting[PENDING];
static _Atomic int pending;

void sockets_upgrade_init(void)
{
    const char *text = getenv("UNETSOCK_UPGRADE");
    char *end;

    if (!text || !*text)
        return;
    if (strcmp(text, "random") == 0) {
        random_ops = true;
        return;
    }
    const unsigned long ops = strtoul(text, &end, 10);
    if (!*end && ops > 0 && ops < NEVER)
        first_ops = (uint32_t)ops;
}

/* ---- names ------------------------------------------------------------------------ */

/* An end as 16 bytes of IPv6 address and a port; false for other families. */
static bool end_of(const struct sockaddr_storage *from, uint8_t end[18])
{
    memset(end, 0, 18);
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)from;
        end[10] = end[11] = 0xff;
        memcpy(end + 12, &in->sin_addr, 4);
        memcpy(end + 16, &in->sin_port, 2);
        return true;
    }
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)from;
        memcpy(end, &in6->sin6_addr, 16);
        memcpy(end + 16, &in6->sin6_port, 2);
        return true;
    }
    return false;
}

static bool is_ipv4_loopback(const uint8_t end[18])
{
    static const uint8_t prefix[13] = {[10] = 0xff, 0xff, 127};

    return memcmp(end, prefix, sizeof(prefix)) == 0;
}

/* The name of a connection.  Returns the address's length, or 0: the peer is elsewhere. */
static socklen_t name_of(const struct sockets_stream *s, int fd, struct sockaddr_un *name)
{
    struct sockaddr_storage ours, theirs;
    socklen_t ours_length = sizeof(ours), theirs_length = sizeof(theirs);
    uint8_t end[2][18]; /* of the connecting and the accepting side */
    int n;

    if (getsockname(fd, (void *)&ours, &ours_length) < 0 ||
        getpeername(fd, (void *)&theirs, &theirs_length) < 0 || !end_of(&ours, end[s->is_server]) ||
        !end_of(&theirs, end[!s->is_server]))
        return 0;
    if (memcmp(end[0], end[1], 16) != 0 && !(is_ipv4_loopback(end[0]) && is_ipv4_loopback(end[1])))
        return 0;
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "unetsock-");
    for (size_t i = 0; i < sizeof(end); i++)
        n += snprintf(name->sun_path + 1 + n, sizeof(name->sun_path) - 1 - (size_t)n, "%02x",
                      end[i / 18][i % 18]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* ---- attaching -------------------------------------------------------------------- */

struct attachment {
    struct sockets_stream *s;
    int fd;
    struct sockets_segment *segment;
    bool done;
};

/* What goes by the ring brings no acknowledgement for what went by TCP before; so Nagle's algorithm
 * would hold the next byte back until the delayed one comes, 40 ms later. */
static void send_at_once(struct sockets_stream *s, int fd)
{
    const int one = 1;
    int asked = 0, cork = 1;
    socklen_t length = sizeof(asked);

    if (sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &asked, &length) < 0)
        return;
    atomic_store(&s->record->asked_nodelay, asked != 0);
    length = sizeof(cork);
    if (sockets_real.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
        sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_CORK, &cork, &length) == 0)
        atomic_store(&s->nodelay, cork == 0);
}

static void attach(void *argument)
{
    struct attachment *a = argument;
    socklen_t length = sizeof(a->s->cookie);
    uint64_t sent, taken;

    if (sockets_real.getsockopt(a->fd, SOL_SOCKET, SO_COOKIE, &a->s->cookie, &length) < 0 ||
        sockets_position(a->fd, &sent, &taken) < 0)
        return;
    atomic_store(&a->s->segment, a->segment);
    sockets_stream_attach(a->s, sent, taken);
    send_at_once(a->s, a->fd);
    a->done = true;
}

/* Use the segment if nobody else is in a call of the stream, in this process or another. */
static bool attach_alone(struct sockets_stream *s, int fd, struct sockets_segment *segment)
{
    struct attachment a = {s, fd, segment, false};

    atomic_store(&s->busy, 1);
    if (atomic_load(&s->refs) == 2 && atomic_load(&s->record->holders) == 1)
        sockets_epoll_upgrade(s, attach, &a);
    atomic_store(&s->busy, 0);
    return a.done;
}

static bool is_alone(const struct sockets_stream *s)
{
    return atomic_load(&s->refs) == 2 && atomic_load(&s->record->holders) == 1;
}

/* ---- rendezvous ------------------------------------------------------------------- */

static void keep_rendezvous(struct sockets_stream *s, int listener)
{
    s->rendezvous = sockets_hidden_keep(listener);
    for (int i = 0; s->rendezvous >= 0 && i < PENDING; i++) {
        struct sockets_stream *none = NULL;

        if (!atomic_compare_exchange_strong(&waiting[i], &none, s))
            continue;
        atomic_fetch_add(&pending, 1);
        return;
    }
    sockets_hidden_close(s->rendezvous);
    s->rendezvous = -1;
}

void sockets_upgrade_cancel(struct sockets_stream *s)
{
    const int slot = atomic_exchange(&s->rendezvous, -1);

    if (slot < 0)
        return;
    sockets_hidden_close(slot);
    for (int i = 0; i < PENDING; i++) {
        struct sockets_stream *self = s;

        if (atomic_compare_exchange_strong(&waiting[i], &self, NULL))
            atomic_fetch_sub(&pending, 1);
    }
}

bool sockets_upgrade_make_room(void)
{
    bool any = false;

    for (int i = 0; i < PENDING; i++) {
        struct sockets_stream *s = atomic_load(&waiting[i]);

        if (!s)
            continue;
        sockets_upgrade_cancel(s);
        any = true;
    }
    return any;
}

void sockets_upgrade_after_fork(void)
{
    sockets_upgrade_make_room(); /* the parent has descriptors of its own for them */
}

static void give_up(struct sockets_stream *s, enum sockets_reason why)
{
    sockets_upgrade_cancel(s);
    atomic_store(&s->record->next_try, NEVER);
    if (!s->upgraded)
        atomic_store(&s->record->reason, why);
}

static bool may_share(int unix_fd, int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);

    if (sockets_real.getsockopt(unix_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
        return false;
    return peer.uid == geteuid() || sockets_upgrade_peer_is(fd, peer.uid);
}

/* ---- the accepting side ----------------------------------------------------------------- */

static void invite(struct sockets_stream *s, int fd)
{
    struct sockaddr_un name;
    const socklen_t length = name_of(s, fd, &name);
    int listener;

    if (length == 0) {
        give_up(s, SOCKETS_REMOTE);
        return;
    }
    if (atomic_load(&pending) >= PENDING)
        return;
    listener = sockets_real.socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return;
    if (bind(listener, (void *)&name, length) < 0 || listen(listener, 1) < 0) {
        sockets_real.close(listener);
        give_up(s, SOCKETS_FOREIGN);
        return;
    }
    keep_rendezvous(s, listener);
}

static int receive_fd(int from)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    struct pollfd soon = {.fd = from, .events = POLLIN};
    struct cmsghdr *c;
    int fd;

    if (sockets_real.poll(&soon, 1, SEGMENT_MS) != 1 ||
        sockets_real.recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1 ||
        !(c = CMSG_FIRSTHDR(&msg)) || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN(sizeof(int)))
        return -1;
    memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    return fd;
}

static void take_segment(struct sockets_stream *s, int fd, int from)
{
    struct sockets_segment *segment = NULL;
    int memory;

    if (!may_share(from, fd)) {
        give_up(s, SOCKETS_STRANGER);
        return;
    }
    memory = receive_fd(from);
    if (memory < 0)
        return;
    if (sockets_segment_map(memory, &segment) < 0)
        give_up(s, SOCKETS_FOREIGN);
    else if (!attach_alone(s, fd, segment)) {
        sockets_segment_unmap(segment);
        give_up(s, SOCKETS_SHARED);
    } else
        give_up(s, SOCKETS_UPGRADED);
    sockets_real.close(memory);
}

static void serve(struct sockets_stream *s, int fd)
{
    int from;

    if (s->rendezvous < 0) {
        invite(s, fd);
        return;
    }
    if (!is_alone(s)) /* later: whoever came waits */
        return;
    from = sockets_real.accept4(sockets_hidden_fd(s->rendezvous), NULL, NULL,
                                SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (from < 0)
        return;
    take_segment(s, fd, from);
    sockets_real.close(from);
}

/* ---- the connecting side ---------------------------------------------------------------- */

static bool send_fd(int to, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_len = CMSG_LEN(sizeof(int)),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS}};
    char byte = 0;
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};

    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    return sockets_real.sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

static void offer_segment(struct sockets_stream *s, int fd, int to)
{
    struct sockets_segment *segment;
    int memory;

    if (!may_share(to, fd)) {
        give_up(s, SOCKETS_STRANGER);
        return;
    }
    memory = sockets_segment_make(&segment);
    if (memory < 0) {
        give_up(s, SOCKETS_RESOURCES);
        return;
    }
    if (!attach_alone(s, fd, segment))
        sockets_segment_unmap(segment);
    else if (send_fd(to, memory))
        give_up(s, SOCKETS_UPGRADED);
    else /* it is alone with its rings, which stay empty: TCP goes on */
        give_up(s, SOCKETS_FOREIGN);
    sockets_real.close(memory);
}

static void call(struct sockets_stream *s, int fd)
{
    struct sockaddr_un name;
    const socklen_t length = name_of(s, fd, &name);
    int to;

    if (length == 0) {
        give_up(s, SOCKETS_REMOTE);
        return;
    }
    if (!is_alone(s))
        return;
    to = sockets_real.socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (to < 0)
        return;
    if (sockets_real.connect(to, (void *)&name, length) == 0)
        offer_segment(s, fd, to);
    sockets_real.close(to);
}

/* ---- steps ------------------------------------------------------------------------ */

/* Soon at first, then less and less often. */
static void plan_next(struct sockets_record *record, uint32_t ops)
{
    const uint32_t tries = atomic_fetch_add(&record->tries, 1) + 1;
    const uint32_t pause = tries < 5 ? 1 : 1u << (tries - 4);

    atomic_store(&record->next_try, ops + pause);
}

static uint32_t first_try(void)
{
    uint32_t t = (uint32_t)(uintptr_t)&t;

    return random_ops ? 1 + (t / 64 + (uint32_t)clock()) % RANDOM_OPS : first_ops;
}

static void step(struct sockets_stream *s, int fd, uint32_t ops)
{
    struct sockets_record *record = s->record;

    if (atomic_load(&record->pinned)) {
        give_up(s, SOCKETS_PINNED);
        return;
    }
    if (atomic_load(&record->holders) != 1) {
        atomic_store(&record->reason, SOCKETS_SHARED);
        plan_next(record, ops);
        return;
    }
    if (atomic_load(&record->tries) >= TRIES) {
        give_up(s, SOCKETS_FOREIGN);
        return;
    }
    plan_next(record, ops);
    if (s->is_server)
        serve(s, fd);
    else
        call(s, fd);
}

void sockets_upgrade_step(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    const uint32_t ops = atomic_fetch_add_explicit(&record->ops, 1, memory_order_relaxed) + 1;
    uint32_t next = atomic_load_explicit(&record->next_try, memory_order_relaxed);
    const int error = errno;

    if (next == 0) {
        next = first_try();
        atomic_store_explicit(&record->next_try, next, memory_order_relaxed);
    }
    if (ops < next)
        return;
    if (!atomic_exchange(&s->stepping, 1)) { /* one thread at a time */
        step(s, fd, ops);
        if (!s->upgraded && atomic_load(&record->reason) == SOCKETS_YOUNG)
            atomic_store(&record->reason, SOCKETS_FOREIGN); /* so far */
        atomic_store(&s->stepping, 0);
    }
    errno = error;
}
