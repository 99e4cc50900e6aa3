/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where two processes with plain sockets meet.  Every error ends the process with a message.
 */
#ifndef BENCHMARKS_SOCKETS_PAIR_H
#define BENCHMARKS_SOCKETS_PAIR_H

#include <sys/socket.h>

struct meeting {
    int listener;
    struct sockaddr_storage address; /* of the listener */
    socklen_t length;
    int from; /* a process in whose network the connecting side is; 0: ours */
};

/* Listen at `where`: tcp, unix, or INTERFACE,PID,PID, which is TCP between the networks of two
 * processes (0: ours), the first of which connects and the second accepts.  The caller is moved to
 * the second's network, so it forks the accepting process next. */
void meeting_listen(struct meeting *meeting, const char *where);

/* Move the caller to the network from which it connects. */
void meeting_leave(struct meeting *meeting);

/* Block until there is a connection.  With `delays` Nagle's algorithm stays as it is. */
int meeting_accept(const struct meeting *meeting, int delays);
int meeting_connect(const struct meeting *meeting, int delays);

/* Print why the call that has set errno failed, and exit. */
_Noreturn void die(const char *what);

#endif
