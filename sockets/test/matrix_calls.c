/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matrix_calls: what becomes of connections that are handed to others, that are in unusual sets of
 * epoll, and in programs that use all their descriptors.  It tells what it sees, which has to be
 * the same over plain TCP and over unetsock.
 */
#include "calls.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* "far": what is written has not arrived yet when write returns, as between hosts. */
static bool far;

/* ---- descriptors ---------------------------------------------------------------------- */

/* An accepted connection whose other end the library knows nothing of: it waits for a peer that
 * never comes. */
static void make_lonely(int fd[2])
{
    char byte = 0;

    fd[0] = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    if (syscall(SYS_connect, fd[0], &address, sizeof(address)) < 0 ||
        (fd[1] = accept(listener, NULL, NULL)) < 0)
        die("connect");
    for (int i = 0; i < 3; i++)
        if (syscall(SYS_write, fd[0], &byte, 1) != 1 || read(fd[1], &byte, 1) != 1)
            die("warming up");
}

enum { LONELY = 8, FEW = 64 };

/* In a process of its own, with few descriptors, of which the hard limit leaves some more or not.
 */
static void use_all_descriptors(bool has_room)
{
    const struct rlimit limit = {FEW, has_room ? 2 * FEW : FEW};
    int fd[LONELY][2], copies = 0, copy, sockets = 0, closed = 0;

    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < LONELY; i++)
        make_lonely(fd[i]);
    while ((copy = has_room ? open("/dev/null", O_RDONLY) : dup(listener)) >= 0)
        copies++;
    printf("room %d: %d copies, then %s", has_room, copies, result(copy));
    printf(" %s", result(socket(AF_INET, SOCK_STREAM, 0)));
    printf(" %s", result(accept(listener, NULL, NULL)));
    printf(" %s\n", result(fcntl(listener, F_DUPFD, 3)));
    for (int i = 0; i < 4; i++) /* the last ones */
        close(FEW - 1 - i);
    while (socket(AF_INET, SOCK_STREAM, 0) >= 0)
        sockets++;
    printf("sockets: %d, %s\n", sockets, result(write(fd[0][1], "x", 1)));
    for (int i = 3; i < 4 * FEW; i++)
        closed += close(i) == 0;
    printf("closed: %d\n", closed);
}

/* Everything from 3 on is closed, or replaced, by a process that knows nothing of our descriptors;
 * and goes on. */
static void close_all(int how)
{
    int fd[LONELY][2], keep, replaced = 0;
    char byte;

    for (int i = 0; i < LONELY; i++)
        make_lonely(fd[i]);
    keep = dup2(fd[0][1], 100);
    syscall(SYS_dup2, fd[0][0], 101);
    if (how == 0)
        close_range(3, 99, 0);
    else if (how == 1)
        for (int i = 102; i < (int)sysconf(_SC_OPEN_MAX) && i < 30000; i++)
            replaced += dup2(0, i) == i;
    if (how == 2)
        closefrom(102);
    if (how == 1)
        closefrom(102);
    for (int i = 0; i < 40; i++)
        if (write(keep, "x", 1) != 1 || syscall(SYS_read, 101, &byte, 1) != 1 ||
            syscall(SYS_write, 101, "y", 1) != 1 || read(keep, &byte, 1) != 1)
            die("after close_range");
    printf("closed all, %d: %d %c", how, replaced, byte);
    printf(" %s\n", result(fcntl(90, F_GETFD)));
}

static void in_child(void (*test)(int), int argument)
{
    int status;
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        test(argument);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("exit: %d\n", status);
}

static void use_all(int has_room)
{
    use_all_descriptors(has_room);
}

/* With so many that some are used to wake sleepers sooner; without these, connections go on. */
static void use_many(int all)
{
    const struct rlimit limit = {(rlim_t)all, (rlim_t)all};
    int fd[LONELY][2], copies = 0, answers = 0;
    char byte = 0;

    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < LONELY; i++)
        make_pair(fd[i]);
    while (dup(listener) >= 0)
        copies++;
    for (int i = 0; i < 2 * LONELY; i++)
        answers +=
            write(fd[i / 2][i % 2], "x", 1) == 1 && read(fd[i / 2][1 - i % 2], &byte, 1) == 1;
    printf("%d copies, %d answers\n", copies, answers);
}

