/* SPDX-License-Identifier: BSD-3-Clause
 *
 * change_calls: what programs see of changes of their sets of epoll, of which the library tells the
 * kernel late, or never.  It has to be the same over plain TCP and over unetsock.
 */
#include "matrix.h"
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>

static void tell_of(const char *what, int epfd, int timeout)
{
    struct epoll_event told[2] = {0};
    const int n = epoll_wait(epfd, told, 2, timeout);

    printf(" %s %d %x %u", what, n, told[0].events, told[0].data.u32);
}

static int change(int epfd, int op, int fd, uint32_t events, uint32_t name)
{
    struct epoll_event event = {.events = events, .data.u32 = name};

    return epoll_ctl(epfd, op, fd, &event);
}

/* As clients do that wait until they can write, write, wait for the answer, and begin anew. */
static void test_changes(void)
{
    const int epfd = epoll_create1(0);
    char text[8];
    int fd[2];

    make_pair(fd);
    change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLOUT, 0);
    for (uint32_t i = 1; i <= 20; i++) {
        printf("changes:");
        tell_of("space", epfd, 5000);
        if (write(fd[0], "ask", 3) != 3)
            die("write");
        printf(" %s", result(change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0)));
        printf(" %s", result(change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0)));
        printf(" %s", result(change(epfd, EPOLL_CTL_MOD, fd[0], EPOLLIN, i)));
        printf(" %s", result(change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLIN, i)));
        printf(" %s", result(change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLOUT, i)));
        tell_of("nothing", epfd, 0);
        if (await_unread(fd[1], 3) != 3 || read(fd[1], text, 8) != 3 ||
            write(fd[1], "told", 4) != 4)
            die("answer");
        tell_of("data", epfd, 5000);
        if (await_unread(fd[0], 4) != 4 || read(fd[0], text, 8) != 4)
            die("read");
        printf(" %s", result(change(epfd, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLRDHUP, i)));
        printf(" %s", result(change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0)));
        printf(" %s\n", result(change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLOUT, 100 + i)));
    }
    close(epfd);
    close_pair(fd);
}

/* Who learns of changes that have not been asked for since: a poll of the set, a copy of its
 * descriptor, also if the first one is closed among others, a child, and a set that keeps a
 * connection whose descriptor is closed. */
static void test_changes_seen(int how)
{
    const int epfd = epoll_create1(0), copy = dup(epfd);
    struct pollfd p = {.fd = copy, .events = POLLIN};
    int fd[2], other = -1;
    pid_t child;

    make_pair(fd);
    change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLOUT, 1);
    printf("changes seen %d:", how);
    tell_of("space", epfd, 5000);
    if (how == 0 || how == 5)
        change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0);
    else if (how != 3)
        change(epfd, EPOLL_CTL_MOD, fd[0], EPOLLIN, 2);
    if (how < 2)
        printf(" poll %d", poll(&p, 1, 0));
    if (how != 5)
        close(epfd);
    else if (close_range((unsigned)epfd, (unsigned)epfd, 0) == 0)
        printf(" poll %d", poll(&p, 1, 0));
    tell_of("copy", copy, 0);
    if (how == 3) {
        change(copy, EPOLL_CTL_MOD, fd[0], EPOLLOUT, 3);
        change(copy, EPOLL_CTL_DEL, fd[0], 0, 0);
        other = dup(fd[0]);
        close(fd[0]);
        printf(" closed %d", poll(&p, 1, 0));
        fd[0] = other;
    }
    if (how == 2 || how == 4) {
        change(copy, how == 2 ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, fd[0], EPOLLOUT, 4);
        fflush(stdout);
        if ((child = fork()) == 0) {
            tell_of("child", copy, 0);
            printf(" %s", result(change(copy, EPOLL_CTL_ADD, fd[0], EPOLLOUT, 5)));
            printf(" %s", result(change(copy, EPOLL_CTL_MOD, fd[0], EPOLLIN, 6)));
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        tell_of("parent", copy, 0);
        printf(" %s", result(change(copy, EPOLL_CTL_DEL, fd[0], 0, 0)));
    }
    printf("\n");
    close(copy);
    close_pair(fd);
}

/* A program that is executed, with the number of a set, tells what that has. */
static int ask(const char *number)
{
    tell_of("other", atoi(number), 0);
    fflush(stdout);
    return 0;
}

