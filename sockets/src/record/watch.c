/* SPDX-License-Identifier: BSD-3-Clause
 *
 * watch.c - processes that have a record, and end without giving it up.
 *
 * A child of a fork and its parent name themselves in the records that both have then, and so does
 * whoever is about to end.  Others give the hold up of who is dead: not before, as its threads and
 * destructors may use the record up to then.  One that executes a program without the record may
 * still fail to, and says so if it does; after a while it is taken to have done it.
 */
#include "record/pause.h"
#include "record/record.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KNOWN = 64,         /* processes of which it is remembered whether they live ... */
    KNOWN_NS = 5000000, /* ... for so long */
    LOOKS = 32,         /* at processes in that time; all others are taken to live */
    EXEC_MS = 3000,     /* no exec takes so long to fail */
};

/* What a process does, besides its number, in the upper half of a word. */
enum { LIVES, ENDS, EXECUTES_SINCE }; /* the last one is a time, in ms */

static uint32_t own_process;
static ino_t own_namespace; /* of processes; 0: who is named is known to others by other numbers */
static bool filtered;       /* by who started this process: who loads programs may stat */
static _Atomic bool never_settles; /* the program has filtered itself */

/* In the namespace of who has mounted /proc, which may be another one. */
static uint32_t number_by_proc(void)
{
    char text[16] = "";

    return readlink("/proc/self", text, sizeof(text) - 1) < 0 ? 0
                                                              : (uint32_t)strtoul(text, NULL, 10);
}

