/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exact_calls [far]: what connections do when threads block, signals come, much is sent, and calls
 * come that only the kernel serves.  It tells what it sees, which has to be the same over plain TCP
 * and over unetsock.  Between hosts what is written has not arrived yet when write returns.
 */
#include "calls.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static bool far;

static void await_arrival(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (far && poll(&p, 1, 5000) != 1)
        die("poll");
}

/* ---- a thread that blocks ------------------------------------------------------------ */

struct reader {
    int fd, flags;
    size_t want;
    char buffer[64];
    ssize_t n;
    int error;
    _Atomic pid_t thread;
    pthread_t id;
};

static void *read_in_thread(void *argument)
{
    struct reader *r = argument;

    r->thread = (pid_t)syscall(SYS_gettid);
    r->n = recv(r->fd, r->buffer, r->want, r->flags);
    r->error = errno;
    return NULL;
}

static void start_reader(struct reader *r, int fd, size_t want, int flags)
{
    *r = (struct reader){.fd = fd, .want = want, .flags = flags};
    if (pthread_create(&r->id, NULL, read_in_thread, r) != 0)
        die("pthread_create");
    while (!r->thread)
        sched_yield();
    wait_asleep(r->thread);
}

static void end_reader(const char *what, struct reader *r)
{
    pthread_join(r->id, NULL);
    errno = r->error;
    printf("%s: %s %.*s\n", what, result(r->n), r->n > 0 ? (int)r->n : 0, r->buffer);
}

static void on_signal(int signal)
{
    (void)signal;
}

static void test_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct reader r;
    int fd[2];

    make_pair(fd);
    sigaction(SIGUSR1, &action, NULL);
    start_reader(&r, fd[0], 10, 0);
    pthread_kill(r.id, SIGUSR1);
    end_reader("interrupted", &r);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    start_reader(&r, fd[0], 10, 0);
    pthread_kill(r.id, SIGUSR1);
    wait_asleep(r.thread);
    if (write(fd[1], "restarted", 9) != 9)
        die("write");
    end_reader("restarted", &r);
    close_pair(fd);
}

static void test_waiting(void)
{
    struct timeval limit = {0, 50000};
    struct reader r;
    int fd[2];

    make_pair(fd);
    start_reader(&r, fd[0], 12, MSG_WAITALL);
    for (int i = 0; i < 3; i++) {
        if (send(fd[1], "abcd", 4, 0) != 4)
            die("send");
        if (i < 2)
            wait_asleep(r.thread);
    }
    end_reader("all", &r);
    start_reader(&r, fd[0], 12, MSG_PEEK);
    if (send(fd[1], "peeked", 6, 0) != 6)
        die("send");
    end_reader("peek", &r);
    start_reader(&r, fd[1], 12, 0);
    shutdown(fd[0], SHUT_WR);
    end_reader("end", &r);
    setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    printf("left: %s\n", result(recv(fd[0], r.buffer, 12, 0)));
    printf("timeout: %s\n", result(recv(fd[0], r.buffer, 12, 0)));
    close_pair(fd);
}

