/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matrix_calls: what becomes of connections that are handed to others, and of those of programs
 * that use all their descriptors.  It tells what it sees, which has to be the same over plain TCP
 * and over unetsock.
 */
#include "matrix.h"
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>

/* ---- descriptors ---------------------------------------------------------------------- */

enum { LONELY = 8, FEW = 64 };

/* In a process of its own, with few descriptors, of which the hard limit leaves some more or not.
 */
static void use_all_descriptors(bool has_room)
{
    const struct rlimit limit = {FEW, has_room ? 2 * FEW : FEW};
    int fd[LONELY][2], copies = 0, copy, sockets = 0, closed = 0;

    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < LONELY; i++)
        make_lonely(fd[i]);
    while ((copy = has_room ? open("/dev/null", O_RDONLY) : dup(listener)) >= 0)
        copies++;
    printf("room %d: %d copies, then %s", has_room, copies, result(copy));
    printf(" %s", result(socket(AF_INET, SOCK_STREAM, 0)));
    printf(" %s", result(accept(listener, NULL, NULL)));
    printf(" %s\n", result(fcntl(listener, F_DUPFD, 3)));
    for (int i = 0; i < 4; i++) /* the last ones */
        close(FEW - 1 - i);
    while (socket(AF_INET, SOCK_STREAM, 0) >= 0)
        sockets++;
    printf("sockets: %d, %s\n", sockets, result(write(fd[0][1], "x", 1)));
    for (int i = 3; i < 4 * FEW; i++)
        closed += close(i) == 0;
    printf("closed: %d\n", closed);
}

/* Everything from 3 on is closed, or replaced, by a process that knows nothing of our descriptors;
 * and goes on. */
static void close_all(int how)
{
    int fd[LONELY][2], keep, replaced = 0;
    char byte;

    for (int i = 0; i < LONELY; i++)
        make_lonely(fd[i]);
    keep = dup2(fd[0][1], 100);
    syscall(SYS_dup2, fd[0][0], 101);
    if (how == 0)
        close_range(3, 99, 0);
    else if (how == 1)
        for (int i = 102; i < (int)sysconf(_SC_OPEN_MAX) && i < 30000; i++)
            replaced += dup2(0, i) == i;
    if (how == 2)
        closefrom(102);
    if (how == 1)
        closefrom(102);
    for (int i = 0; i < 40; i++)
        if (write(keep, "x", 1) != 1 || syscall(SYS_read, 101, &byte, 1) != 1 ||
            syscall(SYS_write, 101, "y", 1) != 1 || read(keep, &byte, 1) != 1)
            die("after close_range");
    printf("closed all, %d: %d %c", how, replaced, byte);
    printf(" %s\n", result(fcntl(90, F_GETFD)));
}

static void in_child(void (*test)(int), int argument)
{
    int status;
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        test(argument);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("exit: %d\n", status);
}

static void use_all(int has_room)
{
    use_all_descriptors(has_room);
}

/* With so many that some are used to wake sleepers sooner; without these, connections go on. */
static void use_many(int all)
{
    const struct rlimit limit = {(rlim_t)all, (rlim_t)all};
    int fd[LONELY][2], copies = 0, answers = 0;
    char byte = 0;

    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < LONELY; i++)
        make_pair(fd[i]);
    while (dup(listener) >= 0)
        copies++;
    for (int i = 0; i < 2 * LONELY; i++)
        answers +=
            write(fd[i / 2][i % 2], "x", 1) == 1 && read(fd[i / 2][1 - i % 2], &byte, 1) == 1;
    printf("%d copies, %d answers\n", copies, answers);
}

/* Between hosts some descriptors are hidden that a process has not for itself. */
static void test_descriptors(void)
{
    if (!far) {
        in_child(use_all, 1);
        in_child(use_all, 0);
        in_child(use_many, 1100);
    }
    for (int how = 0; how < 3; how++)
        in_child(close_all, how);
}

/* ---- connections that others get --------------------------------------------------------- */

/* How the peer waits meanwhile. */
enum { NOT, IN_RECV, IN_POLL, IN_EPOLL, WAITS };

static void wait_somehow(int fd, int how)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    const int epfd = how == IN_EPOLL ? epoll_create1(EPOLL_CLOEXEC) : -1;

    if (how == IN_POLL)
        printf(" poll %d", poll(&p, 1, 20000));
    if (how == IN_EPOLL) {
        epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event);
        printf(" epoll %d", epoll_wait(epfd, &event, 1, 20000));
        close(epfd);
    }
}