/* Between hosts some descriptors are hidden that a process has not for itself. */
static void test_descriptors(void)
{
    if (!far) {
        in_child(use_all, 1);
        in_child(use_all, 0);
        in_child(use_many, 1100);
    }
    for (int how = 0; how < 3; how++)
        in_child(close_all, how);
}

/* What was written may be on its way for a while. */
static int await_unread(int fd, int least)
{
    int bytes = 0;

    for (int turns = 0; bytes < least && turns < 100000; turns++, sched_yield())
        if (ioctl(fd, FIONREAD, &bytes) < 0)
            die("FIONREAD");
    return bytes;
}

/* ---- sets of epoll ---------------------------------------------------------------------- */

/* Write a byte once a thread sleeps. */
struct waking {
    pid_t thread;
    int fd;
};

static void *write_when_asleep(void *argument)
{
    const struct waking *w = argument;

    wait_asleep(w->thread);
    if (write(w->fd, "x", 1) != 1)
        die("write");
    return NULL;
}

/* The descriptor by which a connection came into the set is closed and means something else, while
 * a copy keeps the connection in the set.  Bells are taken from the connection, not from that. */
static void test_registered_by_copy(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = 7};
    const int epfd = epoll_create1(0);
    int fd[2], other[2], copy, n;
    char text[8] = "";

    make_pair(fd);
    make_lonely(other);
    if (syscall(SYS_write, other[0], "other", 5) != 5)
        die("write");
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    copy = dup(fd[0]);
    dup2(other[1], fd[0]); /* closes it first */
    if (write(fd[1], "x", 1) != 1)
        die("write");
    printf("by copy: %d\n", epoll_wait(epfd, &event, 1, 5000));
    for (int i = 0; i < 5; i++) {
        struct waking w = {(pid_t)syscall(SYS_gettid), fd[1]};
        pthread_t thread;

        while (epoll_wait(epfd, &event, 1, 0) > 0)
            ;
        pthread_create(&thread, NULL, write_when_asleep, &w);
        n = epoll_wait(epfd, &event, 1, 5000);
        pthread_join(thread, NULL);
        printf("by copy: %d %x\n", n, event.events);
    }
    await_unread(copy, 6); /* there may be more edges than bytes */
    printf("copy: %s", result(recv(copy, text, 8, MSG_DONTWAIT)));
    printf(" other: %s", result(recv(other[1], text, 8, MSG_DONTWAIT)));
    printf(" %.5s\n", text);
    close(epfd);
    close(copy);
    close_pair(fd);
    close_pair(other);
}

/* A socket is in the set before it is connected, as in programs that register a socket when they
 * make it; it may be modified when it has a ring. */
static void test_added_before(uint32_t kind, bool modified)
{
    struct epoll_event event = {.events = EPOLLIN | kind, .data.u32 = 7};
    const int epfd = epoll_create1(0);
    int fd[2], n;
    char text[8] = "";

    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    connect_pair(fd);
    if (modified)
        epoll_ctl(epfd, EPOLL_CTL_MOD, fd[0], &event);
    for (int i = 0; i < 8; i++) {
        struct waking w = {(pid_t)syscall(SYS_gettid), fd[1]};
        struct epoll_event told = {0};
        pthread_t thread;

        while (epoll_wait(epfd, &told, 1, 0) > 0)
            ;
        if (kind & EPOLLONESHOT)
            epoll_ctl(epfd, EPOLL_CTL_MOD, fd[0], &event);
        if (i % 2 == 0)
            pthread_create(&thread, NULL, write_when_asleep, &w);
        else if (write(fd[1], "y", 1) != 1)
            die("write");
        n = epoll_wait(epfd, &told, 1, 2000);
        if (i % 2 == 0)
            pthread_join(thread, NULL);
        await_unread(fd[0], 1);
        printf("added before %x: %d %x %u", kind, n, told.events, told.data.u32);
        printf(" %s\n", result(recv(fd[0], text, 8, MSG_DONTWAIT)));
    }
    printf("deleted: %s", result(epoll_ctl(epfd, EPOLL_CTL_DEL, fd[0], NULL)));
    if (write(fd[1], "z", 1) != 1)
        die("write");
    printf(" %d\n", epoll_wait(epfd, &event, 1, 0));
    close(epfd);
    close_pair(fd);
}

