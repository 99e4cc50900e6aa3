/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lane.c - what an owner shares with a rank of its node that sends to it.
 *
 * A sender holds its lane's lock while it copies one piece.  An owner that has locked the lane
 * knows therefore that nobody writes, and whatever it changes is seen before the next piece.  The
 * lock is robust: the kernel frees it when its holder dies.
 */
#include "internal.h"

/* Lanes of instances that were closed.  Their senders may still look, so they are never freed. */
static struct {
    pthread_mutex_t lock;
    struct vmmc_lane *free;
    uint32_t uses;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool lane_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attribute;
    int rc;

    if (pthread_mutexattr_init(&attribute) != 0)
        return false;
    pthread_mutexattr_setpshared(&attribute, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attribute, PTHREAD_MUTEX_ROBUST);
    rc = pthread_mutex_init(lock, &attribute);
    pthread_mutexattr_destroy(&attribute);
    return rc == 0;
}

static struct vmmc_lane *lane_make(struct vmmc *v)
{
    struct vmmc_lane *lane = gam_memory_alloc(v->g, sizeof(*lane));

    if (lane && !lane_lock_init(&lane->lock)) {
        gam_memory_free(v->g, lane);
        return NULL;
    }
    return lane;
}

/* A lane of the pool, or a new one, and the number of its use, which is not 0. */
static struct vmmc_lane *pool_take(struct vmmc *v, uint32_t *use)
{
    struct vmmc_lane *lane;

    pthread_mutex_lock(&pool.lock);
    lane = pool.free;
    if (lane)
        pool.free = lane->next;
    *use = ++pool.uses;
    pthread_mutex_unlock(&pool.lock);
    return lane ? lane : lane_make(v);
}

static void pool_return(struct vmmc_lane *lane)
{
    pthread_mutex_lock(&pool.lock);
    lane->next = pool.free;
    pool.free = lane;
    pthread_mutex_unlock(&pool.lock);
}

/* Whether the instance's memory can be seen by others is told by whether they find its table. */
static bool lanes_useful(const struct vmmc *v)
{
    return gam_memory_find(v->g, gam_rank(v->g), (uintptr_t)v->door,
                           VMMC_EXPORTS_MAX * sizeof(*v->door)) != NULL;
}

struct vmmc_lane *vmmc_lane_open(struct vmmc *v, uint32_t rank)
{
    struct vmmc_lane *lane = v->peer[rank].lane;
    uint32_t use;

    if (lane || !lanes_useful(v))
        return lane;
    lane = pool_take(v, &use);
    if (!lane)
        return NULL;
    vmmc_lane_lock(lane);
    lane->use = use;
    lane->doors = (uintptr_t)v->door;
    atomic_store_explicit(&lane->handled, 0, memory_order_relaxed);
    vmmc_lane_unlock(lane);
    v->peer[rank].lane = lane;
    return lane;
}

void vmmc_lanes_close(struct vmmc *v)
{
    for (uint32_t rank = 0; rank < gam_ranks(v->g); rank++) {
        struct vmmc_lane *lane = v->peer[rank].lane;

        if (!lane)
            continue;
        vmmc_lane_lock(lane);
        lane->use = 0;
        lane->doors = 0;
        vmmc_lane_unlock(lane);
        pool_return(lane);
    }
}

/* ---- locking ------------------------------------------------------------------- */

void vmmc_lane_lock(struct vmmc_lane *lane)
{
    if (!lane)
        return;
    atomic_store_explicit(&lane->wanted, 1, memory_order_relaxed);
    if (pthread_mutex_lock(&lane->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&lane->lock);
    atomic_store_explicit(&lane->wanted, 0, memory_order_relaxed);
}

void vmmc_lane_unlock(struct vmmc_lane *lane)
{
    if (lane)
        pthread_mutex_unlock(&lane->lock);
}

void vmmc_lane_drain(struct vmmc_lane *lane)
{
    vmmc_lane_lock(lane);
    vmmc_lane_unlock(lane);
}

/* ---- messages that were read ----------------------------------------------------- */

/* GAM copies a piece after the hook has said where to, so one is told of with the next, or by the
 * next call of the instance. */
void vmmc_lane_publish(struct vmmc *v)
{
    struct vmmc_lane *lane = v->landing;
    uint64_t before;

    if (!lane)
        return;
    v->landing = NULL;
    before = atomic_load_explicit(&lane->handled, memory_order_relaxed);
    atomic_store_explicit(&lane->handled, before + v->landing_bytes, memory_order_release);
}

void vmmc_lane_land(struct vmmc *v, uint32_t rank, size_t length)
{
    vmmc_lane_publish(v);
    v->landing = v->peer[rank].lane;
    v->landing_bytes = length > 0 ? length : 1;
}
