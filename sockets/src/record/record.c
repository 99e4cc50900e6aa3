/* SPDX-License-Identifier: BSD-3-Clause
 *
 * record.c - the pool of records, and the counters.
 */
#include "record/record.h"
#include "real/real.h"
#include "record/pause.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sockets_pool *_Atomic own_pool; /* made when the first record is needed */
static struct sockets_counters fallback;      /* when there is no memory for a pool */
struct sockets_counters *sockets_counters = &fallback;

enum { VAIN_NS = 100000000 }; /* how long none is looked for after that was in vain */

static _Atomic uint64_t vain_until;

/* The file of counters that `unetsock --stats` made for this and all other processes. */
static void map_common_counters(const char *path)
{
    struct stat st;
    void *map;
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == sizeof(fallback) &&
        (map = mmap(NULL, sizeof(fallback), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) !=
            MAP_FAILED)
        sockets_counters = map;
    sockets_real.close(fd);
}

void sockets_record_init(void)
{
    const char *path = getenv("UNETSOCK_STATS");

    if (path && strncmp(path, "/proc/", 6) == 0)
        map_common_counters(path);
}

void sockets_record_after_fork(void)
{
    atomic_store(&own_pool, NULL);
    atomic_store(&vain_until, 0);
    sockets_watch_after_fork();
}

static struct sockets_pool *make_pool(void)
{
    struct sockets_pool *none = NULL, *pool;

    /* The name is how `unetsock --explain` finds it. */
    int fd = memfd_create("unetsock-pool", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    pool = ftruncate(fd, sizeof(*pool)) == 0
               ? mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
               : MAP_FAILED;
    sockets_real.close(fd);
    if (pool == MAP_FAILED)
        return NULL;
    pool->magic = SOCKETS_POOL_MAGIC;
    pool->version = SOCKETS_POOL_VERSION;
    pool->pid = (uint32_t)getpid();
    pool->records = SOCKETS_RECORDS;
    if (!atomic_compare_exchange_strong(&own_pool, &none, pool)) {
        munmap(pool, sizeof(*pool));
        return none;
    }
    if (sockets_counters == &fallback)
        sockets_counters = &pool->counters;
    return pool;
}

/* All were taken a moment ago. */
static bool is_vain(void)
{
    const uint64_t until = atomic_load_explicit(&vain_until, memory_order_relaxed);

    return __builtin_expect(until != 0, 0) && sockets_ns_until(until) > 0;
}

static bool is_watched(const struct sockets_record *record)
{
    uint64_t any = 0;

    for (int i = 0; i < SOCKETS_WATCHED; i++)
        any |= atomic_load_explicit(&record->watched[i], memory_order_relaxed);
    return any != 0;
}

static bool take(struct sockets_record *record)
{
    uint32_t unused = 0;

    if (__builtin_expect(is_watched(record), 0))
        sockets_record_settle(record);
    return atomic_load_explicit(&record->used, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong(&record->used, &unused, 1);
}

struct sockets_record *sockets_record_new(void)
{
    struct sockets_pool *pool = atomic_load(&own_pool);
    uint32_t first;

    if ((!pool && !(pool = make_pool())) || is_vain())
        return NULL;
    first = atomic_load_explicit(&pool->hint, memory_order_relaxed);
    for (uint32_t i = 0; i < SOCKETS_RECORDS; i++) {
        struct sockets_record *record = &pool->record[(first + i) % SOCKETS_RECORDS];

        if (!take(record))
            continue;
        atomic_store_explicit(&pool->hint, first + i + 1, memory_order_relaxed);
        memset((char *)record + sizeof(record->used), 0, sizeof(*record) - sizeof(record->used));
        atomic_store(&record->holders, 1);
        atomic_fetch_add_explicit(&sockets_counters->connections, 1, memory_order_relaxed);
        return record;
    }
    atomic_store(&vain_until, sockets_now_ns() + VAIN_NS);
    return NULL;
}

void sockets_record_count(struct sockets_record *record)
{
    if (!atomic_exchange(&record->counted, 1))
        atomic_fetch_add_explicit(&sockets_counters->reason[record->reason % SOCKETS_REASONS], 1,
                                  memory_order_relaxed);
}

/* The next connection gets this one, which is in the caches. */
static void reuse(const struct sockets_record *record)
{
    struct sockets_pool *pool = atomic_load(&own_pool);

    if (pool && record >= pool->record && record < pool->record + SOCKETS_RECORDS)
        atomic_store_explicit(&pool->hint, (uint32_t)(record - pool->record), memory_order_relaxed);
}

bool sockets_record_give_up(struct sockets_record *record)
{
    if (atomic_fetch_sub(&record->holders, 1) != 1)
        return false;
    sockets_record_count(record);
    atomic_store_explicit(&record->used, 0, memory_order_release);
    atomic_store_explicit(&vain_until, 0, memory_order_relaxed);
    reuse(record);
    return true;
}

bool sockets_record_drop(struct sockets_record *record)
{
    sockets_record_unwatch(record);
    return sockets_record_give_up(record);
}
