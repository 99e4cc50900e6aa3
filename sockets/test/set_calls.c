/* SPDX-License-Identifier: BSD-3-Clause
 *
 * set_calls: what sets of epoll tell, also unusual ones, and when they wake.  What it sees has to
 * be the same over plain TCP and over unetsock.
 */
#include "matrix.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* ---- sets of epoll ---------------------------------------------------------------------- */

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

enum { FAIR_MOST = 48, FAIR_TURNS = 4000 };

/* More is ready all the time than is asked for: rings, with data that nobody reads or with space,
 * and pipes; all that is in the set has its turn, and as often if the wait is for nothing. */
static void test_fair(int rings, uint32_t kind, int pipes, int max, int timeout)
{
    static struct epoll_event events[FAIR_MOST];
    const int epfd = epoll_create1(0), all = rings + pipes;
    int fd[FAIR_MOST][2], told[FAIR_MOST] = {0}, least = FAIR_TURNS;

    for (int i = 0; i < all; i++) {
        struct epoll_event event = {.events = i < rings ? kind : EPOLLIN, .data.u32 = (uint32_t)i};

        if (i < rings)
            make_pair(fd[i]);
        else if (pipe(fd[i]) < 0)
            die("pipe");
        epoll_ctl(epfd, EPOLL_CTL_ADD, fd[i][0], &event);
        if (write(fd[i][1], "x", 1) != 1)
            die("write");
        while (i < rings && await_unread(fd[i][0], 1) < 1)
            ;
    }
    for (int turn = 0; turn < FAIR_TURNS; turn++) {
        const int n = epoll_wait(epfd, events, max, timeout);

        for (int i = 0; i < n; i++)
            told[events[i].data.u32]++;
    }
    for (int i = 0; i < all; i++)
        least = told[i] < least ? told[i] : least;
    printf("fair %d %x %d %d: %d\n", rings, kind, pipes, max,
           least >= FAIR_TURNS * max / all / (timeout == 0 ? 2 : 10));
    for (int i = 0; i < all; i++)
        close_pair(fd[i]);
    close(epfd);
}

static void test_all_fair(int timeout)
{
    test_fair(1, EPOLLIN, 1, 1, timeout);
    test_fair(1, EPOLLOUT, 1, 1, timeout);
    test_fair(1, EPOLLPRI, 3, 1, timeout);
    test_fair(1, EPOLLIN | EPOLLOUT, 3, 2, timeout);
    test_fair(40, EPOLLIN, 2, 32, timeout);
}

struct second_wakes {
    pid_t thread;
    int first, second;
};

static void *write_to_both_when_asleep(void *argument)
{
    const struct second_wakes *w = argument;

    wait_asleep(w->thread);
    if (write(w->first, "x", 1) != 1 || write(w->second, "x", 1) != 1)
        die("write");
    return NULL;
}

/* A connection of the set is looked at for space alone, as by servers whose client does not read.
 * What comes by it wakes nobody, so what comes by another one after that has to. */
static void test_woken_by_second(void)
{
    struct epoll_event space = {.events = EPOLLOUT, .data.u32 = 1};
    struct epoll_event data = {.events = EPOLLIN, .data.u32 = 2}, told = {0};
    const int epfd = epoll_create1(0);
    int first[2], second[2], n;
    char byte;

    make_pair(first);
    make_pair(second);
    while (send(first[0], &space, sizeof(space), MSG_DONTWAIT) > 0)
        ;
    epoll_ctl(epfd, EPOLL_CTL_ADD, first[0], &space);
    epoll_ctl(epfd, EPOLL_CTL_ADD, second[0], &data);
    for (int i = 0; i < 5; i++) {
        struct second_wakes w = {(pid_t)syscall(SYS_gettid), first[1], second[1]};
        pthread_t thread;

        pthread_create(&thread, NULL, write_to_both_when_asleep, &w);
        do /* TCP may get space on the first one, in time */
            n = epoll_wait(epfd, &told, 1, 5000);
        while (n == 1 && told.data.u32 == 1);
        pthread_join(thread, NULL);
        printf("woken by second: %d %u %x", n, told.data.u32, told.events);
        printf(" %s\n", result(read(second[0], &byte, 1)));
    }
    close(epfd);
    close_pair(first);
    close_pair(second);
}

