/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_rest.h - what a loop does that looks for something and does not find it.
 *
 * It first spins, because a peer that runs answers within a microsecond.  Then it yields the
 * processor, because the peer may need this one.  Then it sleeps, each loop in its own way.  How
 * often it does the one and the other is a policy; those of all layers stand in core/rest.c.
 */
#ifndef UNET_REST_H
#define UNET_REST_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct unet_rest_policy {
    uint32_t spins;  /* looks in vain after which the loop looks again at once */
    uint32_t yields; /* those that follow, after which it yields before */
};

/* Messages come through memory, and each rank has a core. */
extern const struct unet_rest_policy unet_rest_memory;

/* Some come over a network: each look is a system call. */
extern const struct unet_rest_policy unet_rest_network;

/* Ranks share cores: who spins keeps another from answering. */
extern const struct unet_rest_policy unet_rest_crowded;

/* The queue to a peer is full. */
extern const struct unet_rest_policy unet_rest_room;

/* Ranks that share cores meet: a yield lets the next one come. */
extern const struct unet_rest_policy unet_rest_meeting;

/* After `looks` looks in a row that found nothing: rest before the next.  False: it is time to
 * sleep. */
static inline bool unet_rest_after(const struct unet_rest_policy *policy, uint32_t looks)
{
    if (looks <= policy->spins)
        return true;
    if (looks > policy->spins + policy->yields)
        return false;
    sched_yield();
    return true;
}

/* The same for a program that looks by itself, and never sleeps: it yields now and then. */
static inline void unet_rest_awake(const struct unet_rest_policy *policy, uint32_t looks)
{
    if (looks > policy->spins && looks % policy->yields == 0)
        sched_yield();
}

/* Where a process calls this before it has threads, its first endpoint of shared memory opens some
 * 5 ms sooner: the kernel registers a process for membarrier(2), by which who goes to sleep makes
 * its senders' fences, at once only while it has one thread. */
void unet_rest_prepare(void);

#ifdef __cplusplus
}
#endif

#endif
