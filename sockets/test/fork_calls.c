/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fork_calls: what happens when processes fork while their other threads connect, close and change
 * sets of epoll, and other libraries do things of their own at forks.  It tells what it sees, which
 * has to be the same over plain TCP and over unetsock.
 */
#include "calls.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { CHILD_MS = 3000, RUN_MS = 300 };

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether a child ends well, and soon. */
static bool ends_well(pid_t child)
{
    struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    int status;

    if (p.fd < 0)
        die("pidfd_open");
    if (poll(&p, 1, CHILD_MS) != 1)
        kill(child, SIGKILL);
    close(p.fd);
    waitpid(child, &status, 0);
    return status == 0;
}

static _Atomic bool stop;

/* Fork while a thread does something; the children close all they have. */
static void fork_while(const char *name, void *(*does)(void *), void *argument)
{
    const int64_t until = now_ms() + RUN_MS;
    pthread_t thread;
    bool well = true;

    fflush(stdout);
    stop = false;
    if (pthread_create(&thread, NULL, does, argument) != 0)
        die("pthread_create");
    while (well && now_ms() < until) {
        const pid_t child = fork();

        if (child == 0) {
            closefrom(3);
            _exit(0);
        }
        well = ends_well(child);
    }
    stop = true;
    pthread_join(thread, NULL);
    printf("%s: children end %s\n", name, well ? "well" : "badly");
}

/* ---- connections come and go -------------------------------------------------------------- */

static void *copy_and_close(void *fds)
{
    for (int copy[16];;) {
        for (int i = 0; i < 16; i++)
            copy[i] = dup(*(int *)fds);
        for (int i = 0; i < 16; i++)
            close(copy[i]);
    }
    return NULL;
}