static void test_poll_in_thread(void)
{
    struct pollfd p[2];
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = 7};
    const int epfd = epoll_create1(0);
    int fd[2], n;
    pid_t child;
    char byte;

    make_pair(fd);
    fflush(stdout);
    if ((child = fork()) == 0) { /* answers each byte */
        close(fd[0]);
        while (read(fd[1], &byte, 1) == 1 && write(fd[1], "answer", 6) == 6)
            ;
        _exit(0);
    }
    close(fd[1]);
    for (int i = 0; i < 3; i++) {
        char text[16] = "";
        if (write(fd[0], "x", 1) != 1)
            die("write");
        p[0] = (struct pollfd){.fd = fd[0], .events = POLLIN};
        n = poll(p, 1, 5000);
        printf("poll: %d %x", n, (unsigned)p[0].revents);
        printf(" %s", result(recv(fd[0], text, sizeof(text), MSG_DONTWAIT)));
        printf(" %s\n", text);
    }
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    for (int i = 0; i < 3; i++) {
        char text[16] = "";
        if (write(fd[0], "x", 1) != 1)
            die("write");
        event = (struct epoll_event){0};
        n = epoll_wait(epfd, &event, 1, 5000);
        printf("epoll: %d %x %u", n, event.events, event.data.u32);
        printf(" %s\n", result(recv(fd[0], text, sizeof(text), MSG_DONTWAIT)));
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    n = epoll_wait(epfd, &event, 1, 5000);
    printf("after kill: %d %x", n, event.events & EPOLLIN);
    printf(" %s\n", result(recv(fd[0], &byte, 1, 0)));
    close(fd[0]);
    close(epfd);
}

/* ---- edges ---------------------------------------------------------------------------- */

/* Have another thread write a byte to fd once this one sleeps in epoll_wait.  Returns what that
 * tells. */
static int wake_by_write(int epfd, int fd, struct epoll_event *event)
{
    struct waking w = {(pid_t)syscall(SYS_gettid), fd};
    pthread_t thread;
    int n;

    while (epoll_wait(epfd, event, 1, 0) > 0) /* one that is told once more is none of these */
        ;
    pthread_create(&thread, NULL, write_when_asleep, &w);
    n = epoll_wait(epfd, event, 1, 5000);
    pthread_join(thread, NULL);
    return n;
}

/* The other end writes three times, each time after this one has begun to wait; what was told of is
 * never read.  Each has to wake it, also if the last that it read came by TCP. */
static void test_edges_of_unread(bool after_tcp)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = 7};
    const int epfd = epoll_create1(0);
    int fd[2], n;
    char byte;

    make_pair(fd);
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    if (after_tcp) { /* which wakes who sleeps without unread data */
        n = wake_by_write(epfd, fd[1], &event);
        printf("edge by TCP: %d %s\n", n, result(read(fd[0], &byte, 1)));
    }
    if (write(fd[1], "begin", 5) != 5) /* there is something in the ring */
        die("write");
    n = epoll_wait(epfd, &event, 1, 5000);
    printf("edge: %d\n", n);
    for (int i = 0; i < 3; i++) {
        n = wake_by_write(epfd, fd[1], &event);
        printf("edge after unread data: %d %x\n", n, event.events);
    }
    close(epfd);
    close_pair(fd);
}

/* TCP tells of unread data once more when an end is shut down. */
static void test_edge_of_shutdown(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = 7};
    const int epfd = epoll_create1(0);
    int fd[2];

    make_pair(fd);
    epoll_ctl(epfd, EPOLL_CTL_ADD, fd[0], &event);
    if (write(fd[1], "begin", 5) != 5)
        die("write");
    printf("edge: %d", epoll_wait(epfd, &event, 1, 5000));
    shutdown(fd[0], SHUT_WR);
    printf(", after shutdown: %d\n", epoll_wait(epfd, &event, 1, 0));
    close(epfd);
    close_pair(fd);
}

/* ---- much data ------------------------------------------------------------------------ */

enum { MUCH = 8 << 20 };

static void *send_much(void *argument)
{
    const int fd = *(int *)argument;
    char *data = malloc(MUCH);

    for (size_t i = 0; i < MUCH; i++)
        data[i] = (char)(i * 2654435761u >> 13);
    for (size_t done = 0; done < MUCH;) {
        const size_t piece = done % 5 == 0 ? MUCH - done : 3001;
        const ssize_t n = write(fd, data + done, piece < MUCH - done ? piece : MUCH - done);
        if (n <= 0)
            die("write");
        done += (size_t)n;
    }
    free(data);
    shutdown(fd, SHUT_WR);
    return NULL;
}

