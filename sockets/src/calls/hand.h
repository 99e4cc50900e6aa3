/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hand.h - connections that are handed to programs that know nothing of rings.
 */
#ifndef SOCKETS_HAND_H
#define SOCKETS_HAND_H

#include <stdbool.h>
#include <sys/socket.h>

/* A descriptor is about to be used by such a program: its connection goes back to the kernel, with
 * what lies unread in its ring; or it is a set's, of which the kernel hears all.  False if it is
 * none of ours. */
bool sockets_call_hand_over(int fd);

/* The same for all that a program has that is about to be executed. */
void sockets_call_hand_over_all(void);

/* The same for those that a message passes (SCM_RIGHTS). */
void sockets_call_hand_over_passed(const struct msghdr *msg);

#endif
