/* SPDX-License-Identifier: BSD-3-Clause
 *
 * end_calls [ends|copies] [far]: how who waits hears of the end of a connection whose peer is
 * killed, or that this program has shut down itself; and of edges of which the kernel cannot be
 * asked again.  It tells what it sees, which has to be the same over plain TCP and over unetsock.
 */
#include "matrix.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/wait.h>

enum { ROUNDS = 60, EDGES = 800, LIMIT_MS = 10000, MOST = 4000, VAIN = 1000 };

/* A process that connects to this one, for which `serve` answers: one of its own, as a connection
 * that was inherited is the kernel's. */
static pid_t connect_child(int *fd, void (*serve)(int fd))
{
    int one = 1, connected;
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        connected = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connected, (void *)&address, sizeof(address)) < 0)
            _exit(1);
        setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        serve(connected);
        _exit(0);
    }
    if ((*fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
        die("accept4");
    setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---- how one waits ---------------------------------------------------------------------- */

static const struct wait {
    const char *name;
    uint32_t events; /* of epoll, beside EPOLLIN; or of poll */
    enum { BY_EPOLL, BY_NESTED, BY_POLL } how;
} waits[] = {
    {"level", 0, BY_EPOLL},
    {"level, rdhup", EPOLLRDHUP, BY_EPOLL},
    {"edges", EPOLLET, BY_EPOLL},
    {"edges, rdhup", EPOLLET | EPOLLRDHUP, BY_EPOLL},
    {"edges, space", EPOLLET | EPOLLOUT, BY_EPOLL},
    {"once", EPOLLONESHOT, BY_EPOLL},
    {"nested", 0, BY_NESTED},
    {"nested, edges", EPOLLET, BY_NESTED},
    {"poll", 0, BY_POLL},
    {"poll, rdhup", POLLRDHUP, BY_POLL},
};

struct waiter {
    const struct wait *wait;
    int fd, set, outer;
};

static struct waiter begin_waiting(const struct wait *wait, int fd)
{
    struct waiter w = {wait, fd, -1, -1};
    struct epoll_event event = {.events = EPOLLIN | wait->events}, of_set = {.events = EPOLLIN};

    if (wait->how == BY_POLL)
        return w;
    w.set = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ctl(w.set, EPOLL_CTL_ADD, fd, &event) < 0)
        die("EPOLL_CTL_ADD");
    if (wait->how == BY_NESTED) {
        w.outer = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ctl(w.outer, EPOLL_CTL_ADD, w.set, &of_set) < 0)
            die("EPOLL_CTL_ADD of a set");
    }
    return w;
}

static void end_waiting(const struct waiter *w)
{
    if (w->set >= 0)
        close(w->set);
    if (w->outer >= 0)
        close(w->outer);
}

/* What the wait was told of: 0 if nothing came. */
static int wait_once(const struct waiter *w)
{
    struct pollfd p = {.fd = w->fd, .events = (short)(POLLIN | w->wait->events)};
    struct epoll_event event = {.events = EPOLLIN | w->wait->events};
    int n;

    if (w->wait->how == BY_POLL)
        return poll(&p, 1, LIMIT_MS);
    if (w->wait->events & EPOLLONESHOT)
        epoll_ctl(w->set, EPOLL_CTL_MOD, w->fd, &event);
    if (w->wait->how == BY_EPOLL)
        return epoll_wait(w->set, &event, 1, LIMIT_MS);
    n = epoll_wait(w->outer, &event, 1, LIMIT_MS);
    if (n > 0)
        epoll_wait(w->set, &event, 1, 0);
    return n;
}

/* ---- ends ------------------------------------------------------------------------------- */

static void answer(int fd)
{
    char byte;

    for (int i = 0; i < ROUNDS; i++)
        if (read(fd, &byte, 1) != 1 || write(fd, &byte, 1) != 1)
            _exit(1);
}

/* Not before all answers have arrived, of which the last ones may be lost with who has sent them.
 */
static void answer_and_die(int fd)
{
    char byte;

    answer(fd);
    if (read(fd, &byte, 1) == 1)
        raise(SIGKILL);
}

static void answer_and_stay(int fd)
{
    answer(fd);
    for (;;)
        pause();
}

/* Asks and reads answers, until there were `most`, or the end.  *vain: how often there was nothing,
 * in spite of what was told. */