static void test_much(bool nonblocking)
{
    struct pollfd p = {.events = POLLIN};
    static char piece[70000];
    size_t got = 0, wrong = 0;
    pthread_t id;
    int fd[2];
    ssize_t n;

    make_pair(fd);
    if (nonblocking)
        fcntl(fd[0], F_SETFL, O_NONBLOCK);
    pthread_create(&id, NULL, send_much, &fd[1]);
    p.fd = fd[0];
    for (;;) {
        if (nonblocking && poll(&p, 1, 20000) != 1)
            die("poll");
        n = read(fd[0], piece, got % 3 ? sizeof(piece) : 999);
        if (n == 0)
            break;
        if (n < 0)
            die("read");
        for (ssize_t i = 0; i < n; i++)
            wrong += piece[i] != (char)((got + (size_t)i) * 2654435761u >> 13);
        got += (size_t)n;
    }
    pthread_join(id, NULL);
    printf("much: %zu wrong %zu\n", got, wrong);
    close_pair(fd);
}

/* ---- ends ------------------------------------------------------------------------------ */

static void test_reset(void)
{
    char byte;
    int fd[2];

    make_pair(fd);
    if (write(fd[0], "unread", 6) != 6)
        die("write");
    await_arrival(fd[1]);
    close(fd[1]);
    printf("reset: %s", result(read(fd[0], &byte, 1)));
    printf(" %s", result(read(fd[0], &byte, 1)));
    printf(" %s\n", result(send(fd[0], "x", 1, MSG_NOSIGNAL)));
    close(fd[0]);
    make_pair(fd);
    close(fd[1]);
    printf("gone: %s", result(send(fd[0], "x", 1, MSG_NOSIGNAL)));
    printf(" %s\n", result(send(fd[0], "x", 1, MSG_NOSIGNAL)));
    close(fd[0]);
}

/* However the end and the error reach who waits. */
static void test_resets(void)
{
    int told = 0;
    char byte;
    int fd[2];

    for (int i = 0; i < 200; i++) {
        make_pair(fd);
        if (write(fd[0], "unread", 6) != 6)
            die("write");
        await_arrival(fd[1]);
        close(fd[1]);
        told += read(fd[0], &byte, 1) < 0 && errno == ECONNRESET;
        close(fd[0]);
    }
    printf("resets: %d\n", told);
}

static void test_dup2(void)
{
    const int null = open("/dev/null", O_RDWR);
    char byte;
    int fd[2];

    make_pair(fd);
    dup2(null, fd[1]);
    printf("dup2: %s", result(read(fd[0], &byte, 1)));
    printf(" %s\n", result(read(fd[1], &byte, 1)));
    close_pair(fd);
    close(null);
}

/* Copies of a socket that are made before it connects: both are the connection. */
static void test_early_copy(int how)
{
    const int input = fcntl(STDIN_FILENO, F_DUPFD, 300);
    struct pollfd p;
    char text[8] = "";
    int fd[2], copy;

    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    copy = how == 0   ? dup(fd[0])
           : how == 1 ? dup2(fd[0], 200)
           : how == 2 ? fcntl(fd[0], F_DUPFD, 100)
                      : dup2(fd[0], STDIN_FILENO);
    connect_pair(fd);
    for (int i = 0; i < 4; i++) {
        if (write(fd[1], "abc", 3) != 3)
            die("write");
        p = (struct pollfd){.fd = copy, .events = POLLIN};
        printf("early copy %d: %d", how, poll(&p, 1, 2000));
        printf(" %s", result(recv(copy, text, 1, MSG_DONTWAIT)));
        printf(" %s", result(recv(fd[0], text + 1, 7, MSG_DONTWAIT)));
        printf(" %s", result(write(copy, "x", 1)));
        printf(" %s", result(write(fd[0], "yz", 2)));
        printf(" %s", result(recv(fd[1], text + 3, 3, MSG_WAITALL)));
        printf(" %s\n", text);
    }
    close(fd[0]);
    printf("early copy: %s", result(write(copy, "w", 1)));
    close(copy);
    dup2(input, STDIN_FILENO);
    close(input);
    printf(" %s", result(read(fd[1], text, 8)));
    printf(" %s\n", result(read(fd[1], text, 8)));
    close(fd[1]);
}

