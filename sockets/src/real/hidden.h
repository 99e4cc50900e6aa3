/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hidden.h - descriptors of ours, of which the program knows nothing.
 *
 * They lie above the limit of descriptors where the hard limit leaves room there, so that they take
 * none that the program may open; else as high as the limit lets them.  A program that closes all
 * that it does not know, or puts something of its own at their numbers, leaves them alive.
 */
#ifndef SOCKETS_HIDDEN_H
#define SOCKETS_HIDDEN_H

#include <stdbool.h>

enum { SOCKETS_HIDDEN = 256 }; /* at a time */

/* Hide a descriptor; it is then known by the slot that is returned.  -1: none is left, and the
 * descriptor is closed. */
int sockets_hidden_keep(int fd);

/* The same of a copy that stays for long, where there is room out of the program's way; else -1. */
int sockets_hidden_copy(int fd);

/* The descriptor of a slot, which may change; and give it up. */
int sockets_hidden_fd(int slot);
void sockets_hidden_close(int slot);

/* Between the two this thread runs a library of ours (net/) whose sockets and epoll sets are hidden
 * as they come, and may be closed.  They nest: _begin returns what _end wants. */
bool sockets_hidden_begin(void);
void sockets_hidden_end(bool before);
bool sockets_hidden_is_ours(void); /* this thread is between the two */

/* What such a library has made, under the number that it gets: `fd`, or -1 and errno. */
int sockets_hidden_made(int fd);

/* The library closes a descriptor. */
int sockets_hidden_close_made(int fd);

/* In the child of a fork: nothing is locked; close all that was made so, which is the parent's. */
void sockets_hidden_after_fork(void);

/* Around a fork: no other thread has just raised the limit of descriptors.  False: a signal handler
 * has interrupted this one in that moment. */
bool sockets_hidden_lock_limit(void);
void sockets_hidden_unlock_limit(void);

/* Whether a descriptor is hidden. */
bool sockets_hidden_is(int fd);

/* The program puts a descriptor of its own at this number: what is hidden there moves away. */
void sockets_hidden_evade(int fd);

/* close_range(2) with what is hidden left out. */
int sockets_hidden_close_range(unsigned first, unsigned last, int flags);

#endif