static ssize_t read_to_end(const struct waiter *w, int *rounds, int most, int *vain)
{
    char bytes[8];
    ssize_t n = -1;

    for (*vain = 0; *rounds < most;) {
        bool any = false;

        if (wait_once(w) <= 0) {
            errno = ETIME;
            return -1;
        }
        while ((n = recv(w->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
            any = true;
            if (++*rounds < most && write(w->fd, "x", 1) != 1)
                return -1;
        }
        if (n == 0 || errno != EAGAIN)
            break;
        *vain += !any;
    }
    return n;
}

static void tell_end(const char *what, const struct wait *wait, int rounds, ssize_t n)
{
    printf("%s, %s: %d rounds, %s\n", what, wait->name, rounds, result(n));
    fflush(stdout);
}

static void end_by_kill(const struct wait *wait)
{
    int fd, rounds = 0, vain;
    const pid_t child = connect_child(&fd, answer_and_die);
    const struct waiter w = begin_waiting(wait, fd);
    ssize_t n;

    if (write(fd, "x", 1) != 1)
        die("write");
    n = read_to_end(&w, &rounds, ROUNDS + 1, &vain);
    if (far && n < 0 && errno == ECONNRESET) /* a bell, of which it had not been told, was unread */
        n = 0;
    tell_end("killed", wait, rounds, n);
    end_waiting(&w);
    close(fd);
    end_child(child);
}

struct stopper {
    pid_t thread;
    int fd, how;
};

static void *shut_when_asleep(void *argument)
{
    const struct stopper *s = argument;

    wait_asleep(s->thread);
    shutdown(s->fd, s->how);
    return NULL;
}

/* The peer does nothing about it. */
static void end_by_shutdown(const struct wait *wait, int how)
{
    int fd, rounds = 0, vain;
    const pid_t child = connect_child(&fd, answer_and_stay);
    const struct waiter w = begin_waiting(wait, fd);
    struct stopper stopper = {gettid(), fd, how};
    pthread_t thread;
    ssize_t n;

    if (write(fd, "x", 1) != 1)
        die("write");
    read_to_end(&w, &rounds, ROUNDS, &vain);
    if (pthread_create(&thread, NULL, shut_when_asleep, &stopper) != 0)
        die("pthread_create");
    n = read_to_end(&w, &rounds, ROUNDS + 1, &vain);
    pthread_join(thread, NULL);
    tell_end(how == SHUT_RD ? "shut for reading" : "shut", wait, rounds, n);
    if (vain > VAIN)
        printf("woken %d times in vain\n", vain);
    end_waiting(&w);
    close(fd);
    end_child(child);
}

/* A read that may block finds the end at once, and waits no longer than it is to. */
static void read_after_shutdown(int how)
{
    const struct timeval limit = {.tv_usec = 500000};
    struct timespec from, to;
    char byte;
    int fd;
    const pid_t child = connect_child(&fd, answer_and_stay);
    ssize_t n;

    for (int i = 0; i < ROUNDS; i++)
        if (write(fd, "x", 1) != 1 || read(fd, &byte, 1) != 1)
            die("rounds");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    shutdown(fd, how);
    clock_gettime(CLOCK_MONOTONIC, &from);
    n = read(fd, &byte, 1);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("read, shut %d: %s%s\n", how, result(n), to.tv_sec - from.tv_sec > 1 ? ", late" : "");
    close(fd);
    end_child(child);
}

static void test_ends(void)
{
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
        end_by_kill(&waits[i]);
        end_by_shutdown(&waits[i], SHUT_RD);
        end_by_shutdown(&waits[i], SHUT_RDWR);
    }
    read_after_shutdown(SHUT_RD);
    read_after_shutdown(SHUT_RDWR);
}

/* ---- edges of copies ---------------------------------------------------------------------- */

/* Answers of some length, which end with an E. */
static void answer_at_length(int fd)
{
    static const int lengths[] = {3000, 20, 100, 100, 20, 20, 100};
    static char bytes[MOST];
    char byte;

    for (unsigned i = 0; read(fd, &byte, 1) == 1; i++) {
        const int n = lengths[i % (sizeof(lengths) / sizeof(*lengths))];

        for (int done = 0, sent = 0; done < n; done += sent)
            if ((sent = (int)send(fd, bytes, (size_t)(n - done), 0)) <= 0)
                return;
        if (write(fd, "E", 1) != 1)
            return;
    }
}

/* Until an answer has ended. */
static bool await_answer(int set, int fd)
{
    static char bytes[MOST];
    struct epoll_event event;
    bool ended = false;
    ssize_t n;

    while (!ended) {
        if (epoll_wait(set, &event, 1, LIMIT_MS) <= 0)
            return false;
        while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
            ended = bytes[n - 1] == 'E';
        if (n == 0)
            return false;
    }
    return true;
}

/* Edges of a connection that is in the set by a descriptor that was closed, of which there is a
 * copy; or that the kernel does not let change. */
static void test_copy(uint32_t events, bool copied)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET | events};
    const int set = epoll_create1(EPOLL_CLOEXEC);
    int fd, answers = 0;
    const pid_t child = connect_child(&fd, answer_at_length);

    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) < 0)
        die("EPOLL_CTL_ADD");
    if (copied) {
        const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

        close(fd);
        fd = copy;
    }
    for (; answers < EDGES; answers++)
        if (write(fd, "x", 1) != 1 || !await_answer(set, fd))
            break;
    printf("edges of %s: %d answers\n", copied ? "a copy" : "one that excludes others", answers);
    close(fd);
    close(set);
    end_child(child);
}

int main(int argc, char **argv)
{
    argc = begin(argc, argv);
    if (is_wanted(argc, argv, "ends"))
        test_ends();
    if (is_wanted(argc, argv, "copies")) {
        test_copy(0, true);
        test_copy(EPOLLEXCLUSIVE, false);
    }
    return 0;
}