/* A socket that is in the set before it listens. */
static void test_listens_in_set(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 9}, told = {0};
    const int epfd = epoll_create1(0), server = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof(any);
    int fd[2], n;
    char byte;

    epoll_ctl(epfd, EPOLL_CTL_ADD, server, &event);
    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server, (void *)&any, length) < 0 || listen(server, 8) < 0 ||
        getsockname(server, (void *)&any, &length) < 0)
        die("listen");
    printf("listens: %d", epoll_wait(epfd, &told, 1, 0));
    if (connect(fd[0], (void *)&any, length) < 0)
        die("connect");
    n = epoll_wait(epfd, &told, 1, 2000);
    printf(" %d %x %u", n, told.events, told.data.u32);
    fd[1] = accept(server, NULL, NULL);
    printf(" %d", epoll_wait(epfd, &told, 1, 0));
    for (int i = 0; i < 40; i++)
        if (write(fd[i % 2], "x", 1) != 1 || read(fd[!(i % 2)], &byte, 1) != 1)
            die("talk");
    printf(" %c\n", byte);
    close_pair(fd);
    close(server);
    close(epfd);
}

enum { BUSY = 300 };

/* More connections are busy at once than any table of fixed size has room for. */
static void test_many_busy(uint32_t kind)
{
    static int fd[BUSY][2];
    static struct epoll_event events[BUSY];
    const int epfd = epoll_create1(0);
    bool told[BUSY] = {false};
    int n, sum = 0;
    char byte;

    for (int i = 0; i < BUSY; i++) {
        struct epoll_event event = {.events = kind, .data.u32 = (uint32_t)i};
        make_pair(fd[i]);
        if (write(fd[i][1], "x", 1) != 1) /* before the set knows of it */
            die("write");
        epoll_ctl(epfd, EPOLL_CTL_ADD, fd[i][0], &event);
    }
    while ((n = epoll_wait(epfd, events, BUSY, 0)) > 0)
        for (int i = 0; i < n; i++) {
            const uint32_t which = events[i].data.u32;
            told[which] = true;
            if (read(fd[which][0], &byte, 1) != 1)
                die("read");
        }
    for (int i = 0; i < BUSY; i++)
        sum += told[i];
    printf("busy %x: %d\n", kind, sum);
    for (int i = 0; i < BUSY; i++)
        close_pair(fd[i]);
    close(epfd);
}

static int look_for(int outer_kind, int outer, int inner, int timeout)
{
    struct pollfd p = {.fd = inner, .events = POLLIN};
    struct epoll_event event;

    return outer_kind == 0 ? poll(&p, 1, timeout) : epoll_wait(outer, &event, 1, timeout);
}

enum { SPURIOUS = 10000 }; /* wake-ups of a set by bells that came later than their data */

/* The outer set, of which a bell may make believe that the inner one has something. */
static int look_at(int outer_kind, int outer, int inner)
{
    struct epoll_event event;
    int n = look_for(outer_kind, outer, inner, 0);

    for (int i = 0; far && n == 1 && i < SPURIOUS && epoll_wait(inner, &event, 1, 0) == 0; i++)
        n = look_for(outer_kind, outer, inner, 0);
    return n;
}

/* Both sets, for what has just been written. */
static void tell_new(int outer_kind, int outer, int inner)
{
    struct epoll_event event;
    int n, m;

    for (int i = 0;; i++) {
        n = look_for(outer_kind, outer, inner, far ? 20000 : 0);
        m = epoll_wait(inner, &event, 1, 0);
        if (!far || n != 1 || m != 0 || i == SPURIOUS)
            break;
    }
    printf(" %d %d", n, m);
}