/* What is left of a set is sent to whoever has the other end, who asks the kernel. */
static int pass_set(int epfd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int both[2], got;

    *c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &epfd, sizeof(epfd));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) < 0 || sendmsg(both[0], &msg, 0) != 1 ||
        recvmsg(both[1], &msg, 0) != 1)
        die("pass");
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(got));
    close_pair(both);
    return got;
}

/* Another program gets a set whose connection was just removed, by exec, by posix_spawn, or in a
 * message, after which more is removed. */
static void test_handed_over(int how)
{
    char number[16], *words[] = {"change_calls", "ask", number, NULL};
    int fd[2], more[2], epfd, got;
    pid_t child = 0;

    printf("handed over %d:", how);
    fflush(stdout);
    if (how == 0 && (child = fork()) > 0) {
        waitpid(child, NULL, 0);
        printf("\n");
        return;
    }
    make_pair(fd);
    make_pair(more);
    got = epfd = epoll_create1(0); /* not shared by the fork */
    snprintf(number, sizeof(number), "%d", epfd);
    change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLOUT, 1);
    tell_of("space", epfd, 5000);
    change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0);
    fflush(stdout);
    if (how == 0)
        execv("/proc/self/exe", words);
    if (how == 1 && posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
    if (how == 2) {
        got = pass_set(epfd);
        tell_of("passed", got, 0);
        change(epfd, EPOLL_CTL_ADD, more[0], EPOLLOUT, 1);
        tell_of("more", epfd, 5000);
        change(epfd, EPOLL_CTL_DEL, more[0], 0, 0);
        close(epfd);
        tell_of("closed", got, 0);
    }
    printf("\n");
    close(got);
    close_pair(more);
    close_pair(fd);
}

struct changing {
    pid_t thread;
    int epfd, fd;
};

/* Somebody sleeps for data, and is to be told of space instead. */
static void *change_when_asleep(void *argument)
{
    const struct changing *c = argument;

    wait_asleep(c->thread);
    change(c->epfd, EPOLL_CTL_MOD, c->fd, EPOLLOUT, 8);
    return NULL;
}

static void test_changed_asleep(void)
{
    const int epfd = epoll_create1(0);
    int fd[2];

    make_pair(fd);
    change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLOUT, 6);
    for (int i = 0; i < 10; i++) {
        struct changing c = {(pid_t)syscall(SYS_gettid), epfd, fd[0]};
        pthread_t thread;

        printf("changed asleep:");
        tell_of("space", epfd, 5000);
        change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0);
        change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLIN, 7);
        pthread_create(&thread, NULL, change_when_asleep, &c);
        tell_of("changed", epfd, 5000);
        printf("\n");
        pthread_join(thread, NULL);
    }
    close(epfd);
    close_pair(fd);
}

/* What happens while somebody sleeps: data comes before the change or after that. */
struct renewing {
    struct changing who;
    uint32_t events;
    bool anew, before;
    int from;
};

/* Somebody sleeps, and is to be told of an end instead, which the kernel alone tells of. */
static void *end_when_asleep(void *argument)
{
    const struct renewing *r = argument;

    wait_asleep(r->who.thread);
    change(r->who.epfd, EPOLL_CTL_MOD, r->who.fd, r->events, 9);
    shutdown(r->from, SHUT_WR);
    return NULL;
}

static void test_ended_asleep(void)
{
    const int epfd = epoll_create1(0);
    const pid_t self = (pid_t)syscall(SYS_gettid);
    struct renewing r = {.who = {self, epfd, -1}, .events = EPOLLRDHUP};
    pthread_t thread;
    int fd[2];

    make_pair(fd);
    r.who.fd = fd[0];
    r.from = fd[1];
    change(epfd, EPOLL_CTL_ADD, fd[0], EPOLLPRI, 7);
    pthread_create(&thread, NULL, end_when_asleep, &r);
    printf("ended asleep:");
    tell_of("end", epfd, 2000);
    printf("\n");
    pthread_join(thread, NULL);
    close(epfd);
    close_pair(fd);
}

