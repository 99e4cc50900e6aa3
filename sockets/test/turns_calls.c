/* SPDX-License-Identifier: BSD-3-Clause
 *
 * turns_calls: two threads that ask and answer in turns, and on which cores they may run meanwhile;
 * and programs that forbid themselves system calls.  What it sees has to be the same over plain TCP
 * and over unetsock.
 */
#include "matrix.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { TURNS = 2000, SIGNALS_EVERY = 100 };
enum how { BY_RECV, BY_POLL, BY_EPOLL, HOWS };
static const char *const how_name[] = {"recv", "poll", "epoll"};

/* Who asks. */
struct asker {
    int fd, epfd;
    enum how how;
    _Atomic pid_t thread;
    int confined; /* turns in which not all cores were its own */
    int interrupted;
};

static cpu_set_t whole;
static _Atomic int children, confined_children;

static bool is_confined(void)
{
    cpu_set_t mask;

    return sched_getaffinity(0, sizeof(mask), &mask) < 0 || !CPU_EQUAL(&mask, &whole);
}

static void write_byte(int fd)
{
    if (write(fd, "x", 1) != 1)
        die("write");
}

/* Waits as `how` says, whatever signals come. */
static void read_byte(struct asker *a)
{
    struct pollfd p = {.fd = a->fd, .events = POLLIN};
    struct epoll_event event;
    char byte;

    while (a->how == BY_POLL && poll(&p, 1, -1) < 0 && errno == EINTR)
        a->interrupted++;
    while (a->how == BY_EPOLL && epoll_wait(a->epfd, &event, 1, -1) < 0 && errno == EINTR)
        a->interrupted++;
    while (read(a->fd, &byte, 1) < 0)
        if (errno == EINTR)
            a->interrupted++;
        else
            die("read");
}

/* ---- the cores that they may run on ------------------------------------------------------- */

/* Of a thread that sleeps, perhaps on one core: a child is to have all of them. */
static void on_signal(int number)
{
    const int error = errno;
    int status;
    pid_t child;

    (void)number;
    if ((child = fork()) == 0)
        _exit(is_confined());
    if (waitpid(child, &status, 0) != child)
        die("waitpid");
    confined_children += status != 0;
    children++;
    errno = error;
}

static void *ask(void *argument)
{
    struct asker *a = argument;

    a->thread = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < TURNS; i++) {
        write_byte(a->fd);
        read_byte(a);
        a->confined += is_confined();
    }
    return NULL;
}

/* Once it sleeps it gets a signal now and then, and its answer after that. */
static int answer(int fd, pthread_t id, const struct asker *a)
{
    int confined = 0;
    char byte;

    for (int i = 0; i < TURNS; i++) {
        if (read(fd, &byte, 1) != 1)
            die("read");
        confined += is_confined();
        if (i % SIGNALS_EVERY == SIGNALS_EVERY - 1) {
            const int before = children;

            wait_asleep(a->thread);
            pthread_kill(id, SIGUSR1);
            while (children == before)
                sched_yield();
            wait_asleep(a->thread); /* again: what has come meanwhile is no reason to tell of it */
        }
        write_byte(fd);
    }
    return confined;
}

static void test_turns(enum how how, int flags)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    struct epoll_event event = {.events = EPOLLIN};
    struct asker a = {.how = how, .epfd = epoll_create1(EPOLL_CLOEXEC)};
    pthread_t id;
    int fd[2], confined;

    make_pair(fd);
    a.fd = fd[0];
    if (how == BY_EPOLL)
        epoll_ctl(a.epfd, EPOLL_CTL_ADD, a.fd, &event);
    children = confined_children = 0;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&id, NULL, ask, &a);
    confined = answer(fd[1], id, &a);
    pthread_join(id, NULL);
    printf("%s: confined in %d and %d turns, and %d of %d children, interrupted %d times\n",
           how_name[how], a.confined, confined, confined_children, children, a.interrupted);
    close(a.epfd);
    close_pair(fd);
}

/* ---- somebody else says where one may run ------------------------------------------------- */

enum { QUIET_TURNS = 200 };

struct placed {
    int fd;
    _Atomic pid_t thread;
    int wrong;
};

static void *ask_and_be_placed(void *argument)
{
    struct placed *p = argument;
    cpu_set_t mask;
    char byte;

    p->thread = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < 2 * QUIET_TURNS; i++) {
        write_byte(p->fd);
        if (read(p->fd, &byte, 1) != 1)
            die("read");
        sched_getaffinity(0, sizeof(mask), &mask);
        p->wrong += CPU_COUNT(&mask) != (i < QUIET_TURNS ? CPU_COUNT(&whole) : 1);
    }
    return NULL;
}

/* While it sleeps, which is when its own cores are not those that it has. */
static void test_placed(bool by_number)
{
    struct placed p = {0};
    cpu_set_t one;
    pthread_t id;
    char byte;
    int fd[2];

    make_pair(fd);
    p.fd = fd[0];
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    pthread_create(&id, NULL, ask_and_be_placed, &p);
    for (int i = 0; i < 2 * QUIET_TURNS; i++) {
        if (read(fd[1], &byte, 1) != 1)
            die("read");
        if (i == QUIET_TURNS) {
            wait_asleep(p.thread);
            if (by_number)
                syscall(SYS_sched_setaffinity, p.thread, sizeof(one), &one);
            else
                sched_setaffinity(p.thread, sizeof(one), &one);
        }
        write_byte(fd[1]);
    }
    pthread_join(id, NULL);
    printf("placed by another: wrong %d times\n", p.wrong);
    close_pair(fd);
}

/* ---- calls that a program forbids itself -------------------------------------------------- */

#define ALLOW(call)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                         \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* All but these kill it. */
static void forbid_calls(bool by_number)
{
    struct sock_filter calls[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(close),
        ALLOW(exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof(calls) / sizeof(*calls), calls};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_number)
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    else
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void serve_without_calls(bool by_number)
{
    const int fd = accept(listener, NULL, NULL);
    pid_t child;
    char byte;

    if ((child = fork()) == 0) /* nobody can ask any more whether it lives */
        _exit(0);
    waitpid(child, NULL, 0);
    forbid_calls(by_number);
    while (read(fd, &byte, 1) == 1)
        if (write(fd, &byte, 1) != 1)
            break;
    _exit(0);
}

static void test_forbidden(bool by_number)
{
    int answers = 0, status;
    pid_t child;
    char byte;
    int fd;

    fflush(stdout);
    if ((child = fork()) == 0)
        serve_without_calls(by_number);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&address, sizeof(address)) < 0)
        die("connect");
    while (answers < TURNS && write(fd, "x", 1) == 1 && read(fd, &byte, 1) == 1)
        answers++;
    close(fd);
    waitpid(child, &status, 0);
    printf("forbidden: %d answers, %d\n", answers, status);
}

/* Whether there are filters is asked by arguments that no filter has. */
static void test_asked(void)
{
    int fd[2];

    printf("asked: %s", result(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL)));
    printf(" %s\n", result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL)));
    make_pair(fd);
    close_pair(fd);
}

/* A process that places threads is treated otherwise from then on. */
static void in_child(void (*test)(bool), bool how)
{
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        test(how);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    if (sched_getaffinity(0, sizeof(whole), &whole) < 0)
        die("sched_getaffinity");
    for (enum how how = 0; how < HOWS; how++)
        for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART)
            test_turns(how, flags);
    for (int by_number = 0; by_number < 2; by_number++) {
        in_child(test_placed, by_number);
        test_forbidden(by_number);
    }
    test_asked();
    return 0;
}
