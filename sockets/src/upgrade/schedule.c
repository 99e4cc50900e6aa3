/* SPDX-License-Identifier: BSD-3-Clause
 *
 * schedule.c - when an end of a connection looks for the other one.
 */
#include "upgrade/schedule.h"
#include "record/pause.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEFAULT_OPS = 4,
    RANDOM_OPS = 16,
    QUICK_TRIES = 5, /* one by one, before the pauses double */
    LATE_OPS = 8,    /* later it is the clock that counts, which is looked at so often */
    ENOUGH_MS = 100, /* for a peer to run, and to come to its own tries */
    LOOKS_LOG = 5,   /* the pauses between looks at a stream to another host double so often */
};

/* Of each side: from which try on the clock counts, when it may give up, and how much time lies
 * between late tries. */
struct schedule {
    uint32_t late, most, pause_us;
};
/* To connect takes some 10 us, and to see that nobody has less than one. */
static const struct schedule connecting = {12, 12, 1000}, accepting = {QUICK_TRIES, 40, 50};

enum {
    MUCH = 128 << 10, /* bytes in few operations: a bulk transfer ... */
    LONG = 2 << 20,   /* ... and one that lasts */
};

static uint32_t first_ops = DEFAULT_OPS;
static bool random_ops, as_told;
static _Atomic bool ended;

void sockets_schedule_init(void)
{
    const char *text = getenv("UNETSOCK_UPGRADE");
    unsigned long ops;
    char *end;

    if (!text || !*text)
        return;
    as_told = true;
    random_ops = strcmp(text, "random") == 0;
    ops = strtoul(text, &end, 10);
    if (!*end && ops > 0 && ops < UINT32_MAX)
        first_ops = (uint32_t)ops;
}

void sockets_schedule_end(void)
{
    atomic_store(&ended, true);
}

bool sockets_schedule_has_ended(void)
{
    return atomic_load_explicit(&ended, memory_order_relaxed);
}

uint32_t sockets_schedule_first(void)
{
    uint32_t t = (uint32_t)(uintptr_t)&t;

    /* Who forbids itself system calls may have forbidden what clock() makes. */
    return random_ops && !sockets_schedule_has_ended()
               ? 1 + (t / 64 + (uint32_t)clock()) % RANDOM_OPS
               : first_ops;
}

bool sockets_schedule_postpone(struct sockets_record *record, uint32_t ops,
                               struct sockets_traffic traffic)
{
    const uint64_t carried = traffic.sent + traffic.received;

    if (as_told || carried < MUCH || carried >= LONG)
        return false;
    atomic_store(&record->next_try, ops + DEFAULT_OPS);
    return true;
}

bool sockets_schedule_is_one_way(struct sockets_record *record, struct sockets_traffic traffic)
{
    const bool both = traffic.sent != record->sent && traffic.received != record->received;
    const uint32_t log = record->looks < LOOKS_LOG ? record->looks : LOOKS_LOG;

    if (as_told || (record->looks > 0 && both))
        return false;
    record->sent = traffic.sent;
    record->received = traffic.received;
    record->looks++;
    atomic_store(&record->tries, 0);
    atomic_store(&record->next_try, atomic_load(&record->ops) + ((uint32_t)DEFAULT_OPS << log));
    return true;
}

void sockets_schedule_plan(struct sockets_record *record, bool is_server, uint32_t ops)
{
    const struct schedule *schedule = is_server ? &accepting : &connecting;
    const uint32_t tries = atomic_fetch_add(&record->tries, 1) + 1;
    const uint64_t now = sockets_now_ns();
    uint32_t pause = 1;

    if (tries >= schedule->late)
        pause = LATE_OPS;
    else if (tries >= QUICK_TRIES)
        pause = 2u << (tries - QUICK_TRIES);
    if (tries == 1)
        atomic_store(&record->first_ns, now);
    atomic_store(&record->last_ns, now);
    atomic_store(&record->next_try, ops + pause);
}

enum sockets_when sockets_schedule_ask(struct sockets_record *record, bool is_server, uint32_t ops)
{
    const struct schedule *schedule = is_server ? &accepting : &connecting;
    const uint32_t tries = atomic_load(&record->tries);
    uint64_t now;

    if (tries < schedule->late)
        return SOCKETS_TRY_NOW;
    now = sockets_now_ns();
    if (tries >= schedule->most && now - atomic_load(&record->first_ns) >= ENOUGH_MS * 1000000u)
        return SOCKETS_TRY_NEVER;
    atomic_store(&record->next_try, ops + LATE_OPS);
    return now - atomic_load(&record->last_ns) >= schedule->pause_us * 1000u ? SOCKETS_TRY_NOW
                                                                             : SOCKETS_TRY_LATER;
}