static void *renew_when_asleep(void *argument)
{
    const struct renewing *r = argument;

    wait_asleep(r->who.thread);
    if (r->before && write(r->from, "x", 1) != 1)
        die("write");
    if (r->anew) {
        change(r->who.epfd, EPOLL_CTL_DEL, r->who.fd, 0, 0);
        change(r->who.epfd, EPOLL_CTL_ADD, r->who.fd, r->events, 9);
    } else {
        change(r->who.epfd, EPOLL_CTL_MOD, r->who.fd, r->events, 9);
    }
    if (!r->before && write(r->from, "x", 1) != 1)
        die("write");
    return NULL;
}

static void test_renewed_asleep(uint32_t kind, bool anew, bool before)
{
    const int epfd = epoll_create1(0);
    char text[8];
    int fd[2];

    make_pair(fd);
    for (int i = 0; i < 5; i++) {
        const pid_t self = (pid_t)syscall(SYS_gettid);
        struct renewing r = {{self, epfd, fd[0]}, EPOLLIN | kind, anew, before, fd[1]};
        pthread_t thread;

        change(epfd, EPOLL_CTL_ADD, fd[0], (before ? EPOLLPRI : EPOLLIN) | kind, 7);
        pthread_create(&thread, NULL, renew_when_asleep, &r);
        printf("renewed asleep %x %d %d:", kind, anew, before);
        tell_of("data", epfd, 2000);
        pthread_join(thread, NULL);
        printf(" %s\n", result(await_unread(fd[0], 1) == 1 ? read(fd[0], text, 8) : -1));
        change(epfd, EPOLL_CTL_DEL, fd[0], 0, 0);
    }
    close(epfd);
    close_pair(fd);
}

/* Two threads sleep in a set.  Who is told of data reads it, and does not come back before the
 * other one was told of more. */
struct pair_of_sleepers {
    int epfd, fd;
    uint32_t events;
    _Atomic pid_t threads[2];
    _Atomic int begun, told, ended;
};

static void *sleep_for_one(void *argument)
{
    struct pair_of_sleepers *p = argument;
    struct epoll_event event;
    char byte;

    p->threads[p->begun++] = (pid_t)syscall(SYS_gettid);
    if (epoll_wait(p->epfd, &event, 1, 2000) == 1 && read(p->fd, &byte, 1) == 1) {
        if (p->events & EPOLLONESHOT)
            change(p->epfd, EPOLL_CTL_MOD, p->fd, p->events, 0);
        p->told++;
    }
    p->ended++;
    return NULL;
}

static void test_two_sleepers(uint32_t kind)
{
    struct pair_of_sleepers p = {.epfd = epoll_create1(0), .events = EPOLLIN | kind};
    pthread_t threads[2];
    int fd[2];

    make_pair(fd);
    p.fd = fd[0];
    change(p.epfd, EPOLL_CTL_ADD, fd[0], p.events, 0);
    for (int i = 0; i < 20; i++) {
        p.begun = p.told = p.ended = 0;
        for (int j = 0; j < 2; j++) {
            p.threads[j] = 0;
            pthread_create(&threads[j], NULL, sleep_for_one, &p);
        }
        for (int j = 0; j < 2; j++) {
            while (!p.threads[j])
                sched_yield();
            wait_asleep(p.threads[j]);
        }
        for (int j = 0; j < 2; j++) {
            if (write(fd[1], "x", 1) != 1)
                die("write");
            while (p.ended <= j)
                sched_yield();
        }
        for (int j = 0; j < 2; j++)
            pthread_join(threads[j], NULL);
        printf("two sleepers %x: %d\n", kind, p.told);
    }
    close(p.epfd);
    close_pair(fd);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "ask") == 0)
        return ask(argv[2]);
    begin(argc, argv);
    test_changes();
    for (int how = 0; how < 6; how++)
        test_changes_seen(how);
    for (int how = 0; how < 3; how++)
        test_handed_over(how);
    test_changed_asleep();
    test_ended_asleep();
    for (int how = 0; how < 4; how++) {
        test_renewed_asleep(0, how & 1, how & 2);
        test_renewed_asleep(EPOLLET, how & 1, how & 2);
        test_renewed_asleep(EPOLLONESHOT, how & 1, how & 2);
    }
    test_two_sleepers(EPOLLET);
    test_two_sleepers(EPOLLONESHOT);
    return 0;
}
