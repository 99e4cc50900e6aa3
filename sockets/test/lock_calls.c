/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock_calls: what several threads and processes do with one connection at once, of which one is
 * slow, stopped, of another priority, or has changed the descriptor's number.  It tells what it
 * sees, which has to be the same over plain TCP and over unetsock.
 */
#include "calls.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
    LIMIT_S = 20, /* who hangs is ended */
    FILE_BYTES = 256 << 10,
    CACHED_BYTES = 40 << 10,
    URGENT_SENDS = 12,   /* by the thread of high priority ... */
    LATE_MS = 500,       /* ... none of which takes so long, whatever else the machine does */
    SHARED_BYTES = 3000, /* that two readers share */
    MAKERS = 4,          /* threads that connect all the time, while ... */
    FORKS = 100,         /* ... so many children are made */
    ROUNDS = 4,
};

static pid_t self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void start(pthread_t *thread, void *(*does)(void *), void *argument)
{
    if (pthread_create(thread, NULL, does, argument) != 0)
        die("pthread_create");
}

/* ---- files ------------------------------------------------------------------------------ */

struct sending {
    int out, in;
};

static void *send_a_file(void *argument)
{
    const struct sending *s = argument;

    printf("%s", result(sendfile(s->out, s->in, NULL, 10)));
    return NULL;
}

/* Another thread sends meanwhile.  What is no file is not read. */
static void send_from(const char *what, int in)
{
    struct sending s = {.in = in};
    pthread_t thread;
    int fd[2], unread = -1;
    uint64_t value = 0;

    make_pair(fd);
    s.out = fd[0];
    printf("sendfile from %s: ", what);
    start(&thread, send_a_file, &s);
    usleep(20000);
    if (send(fd[0], "x", 1, 0) != 1)
        die("send");
    pthread_join(thread, NULL);
    if (ioctl(in, FIONREAD, &unread) < 0)
        unread = read(in, &value, sizeof(value)) == sizeof(value) ? (int)value : -1;
    printf("; left are %d\n", unread);
    close_pair(fd);
}

struct reading_all {
    int fd;
    bool right;
};

static void *read_it_all(void *argument)
{
    static unsigned char bytes[FILE_BYTES];
    struct reading_all *r = argument;
    bool right = recv(r->fd, bytes, sizeof(bytes), MSG_WAITALL) == FILE_BYTES;

    for (size_t i = 0; right && i < FILE_BYTES; i++)
        right = bytes[i] == i % 251;
    r->right = right;
    return NULL;
}

/* Of a file of a disk the kernel has the beginning at hand. */
static void send_what_is_not_at_hand(void)
{
    static unsigned char bytes[FILE_BYTES];
    char name[] = "/tmp/lock_calls_XXXXXX";
    const int file = mkstemp(name);
    struct reading_all r;
    pthread_t reader;
    int fd[2];

    for (size_t i = 0; i < FILE_BYTES; i++)
        bytes[i] = (unsigned char)(i % 251);
    if (file < 0 || unlink(name) < 0 || write(file, bytes, FILE_BYTES) != FILE_BYTES)
        die(name);
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    if (pread(file, bytes, CACHED_BYTES, 0) != CACHED_BYTES || lseek(file, 0, SEEK_SET) != 0)
        die("pread");
    make_pair(fd);
    r.fd = fd[1];
    start(&reader, read_it_all, &r);
    printf("sendfile from a disk: %s, position ", result(sendfile(fd[0], file, NULL, FILE_BYTES)));
    printf("%ld, ", (long)lseek(file, 0, SEEK_CUR));
    pthread_join(reader, NULL);
    printf("%s\n", r.right ? "right" : "wrong");
    close(file);
    close_pair(fd);
}

static void try_files(void)
{
    const int event = eventfd(5, 0);
    int empty[2], full[2];

    if (event < 0 || pipe(empty) < 0 || pipe(full) < 0 || write(full[1], "abc", 3) != 3)
        die("pipe");
    send_from("an empty pipe", empty[0]);
    send_from("a pipe", full[0]);
    send_from("an eventfd", event);
    send_what_is_not_at_hand();
}

/* ---- priorities ------------------------------------------------------------------------- */

struct talk {
    int fd[2];
    _Atomic bool ends;
};

static void *send_all_the_time(void *argument)
{
    static char bytes[2000];
    struct talk *t = argument;

    while (!t->ends)
        if (send(t->fd[0], bytes, sizeof(bytes), 0) < 0)
            die("send");
    shutdown(t->fd[0], SHUT_WR);
    return NULL;
}

static void *read_all_the_time(void *argument)
{
    static char bytes[1 << 16];
    const struct talk *t = argument;

    while (recv(t->fd[1], bytes, sizeof(bytes), 0) > 0)
        ;
    return NULL;
}

