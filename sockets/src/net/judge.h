/* SPDX-License-Identifier: BSD-3-Clause
 *
 * judge.h - whether this process's connections from other hosts do better by links or by TCP.
 *
 * Who serves several at a time, and never waits, may do better with TCP's batches.  Nobody knows
 * beforehand: that depends on the cores, the network, and who else wants them.  So it is tried:
 * for some windows of time, in turns, all go by links and by TCP, and the bytes that are read
 * counted.  The better way is kept, and the other one tried again later and later.  The accepting
 * side judges, if it has two links at least, and the connecting side follows.
 */
#ifndef SOCKETS_JUDGE_H
#define SOCKETS_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

/* Read, for tests, UNETSOCK_NET_JUDGE: after how many reads the verdict changes, whatever is
 * better; 0: never; tcp: never, and it is TCP from the beginning. */
void sockets_judge_init(void);

/* There is one link more that is judged, or less. */
void sockets_judge_add(void);
void sockets_judge_remove(void);

/* A read of such a link has taken so many bytes, by either way.  True: the verdict has changed. */
bool sockets_judge_count(uint64_t taken);

/* Whether they are to go by TCP now. */
bool sockets_judge_says_tcp(void);

/* The time in nanoseconds, which tests make up. */
extern uint64_t (*sockets_judge_now)(void);

/* The child of a fork has no links. */
void sockets_judge_after_fork(void);

#endif
