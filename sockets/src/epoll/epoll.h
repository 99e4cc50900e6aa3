/* SPDX-License-Identifier: BSD-3-Clause
 *
 * epoll.h - epoll sets with upgraded connections in them.
 *
 * The kernel's set has every descriptor of the program's, with the events that the program asked
 * for; so whatever the kernel knows (TCP's data, bells, ends, other files) comes from there. Beside
 * it stand the hot connections: those which had data lately.  Their rings are looked at first, and
 * their senders need not wake anybody.  Before the set sleeps in the kernel it arms them, and one
 * that stays silent is left armed and no longer looked at: it costs nothing until the kernel tells
 * of it.
 */
#ifndef SOCKETS_EPOLL_H
#define SOCKETS_EPOLL_H

#include "stream/stream.h"
#include <signal.h>
#include <sys/epoll.h>

struct sockets_epoll;

/* A descriptor is a new epoll set, or no longer. */
void sockets_epoll_add(int epfd);
void sockets_epoll_closing(int epfd);
void sockets_epoll_copy(int epfd, int copy);

/* The set of a descriptor, or NULL; to be compared, or between _enter, which may return NULL, and
 * _leave to be used, even if it is closed meanwhile. */
struct sockets_epoll *sockets_epoll_find(int epfd);
struct sockets_epoll *sockets_epoll_enter(int epfd);
void sockets_epoll_leave(struct sockets_epoll *set);

/* Somebody asks the kernel about a descriptor (poll, another set), which may be a set: from now
 * on the kernel has to know all of it, and nobody else is waited for. */
void sockets_epoll_make_cold(int epfd);

/* epoll_ctl for a connection of ours; -1 and errno as epoll_ctl. */
int sockets_epoll_ctl(struct sockets_epoll *set, int epfd, int op, int fd, struct sockets_stream *s,
                      struct epoll_event *event);

/* A file is about to come into the set, or to change there. */
void sockets_epoll_note(struct sockets_epoll *set, int epfd, const struct epoll_event *event);

/* epoll_pwait2; -1 and errno as that. */
int sockets_epoll_wait(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                       int64_t timeout_ns, const sigset_t *mask);

/* A stream ends: it is in no set any more. */
void sockets_epoll_forget(struct sockets_stream *s);

/* A stream stays, and is no longer reached by `fd`, but by `other`. */
void sockets_epoll_move(struct sockets_stream *s, int fd, int other);

/* A thread that does not wait for the set has taken something from a stream whose set sleeps. */
void sockets_epoll_taken(struct sockets_stream *s);

/* After a shutdown: TCP changes its state, and tells of data that lies unread once more (EPOLLET).
 */
void sockets_epoll_state_changed(struct sockets_stream *s);

/* Run `attach`, which upgrades the stream, while no set that it is in sleeps.  False if one does,
 * or if it is in several; then nothing was done. */
bool sockets_epoll_upgrade(struct sockets_stream *s, void (*attach)(void *), void *argument);

/* The next descriptor of a set, from this one on, or -1. */
int sockets_epoll_next(int epfd);

/* Another process gets the set, if this descriptor is one's: the kernel hears of all that was
 * deferred, at once from now on.  And before a fork, of all sets. */
void sockets_epoll_share(int epfd);
void sockets_epoll_share_all(void);

/* This process ends, which a handler of a signal may want; it is about to execute another program,
 * or has failed to: sets that are closed then are the others' alone. */
void sockets_epoll_end(void);
void sockets_epoll_exec(bool failed);

/* Around a fork in the parent: no other thread is inside the lists of entries. */
void sockets_epoll_lock_all(void);
void sockets_epoll_unlock_all(void);

/* After it; the child's sets have counted nothing yet.  The child may not allocate memory here. */
void sockets_epoll_after_fork(bool is_child);

#endif
