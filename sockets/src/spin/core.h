/* SPDX-License-Identifier: BSD-3-Clause
 *
 * core.h - two threads that ask and answer in turns wait for one another on one core.
 *
 * Of two of which each sleeps while the other one works the kernel wakes each on a core that is
 * idle.  There it may have to be woken, which takes some us, and some 50 on virtual machines; a
 * switch from one to the other on one core takes 2.  So for the time of their sleep they are
 * allowed on one core alone, where that is faster: the connecting end measures both ways, and
 * announces the core before it wakes the other end, which then waits there, too.
 *
 * Only threads that may run on all cores do so, they are given them all back before their call
 * returns, and who is not woken soon has them back as well.
 */
#ifndef SOCKETS_CORE_H
#define SOCKETS_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Read UNETSOCK_CORE (0: threads wait wherever the kernel has them wait), and whether the process
 * may make all system calls. */
void sockets_core_init(void);

/* From now on no thread is confined, and none that was is any more: the process says itself where
 * its threads run, or is about to forbid itself system calls.  Blocks for some ms at most. */
void sockets_core_never(void);

/* This thread is about to wake one that sleeps at the other end of `stream`, which is a name and
 * not looked at.  `leads`: this is the connecting end; `theirs`: what the other end has announced;
 * `received`, `sent`: bytes so far.  Returns what to announce to it: the core on which this thread
 * will wait, counted from 1, or 0. */
uint32_t sockets_core_announce(const void *stream, bool leads, uint32_t theirs, uint64_t received,
                               uint64_t sent);

/* Sleep by a call of `wait` with that time limit, or NULL; if this thread has announced a core then
 * there, for a while, and after that by a second call anywhere.  Returns what `wait` does, which is
 * 0 if the time has passed, and keeps its errno. */
int sockets_core_sleep(int (*wait)(void *arg, const struct timespec *timeout), void *arg,
                       const struct timespec *timeout);

/* Whether the last sleep was on such a core: it tells nothing of how long wake-ups take. */
bool sockets_core_was_shared(void);

/* A handler of a signal is run by a thread that is still confined, and makes a process. */
void sockets_core_release(void);

/* In the child of a fork, where there is no other thread. */
void sockets_core_after_fork(void);

#endif