/* A set is polled, or in another set, and there is data when that begins, and later. */
static void test_nested(int outer_kind)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 1};
    const int inner = epoll_create1(0), outer = epoll_create1(0);
    char text[8];
    int fd[2];

    make_pair(fd);
    epoll_ctl(inner, EPOLL_CTL_ADD, fd[0], &event);
    printf("nested %d: %d", outer_kind, epoll_wait(inner, &event, 1, 0));
    if (write(fd[1], "a", 1) != 1)
        die("write");
    event = (struct epoll_event){.events = EPOLLIN, .data.u32 = 2};
    epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event);
    tell_new(outer_kind, outer, inner);
    printf(" %s", result(read(fd[0], text, 8)));
    printf(" %d", epoll_wait(inner, &event, 1, 0));
    printf(" %d", look_at(outer_kind, outer, inner));
    for (int i = 0; i < 3; i++) {
        if (write(fd[1], "bc", 2) != 2)
            die("write");
        printf(",");
        tell_new(outer_kind, outer, inner);
        printf(" %s", result(read(fd[0], text, 1)));
        printf(" %d", look_at(outer_kind, outer, inner));
        printf(" %s", result(read(fd[0], text, 8)));
        printf(" %d", epoll_wait(inner, &event, 1, 0));
    }
    event = (struct epoll_event){.events = EPOLLIN | EPOLLONESHOT, .data.u32 = 3};
    if (write(fd[1], "d", 1) != 1)
        die("write");
    epoll_ctl(inner, EPOLL_CTL_MOD, fd[0], &event);
    printf(";");
    tell_new(outer_kind, outer, inner);
    printf(" %d\n", look_at(outer_kind, outer, inner));
    close(inner);
    close(outer);
    close_pair(fd);
}

/* A set that is polled has data from before it was, and is told of it; the data are read, or told
 * of but once, or their connection is taken from the set: it is no longer readable. */
static void test_no_longer_owed(int how)
{
    struct epoll_event event = {.events = EPOLLIN | (how == 1 ? EPOLLONESHOT : 0)};
    const int epfd = epoll_create1(0);
    int fd[2];
    char byte;

    make_pair(fd);
    if (write(fd[1], "x", 1) != 1)
        die("write");
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    printf("owed %d:", how);
    tell_new(0, -1, epfd);
    if (how == 0)
        printf(" %s", result(read(fd[0], &byte, 1)));
    if (how == 2)
        epoll_ctl(epfd, EPOLL_CTL_DEL, fd[0], NULL);
    printf(" %d\n", look_at(0, -1, epfd));
    close(epfd);
    close_pair(fd);
}

/* Sets come and go, each of which is polled: their hidden descriptors go with them. */
static void test_many_sets(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd[2], told = 0, ends = 0;

    make_pair(fd);
    if (write(fd[1], "x", 1) != 1)
        die("write");
    for (int i = 0; i < 1000; i++) {
        const int epfd = epoll_create1(0);
        struct pollfd p = {.fd = epfd, .events = POLLIN};

        told +=
            epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event) == 0 && poll(&p, 1, far ? 20000 : 0) == 1;
        close(epfd);
        ends += poll(&p, 1, 0) == 1 && p.revents == POLLNVAL;
    }
    printf("sets: %d %d\n", told, ends);
    close_pair(fd);
}

static void test_sets(void)
{
    test_many_sets();
    test_registered_by_copy();
    for (int modified = 0; modified < 2; modified++) {
        test_added_before(0, modified);
        test_added_before(EPOLLET, modified);
        test_added_before(EPOLLONESHOT, modified);
    }
    test_listens_in_set();
    test_many_busy(EPOLLIN);
    test_many_busy(EPOLLIN | EPOLLET);
    test_many_busy(EPOLLIN | EPOLLONESHOT);
    test_nested(0);
    test_nested(1);
    for (int how = 0; how < 3; how++)
        test_no_longer_owed(how);
}

/* ---- one wake-up for several connections -------------------------------------------------- */

enum { TOGETHER = 8, ROUNDS = 100 };

struct together {
    int epfd, fd[TOGETHER][2];
    _Atomic pid_t thread;
    int late;          /* waits that nothing has ended */
    unsigned last[2];  /* bytes from the last two connections */
    _Atomic bool done; /* the last byte of a round has come */
};

/* Reads whatever it is told of. */
static void *wait_for_all(void *argument)
{
    struct together *t = argument;
    struct epoll_event events[TOGETHER];
    char bytes[16];

    t->thread = (pid_t)syscall(SYS_gettid);
    while (t->last[0] < ROUNDS || t->last[1] < ROUNDS) {
        const int n = epoll_wait(t->epfd, events, TOGETHER, 3000);

        t->late += n == 0;
        if (n == 0)
            return NULL;
        for (int i = 0; i < n; i++) {
            const unsigned which = events[i].data.u32;
            const ssize_t got = recv(t->fd[which][0], bytes, sizeof(bytes), MSG_DONTWAIT);

            if (got > 0 && which >= TOGETHER - 2)
                t->last[which - (TOGETHER - 2)] += (unsigned)got;
        }
        if (t->last[0] > 0 && t->last[0] == t->last[1])
            t->done = true;
    }
    return NULL;
}