/* All on one core, where a thread that is urgent sends by a connection that another one uses. */
static void try_priorities(void)
{
    const struct timespec pause = {.tv_nsec = 500000};
    struct sched_param urgent = {.sched_priority = 5}, normal = {0};
    struct talk t = {.ends = false};
    pthread_t sender, reader;
    cpu_set_t before, one;
    int late = 0;

    sched_getaffinity(0, sizeof(before), &before);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    make_pair(t.fd);
    start(&sender, send_all_the_time, &t);
    start(&reader, read_all_the_time, &t);
    sched_setscheduler(0, SCHED_FIFO, &urgent); /* or this is no test */
    for (int i = 0; i < URGENT_SENDS; i++) {
        double from;

        nanosleep(&pause, NULL);
        from = now_ms();
        if (send(t.fd[0], "x", 1, MSG_DONTWAIT) < 0 && errno != EAGAIN)
            die("send");
        late += now_ms() - from > LATE_MS;
    }
    sched_setscheduler(0, SCHED_OTHER, &normal);
    t.ends = true;
    pthread_join(sender, NULL);
    pthread_join(reader, NULL);
    close_pair(t.fd);
    sched_setaffinity(0, sizeof(before), &before);
    printf("urgent sends: %d late\n", late);
}

/* ---- readers ---------------------------------------------------------------------------- */

static void read_for_ever(int fd)
{
    char byte;

    while (recv(fd, &byte, 1, 0) == 1)
        ;
    _exit(0);
}

/* A process that shares the connection sleeps in recv, and is stopped there: what comes then is for
 * this one. */
static void read_beside_a_stopped_one(bool block)
{
    const struct timeval limit = {.tv_sec = LIMIT_S};
    struct pollfd p = {.events = POLLIN};
    pid_t child;
    int fd[2], in_vain = 0;
    char byte = 0;

    make_pair(fd);
    setsockopt(fd[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)); /* it sleeps on TCP */
    fflush(stdout);
    if ((child = fork()) == 0)
        read_for_ever(fd[1]);
    for (int i = 0; i < 3; i++) {
        wait_asleep(child);
        if (send(fd[0], "x", 1, 0) != 1)
            die("send");
        usleep(10000);
    }
    wait_asleep(child);
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
    if (send(fd[0], "y", 1, 0) != 1)
        die("send");
    p.fd = fd[1];
    while (!block && recv(fd[1], &byte, 1, MSG_DONTWAIT) < 0 && in_vain < 1000)
        in_vain += poll(&p, 1, 1000) == 1;
    if (block && recv(fd[1], &byte, 1, 0) != 1)
        die("recv");
    printf("beside a reader that is stopped, %s: %c, %s\n", block ? "recv" : "poll", byte,
           in_vain > 100 ? "told in vain" : "told");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_pair(fd);
}

struct reading {
    int fd;
    bool polls;
    long sum, bytes;
};

static void *share_bytes(void *argument)
{
    struct reading *r = argument;
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    unsigned char byte;
    ssize_t n = 1;

    while (n != 0) {
        if (r->polls)
            poll(&p, 1, -1);
        n = recv(r->fd, &byte, 1, r->polls ? MSG_DONTWAIT : 0);
        r->bytes += n > 0;
        r->sum += n > 0 ? byte : 0;
    }
    return NULL;
}

/* Each byte is for one of them. */
static void try_two_readers(bool both_block)
{
    struct reading r[2] = {{.polls = false}, {.polls = !both_block}};
    pthread_t thread[2];
    int fd[2];

    make_pair(fd);
    for (int i = 0; i < 2; i++) {
        r[i].fd = fd[1];
        start(&thread[i], share_bytes, &r[i]);
    }
    for (int i = 0; i < SHARED_BYTES; i++) {
        const unsigned char byte = (unsigned char)(i % 100);

        if (send(fd[0], &byte, 1, 0) != 1)
            die("send");
        if (i % 30 == 0)
            usleep(500);
    }
    shutdown(fd[0], SHUT_WR);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("two readers: %ld bytes, sum %ld\n", r[0].bytes + r[1].bytes, r[0].sum + r[1].sum);
    close_pair(fd);
}

/* ---- limits ----------------------------------------------------------------------------- */

static _Atomic bool connecting;

static void pause_there(int number)
{
    (void)number;
    usleep(300);
}

static void *connect_often(void *argument)
{
    int fd[2];
    struct sockaddr_in own;
    const int from = listen_anywhere(SOCK_CLOEXEC, 5, &own);

    (void)argument;
    while (connecting) {
        char byte = 0;

        fd[0] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd[0], (void *)&own, sizeof(own)) < 0 || (fd[1] = accept(from, NULL, NULL)) < 0)
            die("connect");
        for (int k = 0; k < 12; k++)
            if (write(fd[k % 2], &byte, 1) != 1 || read(fd[!(k % 2)], &byte, 1) != 1)
                die("write");
        close_pair(fd);
    }
    close(from);
    return NULL;
}

