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
 * Only threads that may run on all cores do so, and they are given them all back before their call
 * returns.
 */
#ifndef SOCKETS_CORE_H
#define SOCKETS_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Read UNETSOCK_CORE (0: threads wait wherever the kernel has them wait), and whether the process
 * may make all system calls. */
void sockets_core_init(void);

/* From now on no thread is confined, and none that was is any more: the process says itself where
 * its threads run, or is about to forbid itself system calls. */
void sockets_core_never(void);

/* This thread is about to wake one that sleeps at the other end of `stream`, which is a name and
 * not looked at.  `leads`: this is the connecting end; `is_strangers`: the other one is another
 * user's; `theirs`: what that has announced; `received`, `sent`: bytes so far.  Returns what to
 * announce to it: the core on which this thread will wait, counted from 1, or 0. */
uint32_t sockets_core_announce(const void *stream, bool leads, bool is_strangers, uint32_t theirs,
                               uint64_t received, uint64_t sent);

/* Sleep by a call of `wait`; if this thread has announced a core then there.  Returns what `wait`
 * does, and keeps its errno.  A thread that is cancelled there has all cores as it ends. */
ssize_t sockets_core_sleep(ssize_t (*wait)(void *arg), void *arg);

/* The wake-up from the last sleep took so long, as who woke says.  Whether that sleep was on such a
 * core: then it tells nothing of how long wake-ups take. */
bool sockets_core_learn(uint64_t took_ns);

/* A handler of a signal is run by a thread that is still confined, and makes a process. */
void sockets_core_release(void);

/* In the child of a fork, where there is no other thread. */
void sockets_core_after_fork(void);

#endif
