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

enum {
    LOOKS = 4,          /* whether processes live, for a new record */
    LIVES_NS = 10000000 /* who lived a moment ago is taken to live still */
};

static uint32_t own_process;
static ino_t
    own_namespace; /* of processes; 0: who is watched is known to others by other numbers */
static _Atomic bool never_settles;
static _Atomic uint32_t lived; /* one that did when it was last asked ... */
static _Atomic uint64_t lives_until;

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

static ino_t find_namespace(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void sockets_record_init(void)
{
    const char *path = getenv("UNETSOCK_STATS");

    own_process = (uint32_t)getpid();
    own_namespace = find_namespace();
    if (path && strncmp(path, "/proc/", 6) == 0)
        map_common_counters(path);
}

void sockets_record_after_fork(void)
{
    atomic_store(&own_pool, NULL);
    own_process = (uint32_t)getpid();
    if (atomic_load(&never_settles) || find_namespace() != own_namespace)
        own_namespace = 0; /* for descendants, too */
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

struct sockets_record *sockets_record_new(void)
{
    struct sockets_pool *pool = atomic_load(&own_pool);
    uint32_t first, looks = 0;

    if (!pool && !(pool = make_pool()))
        return NULL;
    first = atomic_load_explicit(&pool->hint, memory_order_relaxed);
    for (uint32_t i = 0; i < SOCKETS_RECORDS; i++) {
        struct sockets_record *record = &pool->record[(first + i) % SOCKETS_RECORDS];
        uint32_t unused = 0;

        if (atomic_load_explicit(&record->watched, memory_order_relaxed) != 0 && looks++ < LOOKS)
            sockets_record_settle(record);
        if (atomic_load_explicit(&record->used, memory_order_relaxed) ||
            !atomic_compare_exchange_strong(&record->used, &unused, 1))
            continue;
        atomic_store_explicit(&pool->hint, first + i + 1, memory_order_relaxed);
        memset((char *)record + sizeof(record->used), 0, sizeof(*record) - sizeof(record->used));
        atomic_store(&record->holders, 1);
        atomic_fetch_add_explicit(&sockets_counters->connections, 1, memory_order_relaxed);
        return record;
    }
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

static bool drop(struct sockets_record *record)
{
    if (atomic_fetch_sub(&record->holders, 1) != 1)
        return false;
    sockets_record_count(record);
    atomic_store_explicit(&record->used, 0, memory_order_release);
    reuse(record);
    return true;
}

static void unwatch(struct sockets_record *record)
{
    uint32_t watched = atomic_load_explicit(&record->watched, memory_order_relaxed);

    if (__builtin_expect(watched != 0, 0) && watched == own_process)
        atomic_compare_exchange_strong(&record->watched, &watched, 0);
}

bool sockets_record_drop(struct sockets_record *record)
{
    unwatch(record);
    return drop(record);
}

void sockets_record_exec(struct sockets_record *record, bool failed)
{
    if (!failed)
        unwatch(record);
    atomic_fetch_add(&record->holders, failed ? 1 : -1u);
    if (failed)
        sockets_record_watch(record);
}

void sockets_record_watch(struct sockets_record *record)
{
    uint32_t nobody = 0;

    sockets_record_settle(record);
    if (own_namespace != 0)
        atomic_compare_exchange_strong(&record->watched, &nobody, own_process);
}

void sockets_record_never_settle(void)
{
    atomic_store(&never_settles, true);
}

static bool is_dead(uint32_t process)
{
    if (process == own_process || atomic_load(&never_settles) ||
        (process == atomic_load(&lived) && sockets_ns_until(atomic_load(&lives_until)) > 0))
        return false;
    if (sockets_process_is_dead(process))
        return true;
    atomic_store(&lives_until, sockets_now_ns() + LIVES_NS);
    atomic_store(&lived, process);
    return false;
}

bool sockets_record_settle(struct sockets_record *record)
{
    uint32_t watched = atomic_load(&record->watched);

    if (watched == 0 || !is_dead(watched) ||
        !atomic_compare_exchange_strong(&record->watched, &watched, 0))
        return false;
    drop(record);
    return true;
}
