/* SPDX-License-Identifier: BSD-3-Clause
 *
 * road.h - what all links between two processes have in common: one reliable endpoint.
 *
 * A link has a *lane* of it: each message begins with the number of the lane at which it is to
 * arrive.  Whoever takes messages from the endpoint leaves those of other lanes with them, in the
 * buffers in which they came.  A link has so few messages on their way that there is a buffer for
 * each, so no lane waits for another one.
 *
 * A road lives as long as it has lanes.
 */
#ifndef SOCKETS_ROAD_H
#define SOCKETS_ROAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct sockets_lane;
struct sockets_road;
struct unet_endpoint;

enum {
    SOCKETS_ROAD_LANES = 16,  /* at a time */
    SOCKETS_LANE_WINDOW = 64, /* messages of a lane that its link has not taken */
    SOCKETS_ROAD_BUFFER = 4352,
    /* One for each message, and some for what is still on its way to lanes that have gone. */
    SOCKETS_ROAD_BUFFERS = (SOCKETS_ROAD_LANES + 2) * SOCKETS_LANE_WINDOW,
    SOCKETS_ROAD_SLOTS = 2048, /* of the endpoint's queues: a power of two, and as many */
};

/* By what both processes know a road. */
struct sockets_road_name {
    uint64_t peer; /* the other process (sockets_road_self) */
    uint64_t id;   /* the same for both */
    uint32_t side; /* 0 or 1, of this end */
};

/* The number of this process, which no other has. */
uint64_t sockets_road_self(void);

/* Roads to a process that has none yet are made one after the other, so that connections which
 * begin at the same time share one.  _begin waits for half a second at most; give what it returns
 * to _end. */
bool sockets_road_making_begin(void);
void sockets_road_making_end(bool begun);

/* Make a road of an endpoint with an open channel, both of which it owns from now on even if that
 * fails, and a lane of it.  NULL: no memory.  Others get lanes of it after _share. */
struct sockets_lane *sockets_road_new(struct unet_endpoint *ep, uint16_t channel,
                                      const struct sockets_road_name *name);
void sockets_road_share(struct sockets_lane *lane);

/* A lane of a road to that process, and the road's name; NULL: there is none with room.  An `id` of
 * 0 is any road, another that one alone, at the given side. */
struct sockets_lane *sockets_lane_new(struct sockets_road_name *name);

/* The lane's number at this end, and at the other one, which has to be known before it sends. */
uint32_t sockets_lane_number(const struct sockets_lane *lane);
void sockets_lane_leads_to(struct sockets_lane *lane, uint32_t number);

/* Give up the lane, and with the last one the road. */
void sockets_lane_free(struct sockets_lane *lane);

/* No more connections shall get lanes of this road: the other end does not have it. */
void sockets_road_retire(struct sockets_lane *lane);

/* Send a message; its first four bytes are the other end's number of the lane, which this writes.
 * 0; -EAGAIN: later; -EPIPE or another: the path is dead. */
int sockets_lane_send(struct sockets_lane *lane, const struct iovec *iov, int n);

/* Messages that are sent in a round (stream/round.h) wait for others to share their packets, until
 * the round ends, somebody takes messages, or sends one outside a round: send those of all roads.
 */
void sockets_road_uncork_all(void);

/* The agent does that every millisecond; and is about to sleep for longer, until it says the first
 * again.  False: not now, as messages wait.  Nobody corks while it sleeps. */
void sockets_road_agent_ticks(void);
bool sockets_road_agent_sleeps(void);

/* Take in what has come: call `take` for each message, which returns false for one that is to be
 * kept, as all behind it are.  It must not use the lane.  Messages of other lanes are kept for
 * them. */
void sockets_lane_take(struct sockets_lane *lane,
                       bool (*take)(void *argument, const char *message, size_t bytes),
                       void *argument);

/* Somebody sleeps for what this lane has, or does so no more: what others take meanwhile is the
 * agent's at once. */
void sockets_lane_add_sleeper(struct sockets_lane *lane);
void sockets_lane_remove_sleeper(struct sockets_lane *lane);

/* Whether messages wait for the link to take them. */
bool sockets_lane_has_more(const struct sockets_lane *lane);

/* The path is dead, for all lanes: as the endpoint says, or as a link has found. */
bool sockets_lane_is_dead(struct sockets_lane *lane);
void sockets_lane_kill(struct sockets_lane *lane);

/* The descriptor that is readable when something comes. */
int sockets_lane_fd(const struct sockets_lane *lane);

/* Somebody else has taken a message for a lane at which nobody may look soon: what is above. */
extern void (*sockets_road_wake)(void);

/* Read, for tests, UNETSOCK_NET_DIES: after how many messages a path counts as dead (never). */
void sockets_road_init(void);

/* The child of a fork has no roads, and is another process. */
void sockets_road_after_fork(void);

#endif
