/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wake_calls: who sleeps for several connections, in sets of epoll above all, and is woken, while
 * others do all that could come in between.  What it sees has to be the same over plain TCP and
 * over unetsock.
 */
#include "matrix.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>

static void write_byte_to(int fd)
{
    if (write(fd, "x", 1) != 1)
        die("write");
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
    enum { TURNS = 50, SLOW_MS = 30 }; /* an acknowledgement is delayed for 40 ms */
    struct timespec begin, end;
    struct echo e = {.fd = -1};
    int slow = 0;
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
    for (int i = 0; i < TURNS; i++) {
        wait_asleep(e.thread);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (write(fd[0], "x", 1) != 1)
            die("write");
        while (recv(fd[0], &byte, 1, MSG_DONTWAIT) != 1)
            ;
        clock_gettime(CLOCK_MONOTONIC, &end);
        slow +=
            (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= SLOW_MS;
    }
    printf("no delay: %d\n", slow < TURNS / 2);
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

/* ---- who looks while another one falls asleep --------------------------------------------- */

enum { LOOKED_PAIRS = 2, LOOKED_BYTES = 30000 };

struct looked {
    int epfd, fd[LOOKED_PAIRS][2];
    _Atomic unsigned taken;
};

/* Whoever is told of bytes takes them; until all have come, or none for 3 s. */
static void take_bytes(struct looked *l, int timeout)
{
    struct epoll_event event;
    double until = seconds_now() + 3;
    char bytes[64];

    while (l->taken < LOOKED_BYTES && seconds_now() < until) {
        ssize_t n = 0;

        if (epoll_wait(l->epfd, &event, 1, timeout) == 1)
            n = recv(l->fd[event.data.u32][0], bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n > 0) {
            l->taken += (unsigned)n;
            until = seconds_now() + 3;
        }
    }
}

static void *sleep_often(void *argument)
{
    take_bytes(argument, 1);
    return NULL;
}

static void *write_all(void *argument)
{
    const struct looked *l = argument;

    for (int i = 0; i < LOOKED_BYTES; i++)
        write_byte_to(l->fd[i / 8 % LOOKED_PAIRS][1]);
    return NULL;
}

/* One thread looks at a set, in which another one falls asleep over and over: what was to wake that
 * one is found by the first, too. */
static void test_looked(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct looked l = {.epfd = epoll_create1(0)};
    pthread_t id[2];

    for (unsigned i = 0; i < LOOKED_PAIRS; i++) {
        make_pair(l.fd[i]);
        event.data.u32 = i;
        epoll_ctl(l.epfd, EPOLL_CTL_ADD, l.fd[i][0], &event);
    }
    pthread_create(&id[0], NULL, sleep_often, &l);
    pthread_create(&id[1], NULL, write_all, &l);
    take_bytes(&l, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(id[i], NULL);
    printf("looked: %u of %d bytes\n", l.taken, LOOKED_BYTES);
    close(l.epfd);
    for (int i = 0; i < LOOKED_PAIRS; i++)
        close_pair(l.fd[i]);
}

/* ---- who else waits ----------------------------------------------------------------------- */

enum wait { BY_READ, BY_POLL, BY_SELECT, BY_ANOTHER_SET, BY_THE_SET_ALONE, WAITS };

/* Whether one connection has been waited for with success. */
static bool wait_for_one(enum wait how, int fd, int epfd)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct timeval limit = {3, 0};
    fd_set set;
    char byte;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    switch (how) {
    case BY_READ:
        return recv(fd, &byte, 1, MSG_PEEK) == 1;
    case BY_POLL:
        return poll(&p, 1, 3000) == 1;
    case BY_SELECT:
        return select(fd + 1, &set, NULL, NULL, &limit) == 1;
    default:
        return epoll_wait(epfd, &event, 1, 3000) == 1;
    }
}

/* Who was woken for all connections of a set is not who waits for one of them afterwards. */
static void test_used_wake_up(enum wait how)
{
    struct epoll_event event = {.events = EPOLLIN}, nothing = {.events = 0};
    const int epfd = epoll_create1(0), other = epoll_create1(0);
    struct waking w = {.thread = (pid_t)syscall(SYS_gettid)};
    int fd[2][2], told = 0;
    pthread_t id;
    char byte;

    for (int i = 0; i < 2; i++) {
        make_pair(fd[i]);
        epoll_ctl(epfd, EPOLL_CTL_ADD, fd[i][0], &event);
    }
    if (how == BY_ANOTHER_SET)
        epoll_ctl(other, EPOLL_CTL_ADD, fd[0][0], &event);
    for (int round = 0; round < 20; round++) {
        for (int which = 1; which >= 0; which--) {
            w.fd = fd[which][1];
            pthread_create(&id, NULL, write_when_asleep, &w);
            told += which ? epoll_wait(epfd, &event, 1, 3000) == 1
                          : wait_for_one(how, fd[0][0], how == BY_ANOTHER_SET ? other : epfd);
            pthread_join(id, NULL);
            told += recv(fd[which][0], &byte, 1, MSG_DONTWAIT) == 1;
            event.events = EPOLLIN;
            if (how == BY_THE_SET_ALONE)
                epoll_ctl(epfd, EPOLL_CTL_MOD, fd[1][0], which ? &nothing : &event);
        }
    }
    printf("used wake-up %d: %d\n", how, told);
    close(epfd);
    close(other);
    for (int i = 0; i < 2; i++)
        close_pair(fd[i]);
}

enum { IDLERS = 6, FEW_POLLED = 12, FEW_OPEN = 20 };

struct idlers {
    int epfd, fd[2][2];
    _Atomic pid_t thread;
    sem_t naps;
};

/* Who is told of a byte keeps the others waiting. */
static void *idle_in_set(void *argument)
{
    const struct timespec while_others_sleep = {0, 100000000};
    struct idlers *d = argument;
    struct epoll_event event;
    char byte;

    d->thread = (pid_t)syscall(SYS_gettid);
    while (epoll_wait(d->epfd, &event, 1, -1) != 1 ||
           recv(d->fd[0][0], &byte, 1, MSG_DONTWAIT) != 1)
        ;
    nanosleep(&while_others_sleep, NULL);
    sem_post(&d->naps);
    return NULL;
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin_idlers(struct idlers *d, int threads, pthread_t *id)
{
    struct epoll_event event = {.events = EPOLLIN};

    d->epfd = epoll_create1(0);
    sem_init(&d->naps, 0, 0);
    for (int i = 0; i < 2; i++) {
        make_pair(d->fd[i]);
        epoll_ctl(d->epfd, EPOLL_CTL_ADD, d->fd[i][0], &event);
    }
    for (int i = 0; i < threads; i++) {
        d->thread = 0;
        pthread_create(&id[i], NULL, idle_in_set, d);
        while (!d->thread)
            sched_yield();
        wait_asleep(d->thread);
    }
}

static void end_idlers(struct idlers *d, int threads, const pthread_t *id)
{
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    sem_destroy(&d->naps);
    close(d->epfd);
    for (int i = 0; i < 2; i++)
        close_pair(d->fd[i]);
}

/* Threads that sleep in one set take no processor time while one has what was told. */
static void test_idlers(void)
{
    struct idlers d;
    pthread_t id[IDLERS];
    double before;

    begin_idlers(&d, IDLERS, id);
    before = processor_seconds();
    for (int i = 0; i < IDLERS; i++) {
        write_byte_to(d.fd[0][1]);
        while (sem_wait(&d.naps) < 0)
            ;
    }
    printf("idlers: %d\n", processor_seconds() - before > 0.2);
    end_idlers(&d, IDLERS, id);
}

/* Nor does one after another was cancelled there. */
static void test_cancelled(void)
{
    struct epoll_event event;
    struct idlers d;
    pthread_t id;
    double before;

    begin_idlers(&d, 1, &id);
    pthread_cancel(id);
    pthread_join(id, NULL);
    write_byte_to(d.fd[1][1]);
    before = processor_seconds();
    printf("cancelled: %d", epoll_wait(d.epfd, &event, 1, 3000));
    recv(d.fd[1][0], &event, 1, MSG_DONTWAIT);
    for (int turn = 0; turn < 2; turn++)
        printf(" %d", epoll_wait(d.epfd, &event, 1, turn ? 0 : 300));
    printf(" %d\n", processor_seconds() - before > 0.2);
    end_idlers(&d, 0, NULL);
}

struct limited {
    int stat, fd;
};

/* With no descriptor to spare. */
static void *write_when_state_is_asleep(void *argument)
{
    const struct limited *l = argument;
    char line[256] = "";

    do {
        sched_yield();
        if (pread(l->stat, line, sizeof(line) - 1, 0) <= 0)
            die("stat");
    } while (strrchr(line, ')')[2] != 'S');
    write_byte_to(l->fd);
    return NULL;
}

/* Poll takes as many as may be open, and is refused more: those of ours do not count. */
static void test_limit(void)
{
    const struct rlimit few = {FEW_OPEN, 4096}, many = {4096, 4096};
    struct limited l = {.stat = open("/proc/thread-self/stat", O_RDONLY)};
    struct pollfd p[FEW_POLLED];
    int fd[FEW_POLLED][2];
    pthread_t id;

    for (int i = 0; i < FEW_POLLED; i++) {
        make_pair(fd[i]);
        p[i] = (struct pollfd){.fd = fd[i][0], .events = POLLIN};
    }
    l.fd = fd[0][1];
    setrlimit(RLIMIT_NOFILE, &few);
    pthread_create(&id, NULL, write_when_state_is_asleep, &l);
    printf("limit: %d\n", poll(p, FEW_POLLED, 3000));
    setrlimit(RLIMIT_NOFILE, &many);
    pthread_join(id, NULL);
    close(l.stat);
    for (int i = 0; i < FEW_POLLED; i++)
        close_pair(fd[i]);
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
    test_looked();
    for (int how = 0; how < WAITS; how++)
        test_used_wake_up(how);
    test_idlers();
    test_cancelled();
    test_limit();
    test_no_delay();
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    test_wakes();
    return 0;
}