struct edge_comes {
    pid_t thread;
    int epfd, counter; /* an eventfd of which copies are in the set: all are ready at once */
    int fd;            /* of one of them */
};

static void *add_edge_when_asleep(void *argument)
{
    const struct edge_comes *w = argument;
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET, .data.u32 = 9};
    const uint64_t one = 1;

    wait_asleep(w->thread);
    epoll_ctl(w->epfd, EPOLL_CTL_ADD, listener, &edge);
    if (write(w->counter, &one, sizeof(one)) != sizeof(one))
        die("write");
    return NULL;
}

/* A descriptor comes into the set to be told of by edges while a thread waits that has room for
 * fewer events than there are then. */
static void test_edges_meanwhile(void)
{
    struct epoll_event event = {.events = EPOLLIN}, told[8];
    const int epfd = epoll_create1(0), counter = eventfd(0, EFD_NONBLOCK);
    struct edge_comes w = {(pid_t)syscall(SYS_gettid), epfd, counter, -1};
    int fd[2], copy[4], seen = 0;
    pthread_t thread;

    make_pair(fd);
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    for (int i = 0; i < 4; i++) {
        event.data.u32 = 1u << i;
        copy[i] = dup(counter);
        epoll_ctl(epfd, EPOLL_CTL_ADD, copy[i], &event);
    }
    memset(told, 0, sizeof(told));
    pthread_create(&thread, NULL, add_edge_when_asleep, &w);
    printf("edges meanwhile: %d", epoll_wait(epfd, told, 1, 5000));
    pthread_join(thread, NULL);
    printf(" %x", told[1].events | told[2].events | told[3].events);
    for (int i = 0; i < 16; i++)
        if (epoll_wait(epfd, told, 1, 0) == 1)
            seen |= (int)told[0].data.u32;
    printf(" %x\n", (unsigned)seen);
    for (int i = 0; i < 4; i++)
        close(copy[i]);
    close(counter);
    close(epfd);
    close_pair(fd);
}

static void *change_to_edge_when_asleep(void *argument)
{
    const struct edge_comes *w = argument;
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET, .data.u32 = 4};
    const uint64_t one = 1;

    wait_asleep(w->thread);
    epoll_ctl(w->epfd, EPOLL_CTL_MOD, w->fd, &edge);
    if (write(w->counter, &one, sizeof(one)) != sizeof(one))
        die("write");
    return NULL;
}

/* One is told of by edges from then on while a thread waits for one event: it is the last of those
 * that come then, and told of once.  The others are told of again and again; how often depends on
 * how many had come when the thread woke up. */
static void test_edge_left_out(void)
{
    struct epoll_event event = {.events = EPOLLIN}, told;
    const int epfd = epoll_create1(0), counter = eventfd(0, EFD_NONBLOCK);
    struct edge_comes w = {(pid_t)syscall(SYS_gettid), epfd, counter, -1};
    int fd[2], copy[3], seen[3] = {0};
    pthread_t thread;

    make_pair(fd);
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    for (int i = 2; i >= 0; i--) { /* the kernel tells of the last one first */
        event.data.u32 = 1u << i;
        copy[i] = dup(counter);
        epoll_ctl(epfd, EPOLL_CTL_ADD, copy[i], &event);
    }
    w.fd = copy[2];
    pthread_create(&thread, NULL, change_to_edge_when_asleep, &w);
    if (epoll_wait(epfd, &told, 1, 5000) == 1)
        seen[told.data.u32 / 2]++;
    pthread_join(thread, NULL);
    for (int i = 0; i < 7; i++)
        if (epoll_wait(epfd, &told, 1, 0) == 1)
            seen[told.data.u32 / 2]++;
    printf("edge left out: %d %d %d\n", seen[0] > 1, seen[1] > 1, seen[2]);
    for (int i = 0; i < 3; i++)
        close(copy[i]);
    close(counter);
    close(epfd);
    close_pair(fd);
}

static void test_sets(void)
{
    test_all_fair(0);
    test_all_fair(1000);
    test_many_sets();
    test_registered_by_copy();
    test_woken_by_second();
    test_edges_meanwhile();
    test_edge_left_out();
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

int main(int argc, char **argv)
{
    begin(argc, argv);
    test_sets();
    return 0;
}
