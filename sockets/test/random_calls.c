/* SPDX-License-Identifier: BSD-3-Clause
 *
 * random_calls SEED STEPS [far]: a program of random calls on TCP connections of which it has both
 * ends, that tells the result of each.  With and without unetsock it has to tell the same.
 *
 * It never has more under way than the smallest buffers hold, and blocks only where the answer is
 * certain, so that what TCP does is determined.
 */

#include "listen.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 3, MOST = 40000 };

struct end {
    int fd;
    size_t pending;   /* bytes for this end to read */
    uint64_t written; /* bytes ever written by this end: what the next one looks like */
    bool shut;        /* this end has been shut down for writing */
    bool edges;       /* has been in the epoll set with EPOLLET, of which epoll may tell more */
};

struct pair {
    struct end end[2];
    bool open;
};

static struct pair pairs[PAIRS];
static int listener, epfd, file, pipes[2];
static bool by_level; /* all that epoll tells, in this program alone */
static bool far;      /* what is sent may be on its way for a while */
static uint64_t state;
static unsigned step;
static off_t file_end;
static char buffer[MOST];

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint32_t hash(const char *data, ssize_t n)
{
    uint32_t h = 2166136261u;

    for (ssize_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)data[i]) * 16777619u;
    return h;
}

static void tell(const char *what, int pair, int end, ssize_t n)
{
    const int error = errno;

    printf("%u %s %d.%d: %zd", step, what, pair, end, n);
    if (n < 0)
        printf(" %s", strerrorname_np(error));
}

static void open_pair(int i)
{
    struct sockaddr_in a;
    socklen_t length = sizeof(a);
    int one = 1;

    if (getsockname(listener, (void *)&a, &length) < 0)
        die("getsockname");
    pairs[i] = (struct pair){.open = true};
    pairs[i].end[0].fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(pairs[i].end[0].fd, (void *)&a, length) < 0)
        die("connect");
    pairs[i].end[1].fd = accept4(listener, NULL, NULL, draw(2) ? SOCK_NONBLOCK : 0);
    if (pairs[i].end[1].fd < 0)
        die("accept4");
    for (int e = 0; e < 2; e++)
        setsockopt(pairs[i].end[e].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    printf("%u open %d\n", step, i);
}

static void close_pair(int i)
{
    const int first = (int)draw(2);

    for (int e = 0; e < 2; e++)
        close(pairs[i].end[e ^ first].fd);
    pairs[i].open = false;
    printf("%u close %d\n", step, i);
}

/* ---- data ------------------------------------------------------------------------- */

static void fill(struct end *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buffer[i] = (char)((from->written + i) * 131 >> 3);
}

