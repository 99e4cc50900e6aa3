/* SPDX-License-Identifier: BSD-3-Clause
 *
 * upgrade.c - how the two ends of a connection find each other and get their rings.
 */
#include "upgrade/upgrade.h"
#include "epoll/epoll.h"
#include "net/agent.h"
#include "net/ends.h"
#include "net/link.h"
#include "net/meet.h"
#include "real/hidden.h"
#include "real/real.h"
#include "stream/position.h"
#include "upgrade/schedule.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

enum {
    PENDING = 64,     /* rendezvous of this process at a time: each takes a descriptor */
    MEETING_OPS = 16, /* between two looks whether a peer on another host has been met */
    SEGMENT_MS = 20,  /* a peer that has come makes its segment meanwhile */
    NEVER = ~0u,
};

static bool all_by_net; /* for tests: peers on this machine are met as those on others */

/* The streams that wait for their peers, and a count of them. */
static struct sockets_stream *_Atomic waiting[PENDING];
static _Atomic int pending;

static _Atomic int forks; /* under way: nothing is upgraded that the child gets, too */

void sockets_upgrade_init(void)
{
    all_by_net = getenv("UNETSOCK_NET_ALL") != NULL;
    sockets_schedule_init();
}

/* ---- names ------------------------------------------------------------------------ */

static bool is_ipv4_loopback(const uint8_t end[SOCKETS_END])
{
    static const uint8_t prefix[13] = {[10] = 0xff, 0xff, 127};

    return memcmp(end, prefix, sizeof(prefix)) == 0;
}

_Static_assert(1 + sizeof("unetsock-") - 1 + 4 * SOCKETS_END <=
                   sizeof(((struct sockaddr_un *)0)->sun_path),
               "a name has room");

/* The name of a connection.  Returns the address's length, or 0: the peer is elsewhere. */
static socklen_t name_of(const struct sockets_stream *s, int fd, struct sockaddr_un *name)
{
    static const char prefix[] = "unetsock-", digits[] = "0123456789abcdef";
    struct sockets_ends ends;
    uint8_t(*const end)[SOCKETS_END] = ends.end;
    char *to = name->sun_path + 1;

    if (!sockets_ends_of(fd, s->is_server, &ends) || all_by_net)
        return 0;
    if (memcmp(end[0], end[1], 16) != 0 && !(is_ipv4_loopback(end[0]) && is_ipv4_loopback(end[1])))
        return 0;
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(to, prefix, sizeof(prefix) - 1);
    to += sizeof(prefix) - 1;
    for (size_t i = 0; i < sizeof(ends.end); i++) {
        const uint8_t byte = end[i / SOCKETS_END][i % SOCKETS_END];

        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    return (socklen_t)(to - (char *)name);
}

/* ---- attaching -------------------------------------------------------------------- */

struct attachment {
    struct sockets_stream *s;
    int fd;
    struct sockets_segment *segment;
    struct sockets_carrier *carrier; /* or NULL */
    bool done;
};

static void attach(void *argument)
{
    struct attachment *a = argument;
    socklen_t length = sizeof(a->s->cookie);
    uint64_t sent, taken;
    int asked = 0;

    if (sockets_real.getsockopt(a->fd, SOL_SOCKET, SO_COOKIE, &a->s->cookie, &length) < 0 ||
        sockets_position(a->fd, &sent, &taken) < 0)
        return;
    atomic_store(&a->s->segment, a->segment);
    a->s->carrier = a->carrier;
    length = sizeof(asked);
    sockets_real.getsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &asked, &length);
    atomic_store(&a->s->record->asked_nodelay, asked != 0);
    atomic_store(&a->s->record->nonblocking,
                 (sockets_real.fcntl(a->fd, F_GETFL) & O_NONBLOCK) != 0);
    if (sockets_upgrade_has_limit(a->fd))
        sockets_stream_stay_awake(a->s);
    sockets_stream_attach(a->s, sent, taken);
    a->done = true;
}

static bool is_alone(const struct sockets_stream *s)
{
    return atomic_load(&s->refs) == 2 && sockets_record_is_sole(s->record);
}

/* Use the segment if nobody else is in a call of the stream, in this process or another. */
static bool attach_alone(struct sockets_stream *s, int fd, struct sockets_segment *segment,
                         struct sockets_carrier *carrier)
{
    struct attachment a = {s, fd, segment, carrier, false};

    atomic_store(&s->busy, 1);
    if (is_alone(s) && atomic_load(&forks) == 0)
        sockets_epoll_upgrade(s, attach, &a);
    atomic_store(&s->busy, 0);
    return a.done;
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

    if (s->meeting)
        sockets_meet_end(s->meeting);
    s->meeting = NULL;
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

void sockets_upgrade_before_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

void sockets_upgrade_after_fork(bool is_child)
{
    if (!is_child) {
        atomic_fetch_sub(&forks, 1);
        return;
    }
    atomic_store(&forks, 0);
    sockets_upgrade_make_room(); /* the parent has descriptors of its own for them */
}

static void give_up(struct sockets_stream *s, enum sockets_reason why)
{
    sockets_upgrade_cancel(s);
    atomic_store(&s->record->next_try, NEVER);
    if (!s->upgraded)
        atomic_store(&s->record->reason, why);
}

static bool may_share(struct sockets_stream *s, int unix_fd, int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);

