/* SPDX-License-Identifier: BSD-3-Clause
 *
 * real.h - libc's functions behind those that this library puts in front of them.
 */
#ifndef SOCKETS_REAL_H
#define SOCKETS_REAL_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* It would be laid out anew each time. */
/* clang-format off */
#define SOCKETS_REAL_FUNCTIONS(X) \
    X(socket) X(getsockopt) X(accept) X(accept4) X(connect) X(read) X(readv) X(recv) X(recvfrom) \
    X(recvmsg) X(write) X(writev) X(send) X(sendto) X(sendmsg) X(sendfile) X(splice) X(close) \
    X(dup) X(dup2) X(dup3) X(fcntl) X(ioctl) X(shutdown) X(setsockopt) X(poll) X(ppoll) \
    X(select) X(pselect) X(epoll_create) X(epoll_create1) X(epoll_ctl) X(epoll_wait) \
    X(epoll_pwait) X(epoll_pwait2) X(fdopen) X(vdprintf) X(execve) X(execvpe) X(_exit) \
    X(fexecve) X(execveat) \
    X(close_range) X(closefrom) X(recvmmsg) X(sendmmsg) X(posix_spawn) X(posix_spawnp) \
    X(posix_spawn_file_actions_adddup2) X(vfork) X(clone) X(prctl) \
    X(sched_getaffinity) X(sched_setaffinity) X(pthread_setaffinity_np)
/* clang-format on */

#define SOCKETS_REAL_MEMBER(name) __typeof__(&name) name;
struct sockets_real {
    SOCKETS_REAL_FUNCTIONS(SOCKETS_REAL_MEMBER)
};
#undef SOCKETS_REAL_MEMBER

/* Valid once sockets_process_init has run. */
extern struct sockets_real sockets_real;

/* Look all of them up.  A function that this libc lacks stays null. */
void sockets_real_init(void);

#endif