static ssize_t write_by(unsigned call, int fd, size_t n)
{
    const size_t half = n / 2;
    struct iovec iov[2] = {{buffer, half}, {buffer + half, n - half}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    off_t offset;

    switch (call) {
    case 0:
        return write(fd, buffer, n);
    case 1:
        return writev(fd, iov, 2);
    case 2:
        return sendmsg(fd, &msg, MSG_NOSIGNAL);
    case 3:
        offset = file_end; /* TCP sends pages of the file, so they must not change */
        file_end += (off_t)n;
        if (pwrite(file, buffer, n, offset) != (ssize_t)n)
            die("pwrite");
        return sendfile(fd, file, &offset, n);
    case 4:
        return sendto(fd, buffer, n, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
    default:
        return send(fd, buffer, n, MSG_NOSIGNAL);
    }
}

/* TCP has room for it; a path between hosts may have to take in first what was sent before. */
static ssize_t write_somehow(int fd, size_t n)
{
    const unsigned call = draw(6);
    ssize_t done;

    while ((done = write_by(call, fd, n)) < 0 && errno == EAGAIN && far)
        sched_yield();
    return done;
}

static void do_send(int p, int e)
{
    struct end *from = &pairs[p].end[e], *to = &pairs[p].end[!e];
    /* What a full receive buffer drops comes again after it was read, which far ends wait for. */
    const size_t most = far ? MOST / 4 : MOST;
    const size_t room = to->pending < most ? most - to->pending : 0;
    size_t n = draw(3) ? 1 + draw(200) : 1 + draw(MOST);
    ssize_t done;

    if (n > room)
        n = room;
    if (n == 0)
        return;
    fill(from, n);
    done = write_somehow(from->fd, n);
    tell("send", p, e, done);
    printf(" of %zu\n", n);
    if (done > 0) {
        from->written += (uint64_t)done;
        to->pending += (size_t)done;
    }
}

static ssize_t read_somehow(int fd, size_t n, bool all)
{
    struct iovec iov[2] = {{buffer, n / 2}, {buffer + n / 2, n - n / 2}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

    switch (draw(all ? 6 : 4)) {
    case 0:
        return read(fd, buffer, n);
    case 1:
        return readv(fd, iov, 2);
    case 2:
        return recvmsg(fd, &msg, 0);
    case 3:
        return recvfrom(fd, buffer, n, 0, NULL, NULL);
    default:
        return recv(fd, buffer, n, MSG_WAITALL);
    }
}

/* Blocks only where there is something, or the end. */
static void do_receive(int p, int e)
{
    struct end *to = &pairs[p].end[e];
    const size_t n = draw(3) ? 1 + draw(300) : 1 + draw(MOST);
    const bool certain = to->pending > 0 || pairs[p].end[!e].shut;
    ssize_t done;

    if (certain && draw(4))
        done = read_somehow(to->fd, n, to->pending >= n);
    else
        done = recv(to->fd, buffer, n, MSG_DONTWAIT);
    tell("recv", p, e, done);
    printf(" of %zu: %08x\n", n, hash(buffer, done));
    if (done > 0)
        to->pending -= (size_t)done;
}

static void do_peek(int p, int e)
{
    char byte = 0;
    const ssize_t n = recv(pairs[p].end[e].fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    tell("peek", p, e, n);
    printf(" %02x\n", (unsigned char)byte);
}

static void do_discard(int p, int e)
{
    struct end *to = &pairs[p].end[e];
    const size_t n = 1 + draw(200);
    const ssize_t done = recv(to->fd, NULL, n, MSG_TRUNC | MSG_DONTWAIT);

    tell("discard", p, e, done);
    printf(" of %zu\n", n);
    if (done > 0)
        to->pending -= (size_t)done;
}

static void do_splice(int p, int e)
{
    struct end *to = &pairs[p].end[e];
    const size_t n = 1 + draw(300);
    ssize_t done, got = 0;

    if (to->pending == 0)
        return;
    done = splice(to->fd, NULL, pipes[1], NULL, n, SPLICE_F_NONBLOCK);
    tell("splice", p, e, done);
    if (done > 0) {
        to->pending -= (size_t)done;
        got = read(pipes[0], buffer, sizeof(buffer));
    }
    printf(" of %zu: %08x\n", n, hash(buffer, got));
}

/* ---- waiting ---------------------------------------------------------------------- */

static void do_poll(void)
{
    struct pollfd fds[2 * PAIRS];
    int n = 0;

    for (int p = 0; p < PAIRS; p++)
        for (int e = 0; pairs[p].open && e < 2; e++)
            fds[n++] =
                (struct pollfd){.fd = pairs[p].end[e].fd,
                                .events = (short)(draw(2) ? POLLIN | POLLOUT | POLLRDHUP : POLLIN)};
    printf("%u poll: %d", step, poll(fds, (nfds_t)n, 0));
    for (int i = 0; i < n; i++)
        printf(" %x", (unsigned)fds[i].revents);
    printf("\n");
}

static void do_select(void)
{
    struct timeval none = {0, 0};
    fd_set r, w;
    int most = 0;

    FD_ZERO(&r);
    FD_ZERO(&w);
    for (int p = 0; p < PAIRS; p++)
        for (int e = 0; pairs[p].open && e < 2; e++) {
            const int fd = pairs[p].end[e].fd;
            FD_SET(fd, &r);
            if (draw(2))
                FD_SET(fd, &w);
            most = fd >= most ? fd + 1 : most;
        }
    printf("%u select: %d", step, select(most, &r, &w, NULL, &none));
    for (int p = 0; p < PAIRS; p++)
        for (int e = 0; pairs[p].open && e < 2; e++)
            printf(" %d%d", !!FD_ISSET(pairs[p].end[e].fd, &r), !!FD_ISSET(pairs[p].end[e].fd, &w));
    printf("\n");
}

static void do_epoll_ctl(int p, int e)
{
    static const uint32_t kinds[] = {EPOLLIN,  EPOLLIN | EPOLLOUT,     EPOLLIN | EPOLLRDHUP,
                                     EPOLLOUT, EPOLLIN | EPOLLONESHOT, EPOLLIN | EPOLLET};
    static const int ops[] = {EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
    struct epoll_event event = {.events = kinds[draw(by_level ? 4 : 6)],
                                .data.u32 = (uint32_t)(2 * p + e)};
    const int n = epoll_ctl(epfd, ops[draw(4)], pairs[p].end[e].fd, &event);

    tell("epoll_ctl", p, e, n);
    printf(" %x\n", event.events);
    pairs[p].end[e].edges |= event.events & EPOLLET;
}

/* Of edges there may be more; and TCP tells of unread data once more when its end is acknowledged.
 */
static const char *kind_of(const struct end *end)
{
    return !end->edges ? "" : end->shut ? "ended:" : "edges:";
}

static void do_epoll_wait(void)
{
    struct epoll_event events[4 * PAIRS];
    uint32_t of[2 * PAIRS] = {0};
    const int n = epoll_wait(epfd, events, 4 * PAIRS, 0);

    for (int i = 0; i < n; i++)
        of[events[i].data.u32 % (2 * PAIRS)] |= events[i].events;
    printf("%u epoll_wait:", step);
    for (int i = 0; i < 2 * PAIRS; i++)
        printf(" %s%x", kind_of(&pairs[i / 2].end[i % 2]), of[i]);
    printf("\n");
}

/* ---- descriptors and processes ------------------------------------------------------- */

static void do_shutdown(int p, int e)
{
    const int n = shutdown(pairs[p].end[e].fd, SHUT_WR);

    tell("shutdown", p, e, n);
    printf("\n");
    pairs[p].end[e].shut = true;
}

static void do_dup(int p, int e)
{
    struct end *end = &pairs[p].end[e];
    const int copy = draw(2) ? dup(end->fd) : fcntl(end->fd, F_DUPFD_CLOEXEC, 3);

    if (copy < 0)
        die("dup");
    close(end->fd);
    end->fd = copy;
    printf("%u dup %d.%d\n", step, p, e);
}

static void do_fionread(int p, int e)
{
    int bytes = -1;
    const int n = ioctl(pairs[p].end[e].fd, FIONREAD, &bytes);

    tell("fionread", p, e, n);
    printf(" %d\n", bytes);
}

static void do_nonblock(int p, int e)
{
    int on = (int)draw(2);
    const int fd = pairs[p].end[e].fd;

    if (draw(2))
        ioctl(fd, FIONBIO, &on);
    else
        fcntl(fd, F_SETFL, on ? O_NONBLOCK : 0);
    printf("%u nonblock %d.%d %d\n", step, p, e, on);
}

/* A child sends, receives, and leaves. */
static void do_fork(int p, int e)
{
    struct end *end = &pairs[p].end[e];
    int status;
    pid_t child;

    if (end->shut || pairs[p].end[!e].shut)
        return;
    fflush(stdout);
    child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        struct end before = *end;
        do_send(p, e);
        if (end->pending > 0)
            do_receive(p, e);
        fflush(stdout);
        _exit((int)(end->written != before.written));
    }
    waitpid(child, &status, 0);
    file_end += MOST; /* the child may have sent from there */
    /* How much the child has moved, the kernel knows. */
    for (int i = 0; i < 2; i++) {
        int bytes = 0;
        ioctl(pairs[p].end[i].fd, FIONREAD, &bytes);
        pairs[p].end[i].pending = (size_t)bytes;
    }
    printf("%u fork %d.%d: %d\n", step, p, e, WEXITSTATUS(status));
}

/* TCP may hold back the rest of what it was given until an acknowledgement, which may be late. */
static void let_arrive(void)
{
    for (int p = 0; p < PAIRS; p++)
        for (int e = 0; pairs[p].open && e < 2; e++)
            for (int unsent = 1; unsent > 0; sched_yield())
                if (ioctl(pairs[p].end[e].fd, SIOCOUTQNSD, &unsent) < 0)
                    die("SIOCOUTQNSD");
}

/* Between hosts, what was sent takes its time: until all of it is there to be read, and the end. */
static void let_reach(void)
{
    for (int p = 0; p < PAIRS; p++)
        for (int e = 0; pairs[p].open && e < 2; e++) {
            struct pollfd fd = {.fd = pairs[p].end[e].fd, .events = POLLIN};

            for (int unread = -1; unread != (int)pairs[p].end[e].pending; sched_yield())
                if (ioctl(fd.fd, SIOCINQ, &unread) < 0)
                    die("SIOCINQ");
            while (pairs[p].end[!e].shut && poll(&fd, 1, 0) == 0)
                sched_yield();
        }
}

static void do_step(void)
{
    const int p = (int)draw(PAIRS), e = (int)draw(2);

    let_arrive();
    if (far)
        let_reach();
    if (!pairs[p].open) {
        open_pair(p);
        return;
    }
    switch (draw(64)) {
    case 0 ... 17:
        do_send(p, e);
        break;
    case 18 ... 35:
        do_receive(p, e);
        break;
    case 36 ... 37:
        do_peek(p, e);
        break;
    case 38 ... 39:
        do_discard(p, e);
        break;
    case 40 ... 41:
        do_splice(p, e);
        break;
    case 42 ... 44:
        do_poll();
        break;
    case 45 ... 46:
        do_select();
        break;
    case 47 ... 49:
        for (unsigned i = by_level ? draw(4) : 0; i > 0; i--)
            do_epoll_ctl(p, e);
        do_epoll_ctl(p, e);
        break;
    case 50 ... 53:
        do_epoll_wait();
        break;
    case 54 ... 55:
        do_fionread(p, e);
        break;
    case 56:
        do_nonblock(p, e);
        break;
    case 57 ... 58:
        if (!far) /* a thread of the library's may just have the lowest number */
            do_dup(p, e);
        break;
    case 59:
        if (!by_level)
            do_fork(p, e);
        break;
    case 60:
        do_shutdown(p, e);
        break;
    case 61:
        close_pair(p);
        break;
    default:
        do_send(p, e);
        if (far)
            let_reach();
        do_receive(p, !e);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    const unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

    far = argc == 4 && strcmp(argv[3], "far") == 0;
    if (argc != 3 && !far) {
        fprintf(stderr, "usage: random_calls SEED STEPS [far]\n");
        return 2;
    }
    state = (uint64_t)atoll(argv[1]) * 2654435761u + 1;
    by_level = draw(2);
    signal(SIGPIPE, SIG_IGN);
    alarm(50);
    listener = listen_anywhere(0, 8, &address);
    if (listener < 0)
        die("listen");
    epfd = epoll_create1(0);
    file = memfd_create("file", 0);
    if (epfd < 0 || file < 0 || pipe2(pipes, O_NONBLOCK) < 0)
        die("epoll, memfd or pipe");
    for (step = 0; step < steps; step++)
        do_step();
    return 0;
}