    if (sockets_real.getsockopt(unix_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
        return false;
    s->of_our_user = peer.uid == geteuid();
    return s->of_our_user || sockets_upgrade_peer_is(fd, peer.uid);
}

/* ---- a peer on another host ------------------------------------------------------------- */

static void begin_meeting(struct sockets_stream *s, int fd)
{
    struct sockets_ends ends;

    if (atomic_load(&sockets_stream_count) > sockets_link_many) {
        give_up(s, SOCKETS_MANY);
        return;
    }
    if (sockets_meet_is_on() &&
        sockets_schedule_is_one_way(s->record, sockets_position_traffic(fd)))
        return;
    if (sockets_meet_is_on() && sockets_ends_of(fd, s->is_server, &ends))
        s->meeting = sockets_meet_begin(s->is_server, &ends);
    if (!s->meeting)
        give_up(s, SOCKETS_REMOTE);
}

/* Each end has a segment of its own, which the link carries. */
static void attach_link(struct sockets_stream *s, int fd, struct sockets_link *link)
{
    struct sockets_segment *segment;
    const int memory = sockets_segment_make(&segment);

    if (memory >= 0)
        sockets_real.close(memory);
    if (memory >= 0 && attach_alone(s, fd, segment, &link->carrier)) {
        sockets_link_begin(link, s);
        give_up(s, SOCKETS_UPGRADED);
        if (!sockets_agent_add(link))
            sockets_stream_pin(s);
        return;
    }
    if (memory >= 0)
        sockets_segment_unmap(segment);
    sockets_link_free(link);
    sockets_agent_give();
    give_up(s, memory < 0 ? SOCKETS_RESOURCES : SOCKETS_SHARED);
}

static void meet(struct sockets_stream *s, int fd)
{
    struct sockets_link *link;
    int result;

    if (!s->meeting) {
        begin_meeting(s, fd);
        return;
    }
    if (!is_alone(s))
        return;
    result = sockets_meet_result(s->meeting, &link);
    if (all_by_net && result == 0) /* a short program is to see it, too */
        nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
    if (result > 0)
        attach_link(s, fd, link);
    else if (result < 0)
        give_up(s, sockets_meet_reason(s->meeting));
}

/* ---- the accepting side ----------------------------------------------------------------- */

static void invite(struct sockets_stream *s, int fd)
{
    struct sockaddr_un name;
    const socklen_t length = name_of(s, fd, &name);
    int listener;

    if (length == 0) {
        meet(s, fd);
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

    if (!may_share(s, from, fd)) {
        give_up(s, SOCKETS_STRANGER);
        return;
    }
    memory = receive_fd(from);
    if (memory < 0)
        return;
    if (sockets_segment_map(memory, &segment) < 0)
        give_up(s, SOCKETS_FOREIGN);
    else {
        sockets_stream_keep_waker(s, from);
        if (attach_alone(s, fd, segment, NULL)) {
            give_up(s, SOCKETS_UPGRADED);
        } else {
            sockets_segment_unmap(segment);
            sockets_stream_end_waker(s);
            give_up(s, SOCKETS_SHARED);
        }
    }
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
    from = sockets_real.accept4(sockets_hidden_fd(s->rendezvous), NULL, NULL, SOCK_CLOEXEC);
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

    if (!may_share(s, to, fd)) {
        give_up(s, SOCKETS_STRANGER);
        return;
    }
    memory = sockets_segment_make(&segment);
    if (memory < 0) {
        give_up(s, SOCKETS_RESOURCES);
        return;
    }
    sockets_stream_keep_waker(s, to);
    if (!attach_alone(s, fd, segment, NULL)) {
        sockets_segment_unmap(segment);
        sockets_stream_end_waker(s);
    } else if (send_fd(to, memory))
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
        meet(s, fd);
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

static void step(struct sockets_stream *s, int fd, uint32_t ops)
{
    struct sockets_record *record = s->record;
    enum sockets_when when;

    if (sockets_schedule_has_ended()) {
        give_up(s, SOCKETS_PINNED);
        return;
    }
    if (atomic_load(&record->tries) == 0 &&
        sockets_schedule_postpone(record, ops, sockets_position_traffic(fd)))
        return;
    if (atomic_load(&record->tries) == 0 && sockets_upgrade_needs_tcp(fd))
        sockets_stream_pin(s);
    if (atomic_load(&record->pinned)) {
        give_up(s, SOCKETS_PINNED);
        return;
    }
    if (!sockets_record_is_sole(record)) {
        atomic_store(&record->reason, SOCKETS_SHARED);
        sockets_schedule_plan(record, s->is_server, ops);
        return;
    }
    when = s->meeting ? SOCKETS_TRY_NOW : sockets_schedule_ask(record, s->is_server, ops);
    if (when == SOCKETS_TRY_NEVER)
        give_up(s, SOCKETS_FOREIGN);
    if (when != SOCKETS_TRY_NOW)
        return;
    if (s->meeting) /* which ends by itself */
        atomic_store(&record->next_try, ops + (all_by_net ? 1 : MEETING_OPS));
    else
        sockets_schedule_plan(record, s->is_server, ops);
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
        next = sockets_schedule_first();
        atomic_store_explicit(&record->next_try, next, memory_order_relaxed);
    }
    if (ops < next)
        return;
    if (!atomic_exchange(&s->stepping, 1)) { /* one thread at a time */
        step(s, fd, ops);
        if (!s->upgraded && atomic_load(&record->tries) > 0 &&
            atomic_load(&record->reason) == SOCKETS_YOUNG)
            atomic_store(&record->reason,
                         s->meeting ? SOCKETS_SILENT : SOCKETS_FOREIGN); /* so far */
        atomic_store(&s->stepping, 0);
    }
    errno = error;
}
