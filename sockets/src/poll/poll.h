/* SPDX-License-Identifier: BSD-3-Clause
 *
 * poll.h - poll and select with upgraded connections among the descriptors.
 */
#ifndef SOCKETS_POLL_H
#define SOCKETS_POLL_H

#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <time.h>

/* ppoll; -1 and errno as that.  *timeout is left as it is. */
int sockets_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                  const sigset_t *mask);

/* pselect. */
int sockets_pselect(int count, fd_set *readable, fd_set *writable, fd_set *urgent,
                    const struct timespec *timeout, const sigset_t *mask);

#endif
