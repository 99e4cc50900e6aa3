/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.h - the thread that serves links while the program is in no call of them.
 *
 * It acknowledges, sends again, rings bells and gives back what is recalled, within a millisecond;
 * while the program looks at a link itself the agent only looks whether it still does, and a link
 * on which nothing happens wakes it by its descriptors.
 */
#ifndef SOCKETS_AGENT_H
#define SOCKETS_AGENT_H

#include <stdbool.h>

struct sockets_link;

enum { SOCKETS_AGENT_LINKS = 32 }; /* of a process at a time */

/* Whether there may be one more link, which is then counted until _give. */
bool sockets_agent_reserve(void);
void sockets_agent_give(void);

/* Serve a link, for which there is a reservation, until its stream is no more; starts the thread.
 * False: it could not be started. */
bool sockets_agent_add(struct sockets_link *link);

/* Something is to be done. */
void sockets_agent_wake(void);

/* The child of a fork has neither links nor an agent. */
void sockets_agent_after_fork(void);

#endif