/* From now on forks of this thread fail, which takes less time than if they did not. */
static void forbid_forks(void)
{
    struct sock_filter is_clone[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(is_clone) / sizeof(*is_clone), is_clone};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void fork_in_vain(int fd[2])
{
    const int64_t until = now_ms() + 2 * RUN_MS;
    pthread_t thread;
    pid_t child;

    if (pthread_create(&thread, NULL, copy_and_close, fd) != 0)
        die("pthread_create");
    forbid_forks();
    while (now_ms() < until) {
        if ((child = fork()) == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    _exit(0);
}

static void test_copies(void)
{
    pid_t child;
    int fd[2];

    make_pair(fd);
    fflush(stdout);
    if ((child = fork()) == 0)
        fork_in_vain(fd);
    printf("copies: they are forked %s\n", ends_well(child) ? "well" : "badly");
    close_pair(fd);
}

/* ---- other libraries ---------------------------------------------------------------------- */

/* One that was there before all others, has a lock around forks, and closes a set in children. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static int library_set = -1;

static void let_late_one_go_on(void);

static void lock_library(void)
{
    let_late_one_go_on();
    pthread_mutex_lock(&library_lock);
}

static void unlock_library(void)
{
    pthread_mutex_unlock(&library_lock);
}

static void renew_library(void)
{
    pthread_mutex_init(&library_lock, NULL);
    if (library_set >= 0)
        close(library_set);
    library_set = -1;
}

static void begin_library(void)
{
    pthread_atfork(lock_library, unlock_library, renew_library);
}

/* Before the constructors of libraries. */
__attribute__((used,
               section(".preinit_array"))) static void (*const begin_first)(void) = begin_library;

static void *change_locked(void *fds)
{
    struct epoll_event event = {.events = EPOLLIN};
    const int set = epoll_create1(0);
    int copy;

    while (!stop) {
        pthread_mutex_lock(&library_lock);
        epoll_ctl(set, EPOLL_CTL_ADD, *(int *)fds, &event);
        epoll_ctl(set, EPOLL_CTL_DEL, *(int *)fds, NULL);
        copy = dup(*(int *)fds);
        close(copy);
        pthread_mutex_unlock(&library_lock);
        sched_yield();
    }
    close(set);
    return NULL;
}

static void test_library(void)
{
    int fd[2];

    make_pair(fd);
    fork_while("a library's lock", change_locked, fd);
    close_pair(fd);
}

static void test_library_set(void)
{
    pid_t child;

    library_set = epoll_create1(0);
    fflush(stdout);
    if ((child = fork()) == 0)
        _exit(library_set != -1);
    printf("a library's set: the child ends %s\n", ends_well(child) ? "well" : "badly");
    close(library_set);
    library_set = -1;
}

/* An allocator that is locked around forks, and was there after all others. */
static _Thread_local bool allocator_is_locked;
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static void lock_allocator(void)
{
    allocator_is_locked = true;
}

static void unlock_allocator(void)
{
    allocator_is_locked = false;
}

__attribute__((constructor)) static void begin_allocator(void)
{
    pthread_atfork(lock_allocator, unlock_allocator, unlock_allocator);
}

static void be_late(void);

static void allocate(void)
{
    if (allocator_is_locked)
        abort();
}

void *malloc(size_t size)
{
    allocate();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocate();
    be_late();
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    allocate();
    return __libc_realloc(p, size);
}

/* A set with connections that have been silent for long, which a child looks at again. */
static void test_allocator(void)
{
    enum { PAIRS = 20, SILENT = 30 };
    const struct timespec moment = {.tv_nsec = 20000};
    struct epoll_event event = {.events = EPOLLIN}, told;
    const int set = epoll_create1(0);
    int fd[PAIRS][2];
    pid_t child;

    for (int i = 0; i < PAIRS; i++) {
        make_pair(fd[i]);
        epoll_ctl(set, EPOLL_CTL_ADD, fd[i][1], &event);
        for (int turn = 0; turn < SILENT; turn++)
            epoll_pwait2(set, &told, 1, &moment, NULL);
    }
    fflush(stdout);
    if ((child = fork()) == 0)
        _exit(epoll_wait(set, &told, 1, 0));
    printf("an allocator: the child ends %s\n", ends_well(child) ? "well" : "badly");
    for (int i = 0; i < PAIRS; i++)
        close_pair(fd[i]);
    close(set);
}

/* ---- what comes while a process forks ------------------------------------------------------- */

enum { SOCKETS = 64 };

/* A thread makes sockets, until it is in calloc for one; there it waits for the fork to begin. */
static struct {
    int socket[SOCKETS], count;
    _Atomic bool waits, may_go_on, done;
} late;
static _Thread_local bool is_late;

static void be_late(void)
{
    if (!is_late)
        return;
    is_late = false;
    late.waits = true;
    while (!late.may_go_on)
        sched_yield();
}

static void let_late_one_go_on(void)
{
    late.may_go_on = true;
    while (late.waits && !late.done)
        sched_yield();
}

/* What is copied is looked after. */
static int make_socket(void)
{
    const struct timeval patience = {.tv_sec = 1};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    close(dup(fd));
    return fd;
}

static void *make_sockets(void *argument)
{
    is_late = true;
    while (late.count < SOCKETS && !late.waits)
        late.socket[late.count++] = make_socket();
    late.done = true;
    return argument;
}

static const char *pass_on(const int fd[2])
{
    char byte = 'x';

    for (int e = 0; e < 2; e++)
        if (send(fd[e], &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd[!e], &byte, 1, 0) != 1)
            return result(-1);
    return "well";
}

/* The child closes it, by which what the parent has of it is not for others: of the sockets that
 * come now the first takes what an early one had, and the second would take that, and the third
 * would have it, too, and as new. */
static void test_late(void)
{
    const int early = make_socket();
    const char *how = "well";
    int others[3], fd[2];
    pthread_t thread;
    pid_t child;

    if (pthread_create(&thread, NULL, make_sockets, NULL) != 0)
        die("pthread_create");
    while (!late.waits && !late.done)
        sched_yield();
    fflush(stdout);
    if ((child = fork()) == 0) {
        closefrom(3);
        _exit(0);
    }
    printf("late: the child ends %s,", ends_well(child) ? "well" : "badly");
    pthread_join(thread, NULL);
    close(early);
    others[0] = make_socket();
    others[1] = make_socket();
    fd[0] = late.socket[--late.count];
    connect_pair(fd);
    close(others[1]);
    others[1] = make_socket();
    others[2] = make_socket();
    for (int i = 0; i < 10 && strcmp(how, "well") == 0; i++)
        how = pass_on(fd);
    printf(" and its connection is served %s\n", how);
    close_pair(fd);
    for (int i = 0; i < 3; i++)
        close(others[i]);
    while (late.count > 0)
        close(late.socket[--late.count]);
}

/* ---- behind libc's back ------------------------------------------------------------------- */

static void *change(void *fds)
{
    struct epoll_event event = {.events = EPOLLIN};
    const int set = epoll_create1(0);

    while (!stop) {
        epoll_ctl(set, EPOLL_CTL_ADD, *(int *)fds, &event);
        epoll_ctl(set, EPOLL_CTL_DEL, *(int *)fds, NULL);
    }
    close(set);
    return NULL;
}

static void test_clone(void)
{
    const int64_t until = now_ms() + RUN_MS;
    const int set = epoll_create1(0);
    pthread_t thread;
    bool well = true;
    int fd[2];

    make_pair(fd);
    fflush(stdout);
    stop = false;
    if (pthread_create(&thread, NULL, change, fd) != 0)
        die("pthread_create");
    while (well && now_ms() < until) {
        const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

        if (child == 0) {
            close(set);
            syscall(SYS_exit_group, 0);
        }
        well = ends_well(child);
    }
    stop = true;
    pthread_join(thread, NULL);
    printf("clone: children end %s\n", well ? "well" : "badly");
    close(set);
    close_pair(fd);
}

static _Atomic bool *may_speak; /* of the child, which calls nothing before that */

static bool are_blocked(void)
{
    sigset_t mask;

    sigprocmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, SIGUSR1);
}

/* In the child: have a child of its own, and say something on the parent's old connection. */
static int speak(void *fd)
{
    pid_t child;

    while (!*may_speak)
        sched_yield();
    if ((child = fork()) == 0)
        _exit(0);
    if (!ends_well(child))
        return 1;
    return write(*(int *)fd, "old", 3) == 3 && !are_blocked() ? 0 : 1;
}

static pid_t clone_speaker(int fd[2], bool by_number)
{
    static char stack[64 << 10] __attribute__((aligned(64)));
    pid_t child;

    fflush(stdout);
    if (!by_number)
        return clone(speak, stack + sizeof(stack), SIGCHLD, &fd[1]);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        syscall(SYS_exit_group, speak(&fd[1]));
    return child;
}

/* What a clone has of its parent is its own from the beginning, though the parent closes it before
 * the clone has called anything, and opens another one. */
static void test_clone_speaks(bool by_number)
{
    int old[2], new[2], started = socket(AF_INET, SOCK_STREAM, 0);
    char text[4] = "";
    pid_t child;

    new[0] = started;
    make_pair(old);
    may_speak =
        mmap(NULL, sizeof(*may_speak), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child = clone_speaker(old, by_number);
    close(old[1]);
    connect_pair(new);
    *may_speak = true;
    printf("clone speaks: %s", result(read(old[0], text, 3)));
    printf(" '%s', ends %s,", text, ends_well(child) ? "well" : "badly");
    printf(" new: %s", result(recv(new[1], text, 3, MSG_DONTWAIT)));
    printf(", signals are %s\n", are_blocked() ? "blocked" : "let in");
    munmap((void *)may_speak, sizeof(*may_speak));
    close_pair(new);
    close(old[0]);
}

/* ---- a child ends that has two numbers for a connection ----------------------------------- */

static void *read_to_end(void *fd)
{
    static char text[64 << 10];
    size_t total = 0;
    ssize_t n;

    while ((n = read(*(int *)fd, text, sizeof(text))) > 0)
        total += (size_t)n;
    printf("two numbers: %zu bytes, then %s\n", total, result(n));
    return NULL;
}

/* Nothing of its parent's is lost, though the child has something that it has not read. */
static void test_two_numbers(void)
{
    enum { MUCH = 2000000 };
    char unread[100] = "", *much = calloc(1, MUCH);
    int low = dup(0), fd[2];
    pthread_t reader;
    pid_t child;

    make_pair(fd);
    if (dup2(fd[1], low) != low || write(fd[0], unread, sizeof(unread)) != sizeof(unread))
        die("two numbers");
    fflush(stdout);
    if ((child = fork()) == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    if (read(fd[1], unread, sizeof(unread)) != sizeof(unread) ||
        pthread_create(&reader, NULL, read_to_end, &fd[0]) != 0 || write(fd[1], much, MUCH) != MUCH)
        die("two numbers");
    close(fd[1]);
    close(low);
    pthread_join(reader, NULL);
    close(fd[0]);
    free(much);
}

/* ---- children end while a thread waits ---------------------------------------------------- */

static void *count_interruptions(void *interruptions)
{
    struct epoll_event told;
    const int set = epoll_create1(0);

    while (!stop)
        if (epoll_wait(set, &told, 1, 1) < 0)
            ++*(int *)interruptions;
    close(set);
    return NULL;
}

/* Nobody handles the signals that come then.  One may come in the moment in which libc has blocked
 * them itself. */
static void test_not_interrupted(void)
{
    const int64_t until = now_ms() + 2 * RUN_MS;
    int interruptions = 0;
    pthread_t thread;

    stop = false;
    if (pthread_create(&thread, NULL, count_interruptions, &interruptions) != 0)
        die("pthread_create");
    while (now_ms() < until) {
        const pid_t child = fork();

        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    stop = true;
    pthread_join(thread, NULL);
    printf("children end: a thread is interrupted %s\n", interruptions > 1 ? "often" : "hardly");
}

/* ---- a set changes while a child has it --------------------------------------------------- */

static _Atomic uint32_t looked;

static void *look_on(void *set)
{
    struct epoll_event told;

    for (; !stop; looked++)
        epoll_wait(*(int *)set, &told, 1, 0);
    return NULL;
}

/* How many events the child finds, once it may. */
static int asks_when_told(int set, int go)
{
    struct epoll_event told;
    char byte;

    return read(go, &byte, 1) == 1 ? epoll_wait(set, &told, 1, 0) : -1;
}

/* What its parent has changed meanwhile, whose other threads look at the set, too. */
static void test_changed_for_child(void)
{
    enum { FORKS = 300, THREADS = 2 };
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0), told = 0, fd[2], go[2], status;
    pthread_t thread[THREADS];
    char byte;

    make_pair(fd);
    epoll_ctl(set, EPOLL_CTL_ADD, fd[1], &event);
    if (pipe(go) < 0)
        die("pipe");
    fflush(stdout);
    for (int i = 0; i < FORKS; i++) {
        pid_t child;

        stop = false;
        looked = 0;
        for (int t = 0; t < THREADS; t++)
            if (pthread_create(&thread[t], NULL, look_on, &set) != 0)
                die("pthread_create");
        while (looked < 10)
            sched_yield();
        if ((child = fork()) == 0)
            _exit(asks_when_told(set, go[0]));
        stop = true;
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
        event.events = 0;
        epoll_ctl(set, EPOLL_CTL_MOD, fd[1], &event);
        if (write(fd[0], "x", 1) != 1 || write(go[1], "x", 1) != 1)
            die("write");
        if (waitpid(child, &status, 0) != child || read(fd[1], &byte, 1) != 1)
            die("child");
        told += status != 0;
        event.events = EPOLLIN;
        epoll_ctl(set, EPOLL_CTL_MOD, fd[1], &event);
        epoll_wait(set, &event, 1, 0);
    }
    printf("changed for a child: it was told of what it was not to be %d times\n", told);
    close_pair(go);
    close_pair(fd);
    close(set);
}

/* ---- closed while it is added ------------------------------------------------------------- */

static struct {
    int set, fd;
    struct epoll_event *event;
    _Atomic bool asked, may_go_on;
} adding;

/* Whoever reads the event waits here, unless it is the kernel, which says EFAULT. */
static void let_others_go_first(int signal)
{
    (void)signal;
    adding.asked = true;
    while (!adding.may_go_on)
        sched_yield();
    mprotect(adding.event, sizeof(*adding.event), PROT_READ);
}

static void *add(void *argument)
{
    epoll_ctl(adding.set, EPOLL_CTL_ADD, adding.fd, adding.event);
    adding.asked = true;
    return argument;
}

/* Its number is another connection's when it comes into the set, and its memory is a third one's
 * when the set is asked. */
static void test_added(void)
{
    struct epoll_event told;
    int old[2], new[2], third[2];
    pthread_t thread;

    make_pair(old);
    adding.set = epoll_create1(0);
    adding.fd = old[1];
    adding.event = mmap(NULL, sizeof(*adding.event), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    adding.event->events = EPOLLIN;
    mprotect(adding.event, sizeof(*adding.event), PROT_NONE);
    signal(SIGSEGV, let_others_go_first);
    if (pthread_create(&thread, NULL, add, NULL) != 0)
        die("pthread_create");
    while (!adding.asked)
        sched_yield();
    close(old[1]);
    new[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect_pair(new);
    adding.may_go_on = true;
    pthread_join(thread, NULL);
    signal(SIGSEGV, SIG_DFL);
    make_pair(third);
    for (int e = 0; e < 2; e++)
        if (write(third[e], "x", 1) != 1)
            die("write");
    printf("closed while it is added: %s\n", result(epoll_wait(adding.set, &told, 1, 10)));
    close(old[0]);
    close_pair(new);
    close_pair(third);
    close(adding.set);
    munmap(adding.event, sizeof(*adding.event));
}

int main(void)
{
    alarm(20); /* a test may hang */
    begin_listening();
    test_late();
    test_library_set();
    test_library();
    test_allocator();
    test_added();
    test_clone();
    test_clone_speaks(false);
    test_clone_speaks(true);
    test_two_numbers();
    test_not_interrupted();
    test_changed_for_child();
    test_copies();
    return 0;
}
