/* SPDX-License-Identifier: BSD-3-Clause
 *
 * upgrade.h - how the two ends of a connection find each other and get their rings.
 *
 * After some operations the accepting side binds an abstract Unix name made of the connection's
 * addresses and ports; the connecting side connects there and sends a segment.  Each side knows
 * from the kernel how many bytes it has sent and taken so far, and goes on from there.  A peer that
 * does not answer within some operations is taken to have no such library.
 */
#ifndef SOCKETS_UPGRADE_H
#define SOCKETS_UPGRADE_H

#include "stream/stream.h"

/* Read UNETSOCK_UPGRADE: after how many operations (4), or "random". */
void sockets_upgrade_init(void);

/* Count an operation of a stream that is with the kernel, and take the next step if it is time. The
 * caller has one reference.  Keeps errno; never blocks for long. */
void sockets_upgrade_step(struct sockets_stream *s, int fd);

/* Forget a rendezvous: the stream ends. */
void sockets_upgrade_cancel(struct sockets_stream *s);

/* Give up all rendezvous, because the program needs their descriptors.  False if there was none. */
bool sockets_upgrade_make_room(void);

/* Before a fork: from now on nothing is upgraded but by who is at it; wait for those by
 * sockets_table_enter.  After it, in the child before the table is told. */
void sockets_upgrade_before_fork(void);
void sockets_upgrade_after_fork(bool is_child);

/* Whether a connection has options that only the kernel obeys (options.c).  Those it may have
 * from before it was in the table, or from its listener. */
bool sockets_upgrade_needs_tcp(int fd);

/* Whether a socket is one of TCP. */
bool sockets_upgrade_is_tcp(int fd);

/* Whether its calls that read have a time limit. */
bool sockets_upgrade_has_limit(int fd);

/* Whether the TCP socket at the other end of `fd`, on this machine, belongs to user `uid`. */
bool sockets_upgrade_peer_is(int fd, uid_t uid);

#endif