/* ---- into a pipe that is not empty ------------------------------------------------------- */

/* What it has no room for stays in the connection. */
static void test_splice_to_full_pipe(void)
{
    enum { FILLED = 50000 };
    static char data[60000];
    size_t got = 0;
    ssize_t n;

    for (unsigned flags = 0; flags <= SPLICE_F_NONBLOCK; flags += SPLICE_F_NONBLOCK) {
        int fd[2], end[2];

        make_pair(fd);
        if (pipe(end) < 0 || write(end[1], data, FILLED) != FILLED)
            die("pipe");
        if (write(fd[0], data, sizeof(data)) != sizeof(data))
            die("write");
        await_arrival(fd[1]);
        n = splice(fd[1], NULL, end[1], NULL, sizeof(data), flags);
        printf("splice to a pipe in use: %d", n > 0);
        while (splice(fd[1], NULL, end[1], NULL, sizeof(data), SPLICE_F_NONBLOCK) > 0)
            ;
        printf(" %s\n", strerrorname_np(errno));
        fcntl(end[0], F_SETFL, O_NONBLOCK);
        for (got = 0; got < FILLED + sizeof(data); got += (size_t)n) {
            n = read(end[0], data, sizeof(data));
            if (n < 0)
                n = splice(fd[1], NULL, end[1], NULL, sizeof(data), flags) > 0 ? 0 : -1;
            if (n < 0)
                break;
        }
        printf("all of it: %zu\n", got);
        close_pair(fd);
        close_pair(end);
    }
}

/* ---- added while another thread sleeps --------------------------------------------------- */

struct sleeper {
    int set;
    _Atomic pid_t thread;
};

static void *sleep_in_set(void *arg)
{
    struct sleeper *sleeper = arg;
    struct epoll_event event;

    sleeper->thread = (pid_t)syscall(SYS_gettid);
    printf("added to a set: %d\n", epoll_wait(sleeper->set, &event, 1, 10000));
    return NULL;
}

static void test_added_while_asleep(bool fresh)
{
    struct sleeper sleeper = {.set = epoll_create1(0)};
    struct epoll_event event = {.events = EPOLLIN};
    pthread_t id;
    int fd[2];

    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    (fresh ? connect_quietly : connect_pair)(fd);
    if (pthread_create(&id, NULL, sleep_in_set, &sleeper) != 0)
        die("pthread_create");
    while (sleeper.thread == 0)
        sched_yield();
    wait_asleep(sleeper.thread);
    if (epoll_ctl(sleeper.set, EPOLL_CTL_ADD, fd[1], &event) < 0)
        die("epoll_ctl");
    if (write(fd[0], "x", 1) != 1)
        die("write");
    pthread_join(id, NULL);
    close_pair(fd);
    close(sleeper.set);
}

/* ---- what only the kernel does ----------------------------------------------------------- */

static void test_urgent(void)
{
    char text[8] = "";
    short told = 0;
    int fd[2];

    make_pair(fd);
    if (write(fd[0], "ab", 2) != 2 || send(fd[0], "!", 1, MSG_OOB) != 1 ||
        write(fd[0], "cd", 2) != 2)
        die("write");
    for (int i = 0; i < 1000 && told != (POLLIN | POLLPRI); i++) { /* they may come one by one */
        struct pollfd p = {.fd = fd[1], .events = POLLIN | POLLPRI};

        if (poll(&p, 1, 5000) != 1)
            die("poll");
        told |= p.revents;
        sched_yield();
    }
    printf("urgent: %x", (unsigned)told);
    printf(" %s", result(recv(fd[1], text, 1, MSG_OOB)));
    printf(" %s", result(recv(fd[1], text + 1, 2, MSG_WAITALL)));
    printf(" %s '%s'\n", result(recv(fd[1], text + 3, 2, MSG_WAITALL)), text);
    close_pair(fd);
}

