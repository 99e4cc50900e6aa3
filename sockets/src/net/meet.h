/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meet.h - how the two ends of a connection find each other across hosts.
 *
 * The accepting side listens at one of four TCP ports made of the connection's addresses and ports
 * and the key (key.h), and the connecting side connects to it: the control connection.  Each proves
 * by the key that it is of those who may, and that it means this connection; the endpoints'
 * addresses and what their key is made of travel with that.  Nothing is ever written into the
 * connection itself, so a peer that knows nothing of all this sees at most some attempts to connect
 * to closed ports.
 *
 * A thread of its own does that; the connection goes on meanwhile.
 */
#ifndef SOCKETS_MEET_H
#define SOCKETS_MEET_H

#include "net/ends.h"
#include "record/record.h"
#include <stdbool.h>

struct sockets_link;
struct sockets_meeting;

/* Read UNETSOCK_NET, the backend, and the key; without them there are no meetings.  For tests also
 * UNETSOCK_NET_CHAOS: how bad the network is, as unet_chaos_parse reads it. */
void sockets_meet_init(void);
bool sockets_meet_is_on(void);

/* Begin to meet the other end of a connection.  NULL: there is no room for another one, or no
 * thread. */
struct sockets_meeting *sockets_meet_begin(bool is_server, const struct sockets_ends *ends);

/* 1: *link is there, and the caller's; 0: not yet; -EHOSTUNREACH: nobody came, or a stranger. */
int sockets_meet_result(struct sockets_meeting *meeting, struct sockets_link **link);

/* Why it failed, as far as that can be told. */
enum sockets_reason sockets_meet_reason(const struct sockets_meeting *meeting);

/* Forget it, and a link that nobody has taken. */
void sockets_meet_end(struct sockets_meeting *meeting);

#endif
