/* SPDX-License-Identifier: BSD-3-Clause
 *
 * thread_calls: threads that wait for one set of epoll, while others change it, close it, or are
 * cancelled there.  What it sees has to be the same over plain TCP and over unetsock.
 */
#include "matrix.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>

static void write_byte(int fd)
{
    if (write(fd, "x", 1) != 1)
        die("write");
}

static void read_byte(int fd)
{
    char byte;

    if (read(fd, &byte, 1) != 1)
        die("read");
}

static void add_to_set(int epfd, int fd, uint64_t data)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = data};

    if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0)
        die("EPOLL_CTL_ADD");
}

/* Others do what they do meanwhile. */
static void pass_time(unsigned turns)
{
    for (volatile unsigned i = 0; i < turns; i++)
        ;
}

/* ---- cancelled in the set ----------------------------------------------------------------- */

enum { WORKERS = 2, SERVED = 4, CANCELLED_ROUNDS = 600 };

/* Answers, and is not cancelled between what it takes and its answer. */
static void *answer_all(void *argument)
{
    const int *epfd = argument;
    struct epoll_event event;
    char byte;
    int before;

    for (;;) {
        const int n = epoll_wait(*epfd, &event, 1, -1);

        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        if (n == 1 && recv(event.data.fd, &byte, 1, MSG_DONTWAIT) == 1)
            write_byte(event.data.fd);
        pthread_setcancelstate(before, NULL);
    }
    return NULL;
}

static bool is_answered(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (poll(&p, 1, 3000) != 1)
        return false;
    read_byte(fd);
    return true;
}

/* Those that are left, and those that come, are told of all. */
static void test_cancelled(void)
{
    const int epfd = epoll_create1(0);
    int fd[SERVED][2], own = epfd, round = 0;
    pthread_t id[WORKERS];
    bool answered = true;

    for (int i = 0; i < SERVED; i++) {
        make_pair(fd[i]);
        add_to_set(epfd, fd[i][1], (uint64_t)fd[i][1]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&id[i], NULL, answer_all, &own);
    for (; answered && round < CANCELLED_ROUNDS; round += answered) {
        pthread_t *const one = &id[round % WORKERS];

        for (int i = 0; i < SERVED; i++)
            write_byte(fd[i][0]);
        pthread_cancel(*one);
        for (int i = 0; i < SERVED; i++)
            answered = answered && is_answered(fd[i][0]);
        if (!answered)
            break;
        pthread_join(*one, NULL);
        pthread_create(one, NULL, answer_all, &own);
    }
    printf("cancelled: %d of %d rounds answered\n", round, CANCELLED_ROUNDS);
    if (!answered)
        exit(0);
    for (int i = 0; i < WORKERS; i++) {
        pthread_cancel(id[i]);
        pthread_join(id[i], NULL);
    }
    close(epfd);
    for (int i = 0; i < SERVED; i++)
        close_pair(fd[i]);
}

/* ---- closed while others wait ------------------------------------------------------------- */

enum { WAITERS = 8, MEMBERS = 12, CLOSED_ROUNDS = 600 };

struct closed {
    _Atomic int epfd;
    _Atomic bool ends, told;
};

static void *wait_again_and_again(void *argument)
{
    struct closed *c = argument;
    struct epoll_event events[MEMBERS];

    for (unsigned turn = 0; !c->ends; turn++) {
        const int epfd = c->epfd;

        if (epfd < 0)
            sched_yield();
        else if (epoll_wait(epfd, events, MEMBERS, turn % 4 == 0) > 0)
            c->told = true;
    }
    return NULL;
}

/* One set after the other, which its threads find closed. */
static void test_closed(void)
{
    struct closed c = {.epfd = -1};
    struct epoll_event event;
    int fd[MEMBERS][2], epfd;
    pthread_t id[WAITERS];

    for (int i = 0; i < MEMBERS; i++)
        make_pair(fd[i]);
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&id[i], NULL, wait_again_and_again, &c);
    for (int round = 0; round < CLOSED_ROUNDS; round++) {
        epfd = epoll_create1(0);
        for (int i = 0; i < MEMBERS; i++)
            add_to_set(epfd, fd[i][1], (uint64_t)i);
        c.epfd = epfd;
        for (int i = 0; i < MEMBERS; i++)
            write_byte(fd[i][0]);
        pass_time(20000 + (unsigned)round % 16 * 10000);
        for (int i = 0; i < MEMBERS; i++)
            read_byte(fd[i][1]);
        c.epfd = -1;
        close(epfd);
    }
    c.ends = true;
    for (int i = 0; i < WAITERS; i++)
        pthread_join(id[i], NULL);
    epfd = epoll_create1(0);
    add_to_set(epfd, fd[0][1], 0);
    write_byte(fd[0][0]);
    printf("closed: told %d, and of the last one %d\n", c.told, epoll_wait(epfd, &event, 1, 3000));
    close(epfd);
    for (int i = 0; i < MEMBERS; i++)
        close_pair(fd[i]);
}

