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
#include <sys/wait.h>
#include <time.h>

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

static void test_sets(void)
{
    test_all_fair(0);
    test_all_fair(1000);
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

/* ---- who is asleep while others have to do with its set ----------------------------------- */

enum disturbance { SLEEPS_TOO, LOOKS_TOO, FORKS, POLLS, CLOSES, TAKES_DESCRIPTORS, DISTURBANCES };

enum { DISTURBED = 4, IDLE = DISTURBED, EACH_ROUND = DISTURBED + 1, DISTURBED_ROUNDS = 40 };

struct disturbed {
    int epfd, fd[DISTURBED + 1][2]; /* the last one is seldom used */
    _Atomic pid_t thread[2];
    _Atomic unsigned taken;
    _Atomic bool ends;
};

/* Of one connection at a time, as edges want it: until there is nothing more. */
static void take_told(struct disturbed *d, int timeout)
{
    struct epoll_event event;
    char byte;

    if (epoll_wait(d->epfd, &event, 1, timeout) == 1)
        while (recv(d->fd[event.data.u32][0], &byte, 1, MSG_DONTWAIT) == 1)
            d->taken++;
}

static void *sleep_in_set(void *argument)
{
    struct disturbed *d = argument;
    const pid_t self = (pid_t)syscall(SYS_gettid);

    d->thread[d->thread[0] != 0] = self;
    while (!d->ends)
        take_told(d, 5000);
    return NULL;
}

/* All descriptors are wanted, so those of ours are given up, and then they are free again. */
static void take_descriptors(void)
{
    static int fd[4096];
    int n = 0;

    while (n < 4096 && (fd[n] = dup(0)) >= 0)
        n++;
    while (n > 0)
        close(fd[--n]);
}

static void disturb(struct disturbed *d, enum disturbance how)
{
    struct pollfd set = {.fd = d->epfd, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    int fd[2];
    pid_t child;

    switch (how) {
    case LOOKS_TOO:
        take_told(d, 0);
        break;
    case FORKS:
        if ((child = fork()) == 0) {
            epoll_wait(d->epfd, &event, 1, 0);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        break;
    case POLLS:
        poll(&set, 1, 0);
        break;
    case CLOSES:
        make_pair(fd);
        epoll_ctl(d->epfd, EPOLL_CTL_ADD, fd[0], &event);
        close_pair(fd);
        break;
    case TAKES_DESCRIPTORS:
        take_descriptors();
        break;
    default:
        break;
    }
}

static void wait_all_asleep(const struct disturbed *d)
{
    for (int i = 0; i < 2 && d->thread[i] != 0; i++)
        wait_asleep(d->thread[i]);
}

static void write_byte(const struct disturbed *d, int which)
{
    if (write(d->fd[which][1], "x", 1) != 1)
        die("write");
}

/* Whether so many bytes are taken before long. */
static bool await_taken(const struct disturbed *d, unsigned bytes)
{
    struct timespec now, begin;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (d->taken < bytes) {
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > begin.tv_sec + 3)
            return false;
    }
    return true;
}

/* One byte, something happens to the set, one more, and the others. */
static bool disturb_round(struct disturbed *d, enum disturbance how, unsigned round)
{
    const unsigned before = round * EACH_ROUND;

    wait_all_asleep(d);
    write_byte(d, 0);
    disturb(d, how);
    if (round % 2 == 0 && !await_taken(d, before + 1))
        return false;
    write_byte(d, 0);
    if (round % 4 < 2 && !await_taken(d, before + 2))
        return false;
    for (int i = 1; i < DISTURBED; i++)
        write_byte(d, i);
    return await_taken(d, before + EACH_ROUND);
}

static void test_disturbed(enum disturbance how, uint32_t kind)
{
    struct epoll_event event = {.events = EPOLLIN | kind};
    struct disturbed d = {.epfd = epoll_create1(0)};
    const int sleepers = how == SLEEPS_TOO ? 2 : 1;
    unsigned round = 0;
    pthread_t id[2];

    for (unsigned i = 0; i <= DISTURBED; i++) {
        make_pair(d.fd[i]);
        event.data.u32 = i;
        epoll_ctl(d.epfd, EPOLL_CTL_ADD, d.fd[i][0], &event);
    }
    for (int i = 0; i < sleepers; i++) {
        pthread_create(&id[i], NULL, sleep_in_set, &d);
        while (!d.thread[i])
            sched_yield();
    }
    while (round < DISTURBED_ROUNDS && disturb_round(&d, how, round))
        round++;
    wait_all_asleep(&d);
    write_byte(&d, IDLE);
    printf("disturbed %d %x: %u of %d rounds, %d\n", how, kind, round, DISTURBED_ROUNDS,
           await_taken(&d, round * EACH_ROUND + 1));
    d.ends = true;
    for (int i = 0; i <= DISTURBED; i++)
        close(d.fd[i][1]);
    for (int i = 0; i < sleepers; i++)
        pthread_join(id[i], NULL);
    close(d.epfd);
    for (int i = 0; i <= DISTURBED; i++)
        close(d.fd[i][0]);
}

static void test_wakes(void)
{
    for (int how = 0; how < 3; how++)
        test_together(how);
    for (int how = 0; how < DISTURBANCES; how++) {
        if (far && how == FORKS)
            continue;
        test_disturbed(how, 0);
        if (how != FORKS && how != POLLS) /* the kernel tells somebody of an edge, once */
            test_disturbed(how, EPOLLET);
    }
    test_no_delay();
}

int main(int argc, char **argv)
{
    argc = begin(argc, argv);
    if (is_wanted(argc, argv, "sets"))
        test_sets();
    if (is_wanted(argc, argv, "wakes"))
        test_wakes();
    return 0;
}