/* Urgent data in the middle of others: no call reads across the mark, and ioctl tells where it is.
 */
static void test_mark(bool is_inline, int flags)
{
    const struct timespec brief = {0, 1000000};
    struct pollfd p;
    char text[16];
    int fd[2], one = 1, mark;

    make_pair(fd);
    if (is_inline)
        setsockopt(fd[1], SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one));
    if (write(fd[0], "ab", 2) != 2 || send(fd[0], "!", 1, MSG_OOB) != 1 ||
        write(fd[0], "cd", 2) != 2)
        die("write");
    p = (struct pollfd){.fd = fd[1], .events = POLLPRI};
    printf("mark %d %x: %d", is_inline, (unsigned)flags, poll(&p, 1, 5000));
    while (ioctl(fd[1], FIONREAD, &one) == 0 && one < 2) /* the kernel counts as far as the mark */
        nanosleep(&brief, NULL);
    for (int i = 0; i < 2; i++) {
        ssize_t n;

        mark = -1;
        ioctl(fd[1], SIOCATMARK, &mark);
        memset(text, 0, sizeof(text));
        n = recv(fd[1], text, i == 0 ? 3 : 2 + is_inline, i == 0 ? flags : MSG_WAITALL);
        printf(" %d %s '%s'", mark, result(n), text);
        if (i == 0 && (flags & MSG_PEEK))
            printf(" %s", result(recv(fd[1], text, 2, MSG_WAITALL)));
    }
    printf("\n");
    close_pair(fd);
}

/* Of options that only the kernel obeys, those which a socket has from before it is a connection:
 * its own, or what an accepted one has from the listener. */
enum { LEAST = 10 };

