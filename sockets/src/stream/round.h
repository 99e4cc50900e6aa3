/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.h - what a thread does between two waits for a set of epoll.
 *
 * A server answers all that a wait has told it of, and waits again.  Where rounds are brief the
 * answers to another host share packets, which go when the thread waits again (net/road.c).
 */
#ifndef SOCKETS_ROUND_H
#define SOCKETS_ROUND_H

#include <stdbool.h>

/* A wait has told this thread of so many events; and the thread waits for something again: what
 * waits for that goes. */
void sockets_round_begin(int told);
void sockets_round_end(void);

/* Whether more messages are likely to be sent within some microseconds: the round is one of several
 * events, and this one and the last one are brief. */
bool sockets_round_is_on(void);

/* What is above: send what waits for the end of a round. */
extern void (*sockets_round_send)(void);

#endif