static ino_t find_namespace(void)
{
    struct stat st;

    return number_by_proc() == own_process && stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

static bool find_filter(void)
{
    char text[4096];

    sockets_read_proc("/proc/self/status", text, sizeof(text));
    return !strstr(text, "\nSeccomp:\t0\n");
}

void sockets_watch_init(void)
{
    own_process = (uint32_t)getpid();
    own_namespace = find_namespace();
    filtered = find_filter();
}

bool sockets_process_is_filtered(void)
{
    return filtered;
}

void sockets_record_never_settle(void)
{
    atomic_store(&never_settles, true);
}

/* ---- whether processes live --------------------------------------------------------------- */

/* The number of a process, and whether it is dead.  A number is not used again so soon. */
static _Atomic uint64_t known[KNOWN];
static _Atomic uint64_t known_until;
static _Atomic uint32_t looks;

static void forget_known(void)
{
    const uint64_t now = sockets_now_ns();

    if (now < atomic_load(&known_until))
        return;
    for (int i = 0; i < KNOWN; i++)
        atomic_store_explicit(&known[i], 0, memory_order_relaxed);
    atomic_store(&looks, 0);
    atomic_store(&known_until, now + KNOWN_NS);
}

/* What the parent knew of its other children is nothing to keep a child's own word out. */
void sockets_watch_after_fork(void)
{
    own_process = (uint32_t)getpid();
    if (atomic_load(&never_settles) || find_namespace() != own_namespace)
        own_namespace = 0; /* for descendants, too */
    atomic_store(&known_until, 0);
}

static bool is_dead(uint32_t process)
{
    _Atomic uint64_t *at = &known[process % KNOWN];
    uint64_t entry;
    bool dead;

    if (process == own_process || own_namespace == 0 || filtered || atomic_load(&never_settles))
        return false;
    forget_known();
    entry = atomic_load(at);
    if ((uint32_t)entry == process)
        return entry >> 32;
    if (atomic_fetch_add(&looks, 1) >= LOOKS)
        return false;
    dead = sockets_process_is_dead(process);
    atomic_store(at, process | (uint64_t)dead << 32);
    return dead;
}

/* ---- the words of a record ---------------------------------------------------------------- */

static uint64_t word(uint32_t state)
{
    return own_process | (uint64_t)state << 32;
}

/* Others in another namespace may have our number. */
static bool is_own(uint64_t watched)
{
    return own_namespace != 0 && (uint32_t)watched == own_process;
}

static uint32_t now_ms(void)
{
    return (uint32_t)(sockets_now_ns() / 1000000);
}

static bool is_gone(uint64_t watched)
{
    const uint32_t process = (uint32_t)watched, state = (uint32_t)(watched >> 32);

    return is_dead(process) ||
           (!is_own(watched) && state >= EXECUTES_SINCE && (int32_t)(now_ms() - state) > EXEC_MS);
}

/* Our own word, or a free one if there is none, has this state from now on.  False: others have all
 * words. */
static bool set_own(struct sockets_record *record, uint32_t state, bool may_be_new)
{
    for (int i = 0; i < SOCKETS_WATCHED; i++) {
        uint64_t was = atomic_load(&record->watched[i]);

        if (is_own(was) && atomic_compare_exchange_strong(&record->watched[i], &was, word(state)))
            return true;
    }
    for (int i = 0; may_be_new && i < SOCKETS_WATCHED; i++) {
        uint64_t nobody = 0;

        if (atomic_compare_exchange_strong(&record->watched[i], &nobody, word(state)))
            return true;
    }
    return false;
}

static bool watch(struct sockets_record *record, uint32_t state)
{
    return own_namespace != 0 && (set_own(record, state, true) ||
                                  (sockets_record_settle(record) && set_own(record, state, true)));
}

static bool is_named(const struct sockets_record *record)
{
    bool any = false;

    for (int i = 0; i < SOCKETS_WATCHED; i++)
        any |= is_own(atomic_load(&record->watched[i]));
    return any;
}

/* Another thread may be about to end or to execute: that stands. */
void sockets_record_watch(struct sockets_record *record)
{
    if (!is_named(record))
        watch(record, LIVES);
}

/* What bears this child's number is of a process that is dead, as nobody has noticed yet. */
void sockets_record_inherit(struct sockets_record *record)
{
    for (int i = 0; i < SOCKETS_WATCHED; i++) {
        uint64_t was = atomic_load(&record->watched[i]);

        if (is_own(was) && atomic_compare_exchange_strong(&record->watched[i], &was, 0))
            sockets_record_give_up(record);
    }
    watch(record, LIVES);
}

void sockets_record_end(struct sockets_record *record)
{
    watch(record, ENDS);
}

void sockets_record_unwatch(struct sockets_record *record)
{
    for (int i = 0; i < SOCKETS_WATCHED; i++) {
        uint64_t was = atomic_load_explicit(&record->watched[i], memory_order_relaxed);

        if (is_own(was))
            atomic_compare_exchange_strong(&record->watched[i], &was, 0);
    }
}

/* Who is not watched keeps its hold for ever, as it may fail. */
void sockets_record_exec(struct sockets_record *record, bool failed)
{
    const uint32_t now = now_ms();

    if (failed)
        set_own(record, LIVES, false);
    else
        watch(record, now > EXECUTES_SINCE ? now : EXECUTES_SINCE);
}

bool sockets_record_settle(struct sockets_record *record)
{
    bool any = false;

    for (int i = 0; i < SOCKETS_WATCHED; i++) {
        uint64_t was = atomic_load(&record->watched[i]);

        if (was == 0 || !is_gone(was) ||
            !atomic_compare_exchange_strong(&record->watched[i], &was, 0))
            continue;
        sockets_record_give_up(record);
        any = true;
    }
    return any;
}

bool sockets_record_settles_to_sole(struct sockets_record *record)
{
    sockets_record_settle(record);
    return atomic_load(&record->holders) == 1;
}

bool sockets_record_is_last(struct sockets_record *record)
{
    uint32_t holders, leaving = 0;

    if (sockets_record_is_sole(record))
        return true;
    /* First, so that who is settled meanwhile does not count among the leaving for nothing. */
    holders = atomic_load(&record->holders);
    for (int i = 0; i < SOCKETS_WATCHED; i++) {
        const uint64_t watched = atomic_load(&record->watched[i]);

        leaving += watched != 0 && !is_own(watched) && watched >> 32 != LIVES;
    }
    return holders <= leaving + 1;
}