static void test_least(bool inherited)
{
    const int least = LEAST, one = 1;
    char text[LEAST] = "";
    struct pollfd p;
    int fd[2];

    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(inherited ? listener : fd[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
    connect_quietly(fd);
    p = (struct pollfd){.fd = fd[inherited], .events = POLLIN};
    for (int i = 0; i < 40; i++)
        if (write(fd[i % 2], text, LEAST) != LEAST ||
            recv(fd[!(i % 2)], text, LEAST, MSG_WAITALL) != LEAST)
            die("talk");
    if (write(fd[!inherited], text, 1) != 1)
        die("write");
    printf("least: %d", poll(&p, 1, 20));
    if (write(fd[!inherited], text, LEAST - 1) != LEAST - 1)
        die("write");
    printf(" %d", poll(&p, 1, 5000));
    printf(" %s\n", result(recv(p.fd, text, LEAST, MSG_DONTWAIT)));
    setsockopt(listener, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
    close_pair(fd);
}

/* A signal tells of input. */
static void test_signalled(void)
{
    const struct timespec second = {1, 0}, none = {0, 0};
    sigset_t io, before;
    char byte;
    int fd[2];

    sigemptyset(&io);
    sigaddset(&io, SIGIO);
    sigprocmask(SIG_BLOCK, &io, &before);
    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    fcntl(fd[0], F_SETOWN, getpid());
    fcntl(fd[0], F_SETFL, O_ASYNC);
    connect_pair(fd);
    while (sigtimedwait(&io, NULL, &none) > 0)
        ;
    for (int i = 0; i < 4; i++) {
        if (write(fd[1], "x", 1) != 1)
            die("write");
        printf("signalled: %d", sigtimedwait(&io, NULL, &second) == SIGIO);
        printf(" %s\n", result(recv(fd[0], &byte, 1, 0)));
        while (sigtimedwait(&io, NULL, &none) > 0)
            ;
    }
    close_pair(fd);
    while (sigtimedwait(&io, NULL, &none) > 0)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* What Nagle's algorithm holds back leaves when the first answer comes, whichever way that goes. */
static void test_held_back(void)
{
    const int off = 0;
    char text[2];
    struct pollfd p;
    int fd[2];

    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect_quietly(fd);
    setsockopt(fd[0], IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off));
    p = (struct pollfd){.fd = fd[1], .events = POLLIN};
    setsockopt(fd[1], IPPROTO_TCP, TCP_QUICKACK, &off, sizeof(off));
    if (send(fd[0], "a", 1, 0) != 1 || send(fd[0], "b", 1, 0) != 1)
        die("send");
    for (int i = 0; i < 10; i++) { /* calls, after which it may be upgraded */
        recv(fd[0], text, 1, MSG_PEEK | MSG_DONTWAIT);
        recv(fd[1], text, 1, MSG_PEEK | MSG_DONTWAIT);
    }
    printf("held back: %s", result(recv(fd[1], text, 1, 0)));
    printf(" %s", result(send(fd[1], "c", 1, 0)));
    printf(" %d", poll(&p, 1, 20)); /* a delayed acknowledgement takes 40 ms */
    printf(" %s\n", result(recv(fd[1], text, 1, 0)));
    close_pair(fd);
}

static void test_stdio(void)
{
    char line[32] = "";
    FILE *in, *out;
    int fd[2];

    make_pair(fd);
    out = fdopen(fd[0], "w");
    in = fdopen(dup(fd[1]), "r");
    fprintf(out, "a line\n");
    fflush(out);
    printf("stdio: %s", fgets(line, sizeof(line), in));
    dprintf(fd[1], "back %d", fileno(out) == fd[0]);
    printf("dprintf: %s", result(recv(fd[0], line, 6, MSG_WAITALL)));
    printf(" %.6s\n", line);
    fclose(out);
    printf("fclose: %s\n", fgets(line, sizeof(line), in) ? line : "end");
    fclose(in);
    close(fd[1]);
}

static void test_limits(void)
{
    struct sockaddr_in name;
    socklen_t length = sizeof(name);
    int fd[2], error = -1;

    make_pair(fd);
    if (getpeername(fd[0], (void *)&name, &length) < 0)
        die("getpeername");
    printf("names: %d\n", name.sin_port == address.sin_port);
    length = sizeof(error);
    getsockopt(fd[0], SOL_SOCKET, SO_ERROR, &error, &length);
    printf("error: %d\n", error);
    printf("nothing: %s", result(recv(fd[0], NULL, 0, MSG_DONTWAIT)));
    printf(" %s", result(write(fd[1], "x", 1)));
    await_arrival(fd[0]);
    printf(" %s\n", result(recv(fd[0], NULL, 0, MSG_DONTWAIT)));
    close_pair(fd);
}

int main(int argc, char **argv)
{
    far = argc > 1 && strcmp(argv[1], "far") == 0;
    alarm(50);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    begin_listening();
    test_signals();
    test_waiting();
    test_poll_in_thread();
    test_edges_of_unread(false);
    test_edges_of_unread(true);
    test_edge_of_shutdown();
    test_much(false);
    test_much(true);
    test_reset();
    test_resets();
    test_dup2();
    for (int how = 0; how < 4; how++)
        test_early_copy(how);
    test_splice_to_full_pipe();
    test_added_while_asleep(true);
    test_added_while_asleep(false);
    test_urgent();
    for (int is_inline = 0; is_inline < 2; is_inline++) {
        test_mark(is_inline, 0);
        test_mark(is_inline, MSG_DONTWAIT);
        test_mark(is_inline, MSG_WAITALL);
        test_mark(is_inline, MSG_PEEK);
    }
    test_least(false);
    test_least(true);
    test_signalled();
    test_held_back();
    test_stdio();
    test_limits();
    return 0;
}