/* The first connection wakes who sleeps; before it can look, that is taken from the set, or its
 * data are taken.  The others, which count on the wake-up, are told all the same. */
static void test_together(int how)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct together t = {.epfd = epoll_create1(0)};
    char bytes[16];
    pthread_t id;

    for (unsigned i = 0; i < TOGETHER; i++) {
        make_pair(t.fd[i]);
        event.data.u32 = i;
        epoll_ctl(t.epfd, EPOLL_CTL_ADD, t.fd[i][0], &event);
    }
    pthread_create(&id, NULL, wait_for_all, &t);
    while (!t.thread)
        sched_yield();
    for (int round = 0; round < ROUNDS && !t.late; round++) {
        t.done = false;
        wait_asleep(t.thread);
        if (write(t.fd[0][1], "x", 1) != 1)
            die("write");
        event.data.u32 = 0;
        if (how == 1)
            epoll_ctl(t.epfd, EPOLL_CTL_DEL, t.fd[0][0], &event);
        if (how == 2)
            recv(t.fd[0][0], bytes, sizeof(bytes), MSG_DONTWAIT);
        for (int i = 1; i < TOGETHER; i++)
            if (write(t.fd[i][1], "x", 1) != 1)
                die("write");
        while (!t.done && !t.late)
            sched_yield();
        if (how == 1)
            epoll_ctl(t.epfd, EPOLL_CTL_ADD, t.fd[0][0], &event);
    }
    pthread_join(id, NULL);
    printf("together %d: late %d, %u %u\n", how, t.late, t.last[0], t.last[1]);
    for (int i = 0; i < TOGETHER; i++)
        close_pair(t.fd[i]);
    close(t.epfd);
}

struct echo {
    int fd;
    _Atomic pid_t thread;
};

static void *echo(void *argument)
{
    struct echo *e = argument;
    char byte;

    e->thread = (pid_t)syscall(SYS_gettid);
    while (read(e->fd, &byte, 1) == 1 && write(e->fd, &byte, 1) == 1)
        ;
    return NULL;
}

/* Questions by TCP, to one who sleeps, and answers by the ring: they must not wait for each other's
 * acknowledgements, although the program has not asked for TCP_NODELAY; which it is not told. */
static void test_no_delay(void)
{
    struct timespec begin, end;
    struct echo e = {.fd = -1};
    socklen_t length = sizeof(int);
    int fd[2], zero = 0, one = 1;
    pthread_t id;
    char byte;

    make_pair(fd);
    for (int i = 0; i < 2; i++) {
        setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &zero, sizeof(zero));
        getsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, &length);
        printf("nodelay: %d\n", one);
    }
    e.fd = fd[1];
    pthread_create(&id, NULL, echo, &e);
    while (!e.thread)
        sched_yield();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < 50; i++) {
        wait_asleep(e.thread);
        if (write(fd[0], "x", 1) != 1)
            die("write");
        while (recv(fd[0], &byte, 1, MSG_DONTWAIT) != 1)
            ;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("no delay: %d\n", end.tv_sec - begin.tv_sec < 2);
    shutdown(fd[0], SHUT_WR);
    pthread_join(id, NULL);
    close_pair(fd);
}

static void test_wakes(void)
{
    for (int how = 0; how < 3; how++)
        test_together(how);
    test_no_delay();
}

/* ---- connections that others get --------------------------------------------------------- */

/* How the peer waits meanwhile. */
enum { NOT, IN_RECV, IN_POLL, IN_EPOLL, WAITS };

static void wait_somehow(int fd, int how)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    const int epfd = how == IN_EPOLL ? epoll_create1(EPOLL_CLOEXEC) : -1;

    if (how == IN_POLL)
        printf(" poll %d", poll(&p, 1, 20000));
    if (how == IN_EPOLL) {
        epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event);
        printf(" epoll %d", epoll_wait(epfd, &event, 1, 20000));
        close(epfd);
    }
}

/* How another program gets the connection. */
enum { BY_FORK, BY_VFORK, BY_SPAWN, BY_NUMBER, BY_MESSAGE, HANDS };