/* ---- told of what is no more -------------------------------------------------------------- */

enum { REUSED_ROUNDS = 1000, SILENT = 1 };

struct reused {
    int epfd;
    _Atomic bool ends;
    _Atomic int of_silent; /* told of a connection that says nothing */
};

static void *wait_for_who_speaks(void *argument)
{
    struct reused *r = argument;
    struct epoll_event event;

    while (!r->ends)
        if (epoll_wait(r->epfd, &event, 1, 20) == 1)
            r->of_silent += event.data.u64 == SILENT;
    return NULL;
}

/* One connection ends and is closed, and another one comes into the set in its place, while a
 * thread is about to be told of the first. */
static void test_reused(void)
{
    struct reused r = {.epfd = epoll_create1(0)};
    unsigned random = 3;
    pthread_t id;

    pthread_create(&id, NULL, wait_for_who_speaks, &r);
    for (int round = 0; round < REUSED_ROUNDS; round++) {
        int ended[2] = {socket(AF_INET, SOCK_STREAM, 0)},
            silent[2] = {socket(AF_INET, SOCK_STREAM, 0)};

        connect_quietly(ended);
        connect_quietly(silent);
        add_to_set(r.epfd, ended[1], !SILENT);
        sched_yield();
        close(ended[0]);
        random = random * 1664525 + 1013904223;
        pass_time((random >> 16) % 3000);
        close(ended[1]);
        add_to_set(r.epfd, silent[1], SILENT);
        pass_time(10000);
        epoll_ctl(r.epfd, EPOLL_CTL_DEL, silent[1], NULL);
        close_pair(silent);
    }
    r.ends = true;
    pthread_join(id, NULL);
    printf("reused: told of who is silent %d times\n", r.of_silent);
    close(r.epfd);
}

/* ---- in a second set, too ----------------------------------------------------------------- */

enum { SECOND_ROUNDS = 40 };

struct second {
    int epfd;
    _Atomic pid_t thread;
    _Atomic bool told;
};

/* Once woken, it lets others run on. */
static void *sleep_behind_others(void *argument)
{
    const struct sched_param none = {0};
    struct second *s = argument;
    struct epoll_event event;

    sched_setscheduler(0, SCHED_BATCH, &none);
    s->thread = (pid_t)syscall(SYS_gettid);
    s->told = epoll_wait(s->epfd, &event, 1, 3000) == 1;
    return NULL;
}

static void *sleep_once(void *argument)
{
    const struct second *s = argument;
    struct epoll_event event;

    epoll_wait(s->epfd, &event, 1, 50);
    return NULL;
}

/* One thread sleeps for two connections, of which one has its data taken, and each other time comes
 * into another set as well before: the other one's wake it all the same. */
static void test_second(void)
{
    struct second s = {.epfd = epoll_create1(0)};
    const int other = epoll_create1(0);
    int a[2], b[2], slept = 0;
    pthread_t id[2];
    cpu_set_t before, one;

    make_pair(a);
    make_pair(b);
    add_to_set(s.epfd, a[1], 0);
    add_to_set(s.epfd, b[1], 1);
    for (int i = 0; i < 2; i++) /* of those of whom several have slept all are woken by TCP */
        pthread_create(&id[i], NULL, sleep_once, &s);
    for (int i = 0; i < 2; i++)
        pthread_join(id[i], NULL);
    sched_getaffinity(0, sizeof(before), &before);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int round = 0; round < SECOND_ROUNDS && slept < 2; round++) {
        s.thread = 0;
        pthread_create(&id[0], NULL, sleep_behind_others, &s);
        while (!s.thread)
            sched_yield();
        wait_asleep(s.thread);
        if (round % 2)
            add_to_set(other, a[1], 0);
        write_byte(a[0]);
        write_byte(b[0]);
        read_byte(a[1]);
        pthread_join(id[0], NULL);
        slept += !s.told;
        read_byte(b[1]);
        epoll_ctl(other, EPOLL_CTL_DEL, a[1], NULL);
    }
    sched_setaffinity(0, sizeof(before), &before);
    printf("second: slept on %d times\n", slept);
    close(other);
    close(s.epfd);
    close_pair(a);
    close_pair(b);
}

int main(int argc, char **argv)
{
    argc = begin(argc, argv);
    if (is_wanted(argc, argv, "cancelled"))
        test_cancelled();
    if (is_wanted(argc, argv, "closed"))
        test_closed();
    if (is_wanted(argc, argv, "reused"))
        test_reused();
    if (is_wanted(argc, argv, "second"))
        test_second();
    return 0;
}