/* Whether a child begins with another limit. */
static bool inherits_other(rlim_t limit)
{
    struct rlimit inherited;
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        getrlimit(RLIMIT_NOFILE, &inherited);
        _exit(inherited.rlim_cur != limit);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

/* The limit of descriptors is the program's and its children's, whatever threads do, and wherever
 * they are interrupted. */
static void try_limits(void)
{
    struct sigaction pauses = {.sa_handler = pause_there, .sa_flags = SA_RESTART};
    struct rlimit before, now;
    pthread_t thread[MAKERS];
    int others = 0;

    getrlimit(RLIMIT_NOFILE, &before);
    now = before;
    now.rlim_cur = 1000;
    setrlimit(RLIMIT_NOFILE, &now);
    sigaction(SIGUSR1, &pauses, NULL);
    connecting = true;
    for (int i = 0; i < MAKERS; i++)
        start(&thread[i], connect_often, NULL);
    for (int i = 0; i < FORKS; i++) {
        pthread_kill(thread[i % MAKERS], SIGUSR1);
        others += inherits_other(now.rlim_cur);
    }
    connecting = false;
    for (int i = 0; i < MAKERS; i++)
        pthread_join(thread[i], NULL);
    getrlimit(RLIMIT_NOFILE, &now);
    printf("limit of descriptors: %ld, children with others %d\n", (long)now.rlim_cur, others);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* ---- numbers ---------------------------------------------------------------------------- */

struct sleeping {
    int fd;
    _Atomic pid_t thread;
    char bytes[16];
};

static void *sleep_for_bytes(void *argument)
{
    struct sleeping *r = argument;

    r->thread = self();
    if (recv(r->fd, r->bytes, sizeof(r->bytes) - 1, 0) < 0)
        snprintf(r->bytes, sizeof(r->bytes), "%s", strerrorname_np(errno));
    return NULL;
}

/* A thread sleeps in recv while the number of its connection is given to another one.  What comes
 * comes by TCP alone: it might be sent without a copy. */
static void change_number(bool timed)
{
    const struct timeval limit = {.tv_sec = LIMIT_S};
    struct sleeping r = {.thread = 0};
    pthread_t thread;
    int one[2], other[2], copy;
    char bytes[16] = "";

    make_pair(one);
    make_pair(other);
    if (timed)
        setsockopt(one[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    r.fd = one[1];
    copy = dup(one[1]);
    start(&thread, sleep_for_bytes, &r);
    while (!r.thread)
        sched_yield();
    wait_asleep(r.thread);
    usleep(5000);
    wait_asleep(r.thread);
    if (copy < 0 || dup2(other[1], one[1]) < 0 || write(other[0], "other", 5) != 5 ||
        send(one[0], "one", 3, MSG_ZEROCOPY) != 3)
        die("dup2");
    pthread_join(thread, NULL);
    if (recv(other[1], bytes, sizeof(bytes) - 1, 0) < 0)
        die("recv");
    printf("a number changes%s: %s, %s\n", timed ? ", with a time limit" : "", r.bytes, bytes);
    close(copy);
    close_pair(one);
    close_pair(other);
}

/* ---- threads that are cancelled ----------------------------------------------------------- */

enum sleeps { IN_RECV, IN_POLL, IN_SEND };

struct cancelled {
    int fd;
    enum sleeps how;
    _Atomic pid_t thread;
};

static int descriptors(void)
{
    DIR *open = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(open))
        n++;
    closedir(open);
    return n;
}

static void *sleep_until_cancelled(void *argument)
{
    static char much[4 << 20];
    struct cancelled *c = argument;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};

    c->thread = self();
    if (c->how == IN_RECV)
        recv(c->fd, much, 1, 0);
    else if (c->how == IN_POLL)
        poll(&p, 1, -1);
    else
        for (;;) /* until it is full */
            send(c->fd, much, sizeof(much), 0);
    return NULL;
}

/* The connection is of use to others, who are woken, and when it is closed nothing is left of it.
 */
static void cancel_one(enum sleeps how)
{
    struct cancelled c = {.how = how};
    struct pollfd p = {.events = POLLIN};
    pthread_t thread;
    char byte;
    int fd[2];

    make_pair(fd);
    c.fd = fd[0];
    start(&thread, sleep_until_cancelled, &c);
    while (!c.thread)
        sched_yield();
    wait_asleep(c.thread);
    usleep(3000);
    wait_asleep(c.thread);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    p.fd = fd[0];
    if (send(fd[1], "x", 1, 0) != 1 || poll(&p, 1, LIMIT_S * 1000) != 1 ||
        recv(fd[0], &byte, 1, MSG_DONTWAIT) != 1)
        die("after a thread was cancelled");
    close(fd[0]);
    p.fd = fd[1];
    if (poll(&p, 1, LIMIT_S * 1000) != 1)
        die("the end");
    close(fd[1]);
}

static void try_cancelled(void)
{
    const int before = descriptors();

    for (int i = 0; i < ROUNDS; i++)
        for (enum sleeps how = IN_RECV; how <= IN_SEND; how++)
            cancel_one(how);
    printf("threads were cancelled: %d descriptors left\n", descriptors() - before);
}

int main(void)
{
    alarm(LIMIT_S);
    begin_listening();
    try_files();
    for (int i = 0; i < ROUNDS; i++) {
        read_beside_a_stopped_one(i % 2);
        change_number(i % 2);
    }
    try_two_readers(false);
    try_two_readers(true);
    try_cancelled();
    try_limits();
    try_priorities();
    return 0;
}