/* How another program gets the connection. */
enum { BY_FORK, BY_VFORK, BY_SPAWN, BY_NUMBER, BY_MESSAGE, HANDS };

/* What a program does that has not our library: sends all back. */
static void echo_raw(int from)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char bytes[4096];
    struct iovec iov = {bytes, 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    long n;
    int fd;

    if (syscall(SYS_recvmsg, from, &msg, 0) != 1)
        syscall(SYS_exit_group, 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
    while ((n = syscall(SYS_read, fd, bytes, sizeof(bytes))) > 0)
        syscall(SYS_write, fd, bytes, n);
    syscall(SYS_exit_group, n == 0 ? 0 : 2);
}

static void pass(int to, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_len = CMSG_LEN(sizeof(int)),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS}};
    struct iovec iov = {"x", 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};

    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    if (sendmsg(to, &msg, 0) != 1)
        die("sendmsg");
}

static pid_t spawn_cat(int fd)
{
    char *const argv[] = {"cat", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 0);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    if (posix_spawnp(&child, "cat", &actions, NULL, argv, environ) != 0)
        die("posix_spawnp");
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static pid_t vfork_cat(int fd)
{
    char *const argv[] = {"cat", NULL};
    const pid_t child = vfork();

    if (child != 0)
        return child;
    dup2(fd, 0);
    dup2(fd, 1);
    execvp("cat", argv);
    _exit(127);
}

static void exec_cat(int fd, bool by_number)
{
    char *const cat[] = {"cat", NULL}, *const sh[] = {"sh", "-c", "cat <&9 >&9", NULL};

    if (by_number) {
        dup2(fd, 9);
        execvp("sh", sh);
    }
    dup2(fd, 0);
    dup2(fd, 1);
    execvp("cat", cat);
    _exit(127);
}

/* The server's process: it hands its connection on once the client is asleep. */
static void hand_on(int fd, int how, pid_t client, int way)
{
    int status, pair[2];
    pid_t child = 0;

    if (way != NOT)
        wait_asleep(client);
    switch (how) {
    case BY_SPAWN:
        child = spawn_cat(fd);
        break;
    case BY_VFORK:
        child = vfork_cat(fd);
        break;
    case BY_MESSAGE:
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
            die("socketpair");
        if ((child = fork()) == 0) {
            close(fd);
            close(pair[0]);
            echo_raw(pair[1]);
        }
        pass(pair[0], fd);
        break;
    default:
        exec_cat(fd, how == BY_NUMBER);
    }
    close(fd);
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
}

static void hand(int how, int way)
{
    const pid_t client = getpid();
    int fd[2], gone[2], status;
    char text[64] = "";
    pid_t child;

    make_pair(fd);
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    if (pipe2(gone, O_CLOEXEC) < 0 || write(fd[0], "to the server, early ", 21) != 21 ||
        read(fd[1], text, 14) != 14)
        die("beginning");
    printf("hand %d %d:", how, way);
    fflush(stdout);
    if ((child = fork()) == 0) {
        close(fd[0]);
        hand_on(fd[1], how, client, way);
    }
    close(fd[1]);
    close(gone[1]);
    if (way == NOT && how != BY_MESSAGE && how != BY_SPAWN && how != BY_VFORK)
        printf(" gone %s", result(read(gone[0], text, 1))); /* it has executed */
    close(gone[0]);
    wait_somehow(fd[0], way);
    memset(text, 0, sizeof(text));
    printf(" %s", result(recv(fd[0], text, 7, MSG_WAITALL)));
    printf(" %s", result(write(fd[0], "and late", 8)));
    printf(" %s", result(recv(fd[0], text + 7, 8, MSG_WAITALL)));
    shutdown(fd[0], SHUT_WR);
    printf(" %s", result(read(fd[0], text + 15, 1)));
    waitpid(child, &status, 0);
    printf(" '%s' %d\n", text, WEXITSTATUS(status));
    close(fd[0]);
}

enum { LONG = 20000 }; /* goes by the ring even to one that sleeps, who is woken by a bell */

/* The bell that has woken the server is not among what the next program reads. */
static void hand_with_bell(int how)
{
    static char out[LONG], in[LONG];
    int fd[2], status;
    pid_t child;
    ssize_t n;

    for (int i = 0; i < LONG; i++)
        out[i] = (char)(i * 131 >> 3);
    make_pair(fd);
    fcntl(fd[0], F_SETFD, FD_CLOEXEC);
    fflush(stdout);
    if ((child = fork()) == 0) {
        struct pollfd p = {.fd = fd[1], .events = POLLIN};

        close(fd[0]);
        if (poll(&p, 1, 20000) != 1 || read(fd[1], in, 100) != 100)
            _exit(3);
        hand_on(fd[1], how, getppid(), NOT);
    }
    close(fd[1]);
    wait_asleep(child);
    if (write(fd[0], out, LONG) != LONG)
        die("write");
    n = recv(fd[0], in, LONG - 100, MSG_WAITALL);
    printf("hand with bell %d: %zd %d", how, n, memcmp(in, out + 100, LONG - 100));
    shutdown(fd[0], SHUT_WR);
    printf(" %s", result(read(fd[0], in, 1)));
    waitpid(child, &status, 0);
    printf(" %d\n", WEXITSTATUS(status));
    close(fd[0]);
}

/* Both ends are of one process, which does not come back to the other one. */
static void test_both_ends(void)
{
    const int kept = dup(0);
    char text[8] = "";
    int fd[2];

    make_pair(fd);
    if (write(fd[0], "both", 4) != 4)
        die("write");
    dup2(fd[1], 0);
    printf("both ends: %ld", syscall(SYS_recvfrom, 0, text, 8, far ? 0 : MSG_DONTWAIT, NULL, NULL));
    printf(" '%s'\n", text);
    dup2(kept, 0);
    close(kept);
    close_pair(fd);
}

static void test_hands(void)
{
    for (int how = 0; how < HANDS; how++)
        for (int way = 0; way < WAITS; way++)
            hand(how, way);
    for (int how = 0; how < HANDS; how++)
        hand_with_bell(how);
    test_both_ends();
}

/* ---- data behind data --------------------------------------------------------------------- */

enum { MOVES = 16, FORKS = 6, SHORT = 60, BOTH = SHORT + 5000 };

/* So that short data go by the ring again. */
static void talk(const int fd[2], int turns)
{
    char byte = 0;

    for (int i = 0; i < turns; i++)
        if (write(fd[i % 2], &byte, 1) != 1 || read(fd[!(i % 2)], &byte, 1) != 1)
            die("talking");
}

/* What was counted is there to be read, at once. */
static void read_counted(int fd, const char *out)
{
    char in[BOTH] = "";
    const int bytes = await_unread(fd, BOTH);
    const ssize_t n = recv(fd, in, BOTH, MSG_DONTWAIT);

    printf(" %d %zd %d", bytes, n, memcmp(in, out, BOTH));
}

/* A child gets what its parent has not read. */
static void read_in_child(int fd, const char *out)
{
    const struct timeval limit = {.tv_sec = 5};
    char in[BOTH] = "";
    int status;
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        printf(" %s", result(recv(fd, in, BOTH, MSG_WAITALL)));
        printf(" %d", memcmp(in, out, BOTH));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
}

/* Long data, which leave the ring, follow short ones at once. */
static void move(const int fd[2], void (*read_both)(int fd, const char *out))
{
    static char out[BOTH];

    for (int i = 0; i < BOTH; i++)
        out[i] = (char)(i * 131 >> 3);
    talk(fd, 12);
    if (write(fd[0], out, SHORT) != SHORT ||
        write(fd[0], out + SHORT, BOTH - SHORT) != BOTH - SHORT)
        die("write");
    printf("move:");
    read_both(fd[1], out);
    printf("\n");
}

static void test_moves(void)
{
    int fd[2];

    make_pair(fd);
    for (int i = 0; i < MOVES; i++)
        move(fd, read_counted);
    close_pair(fd);
    for (int i = 0; i < FORKS; i++) {
        make_pair(fd);
        talk(fd, 60);
        move(fd, read_in_child);
        close_pair(fd);
    }
}

int main(int argc, char **argv)
{
    argc = begin(argc, argv);
    if (is_wanted(argc, argv, "descriptors"))
        test_descriptors();
    if (is_wanted(argc, argv, "hands"))
        test_hands();
    if (is_wanted(argc, argv, "moves"))
        test_moves();
    return 0;
}