/* What a program does that has not our library: sends all back. */
static void echo_raw(int from)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char bytes[4096];
    struct iovec iov = {bytes, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    long n;
    int fd;

    if (syscall(SYS_recvmsg, from, &msg, 0) != 1)
        syscall(SYS_exit_group, 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
    while ((n = syscall(SYS_read, fd, bytes, sizeof(bytes))) > 0)
        syscall(SYS_write, fd, bytes, n);
    syscall(SYS_exit_group, n == 0 ? 0 : 2);
}

static void pass(int to, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_len = CMSG_LEN(sizeof(int)),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS}};
    struct iovec iov = {"x", 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};

    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    if (sendmsg(to, &msg, 0) != 1)
        die("sendmsg");
}

static pid_t spawn_cat(int fd)
{
    char *const argv[] = {"cat", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 0);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    if (posix_spawnp(&child, "cat", &actions, NULL, argv, environ) != 0)
        die("posix_spawnp");
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static pid_t vfork_cat(int fd)
{
    char *const argv[] = {"cat", NULL};
    const pid_t child = vfork();

    if (child != 0)
        return child;
    dup2(fd, 0);
    dup2(fd, 1);
    execvp("cat", argv);
    _exit(127);
}

static void exec_cat(int fd, bool by_number)
{
    char *const cat[] = {"cat", NULL}, *const sh[] = {"sh", "-c", "cat <&9 >&9", NULL};

    if (by_number) {
        dup2(fd, 9);
        execvp("sh", sh);
    }
    dup2(fd, 0);
    dup2(fd, 1);
    execvp("cat", cat);
    _exit(127);
}

/* The server's process: it hands its connection on once the client is asleep. */
static void hand_on(int fd, int how, pid_t client, int way)
{
    int status, pair[2];
    pid_t child = 0;

    if (way != NOT)
        wait_asleep(client);
    switch (how) {
    case BY_SPAWN:
        child = spawn_cat(fd);
        break;
    case BY_VFORK:
        child = vfork_cat(fd);
        break;
    case BY_MESSAGE:
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
            die("socketpair");
        if ((child = fork()) == 0) {
            close(fd);
            close(pair[0]);
            echo_raw(pair[1]);
        }
        pass(pair[0], fd);
        break;
    default:
        exec_cat(fd, how == BY_NUMBER);
    }
    close(fd);
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
}

static void hand(int how, int way)
{
    const pid_t client = getpid();
    int fd[2], gone[2], status;
    char text[64] = "";
    pid_t child;

    make_pair(fd);
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    if (pipe2(gone, O_CLOEXEC) < 0 || write(fd[0], "to the server, early ", 21) != 21 ||
        read(fd[1], text, 14) != 14)
        die("beginning");
    printf("hand %d %d:", how, way);
    fflush(stdout);
    if ((child = fork()) == 0) {
        close(fd[0]);
        hand_on(fd[1], how, client, way);
    }
    close(fd[1]);
    close(gone[1]);
    if (way == NOT && how != BY_MESSAGE && how != BY_SPAWN && how != BY_VFORK)
        printf(" gone %s", result(read(gone[0], text, 1))); /* it has executed */
    close(gone[0]);
    wait_somehow(fd[0], way);
    memset(text, 0, sizeof(text));
    printf(" %s", result(recv(fd[0], text, 7, MSG_WAITALL)));
    printf(" %s", result(write(fd[0], "and late", 8)));
    printf(" %s", result(recv(fd[0], text + 7, 8, MSG_WAITALL)));
    shutdown(fd[0], SHUT_WR);
    printf(" %s", result(read(fd[0], text + 15, 1)));
    waitpid(child, &status, 0);
    printf(" '%s' %d\n", text, WEXITSTATUS(status));
    close(fd[0]);
}

enum { LONG = 20000 }; /* goes by the ring even to one that sleeps, who is woken by a bell */

/* The bell that has woken the server is not among what the next program reads. */
static void hand_with_bell(int how)
{
    static char out[LONG], in[LONG];
    int fd[2], status;
    pid_t child;
    ssize_t n;

    for (int i = 0; i < LONG; i++)
        out[i] = (char)(i * 131 >> 3);
    make_pair(fd);
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fflush(stdout);
    if ((child = fork()) == 0) {
        struct pollfd p = {.fd = fd[1], .events = POLLIN};

        close(fd[0]);
        if (poll(&p, 1, 20000) != 1 || read(fd[1], in, 100) != 100)
            _exit(3);
        hand_on(fd[1], how, getppid(), NOT);
    }
    close(fd[1]);
    wait_asleep(child);
    if (write(fd[0], out, LONG) != LONG)
        die("write");
    n = recv(fd[0], in, LONG - 100, MSG_WAITALL);
    printf("hand with bell %d: %zd %d", how, n, memcmp(in, out + 100, LONG - 100));
    shutdown(fd[0], SHUT_WR);
    printf(" %s", result(read(fd[0], in, 1)));
    waitpid(child, &status, 0);
    printf(" %d\n", WEXITSTATUS(status));
    close(fd[0]);
}

/* Both ends are of one process, which does not come back to the other one. */
static void test_both_ends(void)
{
    const int kept = dup(0);
    char text[8] = "";
    int fd[2];

    make_pair(fd);
    if (write(fd[0], "both", 4) != 4)
        die("write");
    dup2(fd[1], 0);
    printf("both ends: %ld", syscall(SYS_recvfrom, 0, text, 8, far ? 0 : MSG_DONTWAIT, NULL, NULL));
    printf(" '%s'\n", text);
    dup2(kept, 0);
    close(kept);
    close_pair(fd);
}

static void test_hands(void)
{
    for (int how = 0; how < HANDS; how++)
        for (int way = 0; way < WAITS; way++)
            hand(how, way);
    for (int how = 0; how < HANDS; how++)
        hand_with_bell(how);
    test_both_ends();
}

/* ---- data behind data --------------------------------------------------------------------- */

enum { MOVES = 16, FORKS = 6, SHORT = 60, BOTH = SHORT + 5000 };

/* So that short data go by the ring again. */
static void talk(const int fd[2], int turns)
{
    char byte = 0;

    for (int i = 0; i < turns; i++)
        if (write(fd[i % 2], &byte, 1) != 1 || read(fd[!(i % 2)], &byte, 1) != 1)
            die("talking");
}

/* What was counted is there to be read, at once. */
static void read_counted(int fd, const char *out)
{
    char in[BOTH] = "";
    const int bytes = await_unread(fd, BOTH);
    const ssize_t n = recv(fd, in, BOTH, MSG_DONTWAIT);

    printf(" %d %zd %d", bytes, n, memcmp(in, out, BOTH));
}

/* A child gets what its parent has not read. */
static void read_in_child(int fd, const char *out)
{
    const struct timeval limit = {.tv_sec = 5};
    char in[BOTH] = "";
    int status;
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        printf(" %s", result(recv(fd, in, BOTH, MSG_WAITALL)));
        printf(" %d", memcmp(in, out, BOTH));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
}

/* Long data, which leave the ring, follow short ones at once. */
static void move(const int fd[2], void (*read_both)(int fd, const char *out))
{
    static char out[BOTH];

    for (int i = 0; i < BOTH; i++)
        out[i] = (char)(i * 131 >> 3);
    talk(fd, 12);
    if (write(fd[0], out, SHORT) != SHORT ||
        write(fd[0], out + SHORT, BOTH - SHORT) != BOTH - SHORT)
        die("write");
    printf("move:");
    read_both(fd[1], out);
    printf("\n");
}

static void test_moves(void)
{
    int fd[2];

    make_pair(fd);
    for (int i = 0; i < MOVES; i++)
        move(fd, read_counted);
    close_pair(fd);
    for (int i = 0; i < FORKS; i++) {
        make_pair(fd);
        talk(fd, 60);
        move(fd, read_in_child);
        close_pair(fd);
    }
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {4096, 4096};

    far = argc > 1 && strcmp(argv[argc - 1], "far") == 0;
    argc -= far;
    alarm(50);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    setrlimit(RLIMIT_NOFILE, &limit);
    begin_listening();
    if (argc < 2 || strcmp(argv[1], "descriptors") == 0)
        test_descriptors();
    if (argc < 2 || strcmp(argv[1], "sets") == 0)
        test_sets();
    if (argc < 2 || strcmp(argv[1], "wakes") == 0)
        test_wakes();
    if (argc < 2 || strcmp(argv[1], "hands") == 0)
        test_hands();
    if (argc < 2 || strcmp(argv[1], "moves") == 0)
        test_moves();
    return 0;
}
