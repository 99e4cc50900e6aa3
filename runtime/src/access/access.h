/* SPDX-License-Identifier: BSD-3-Clause
 *
 * access.h - room access: what one rank does with the memory of another, by messages or through
 * windows, and how it waits for that.
 *
 * It calls memory and observe.
 */
#ifndef SPLITC_ACCESS_H
#define SPLITC_ACCESS_H

#include "memory/memory.h"
#include "observe/observe.h"
#include "runtime.h"

/* ---- the monitor (monitor.c) --------------------------------------------------- */

/* With SPLITC_PROGRESS=thread or upcall a second thread runs handlers while the program computes,
 * and with SPLITC_THREADS=1 threads of the program use the library.  Functions of the library that
 * send, wait, or use what handlers use hold the monitor from this line to their ends, which keeps
 * other threads out.  It is recursive, and handlers may take it. */
#define SPLITC_INSIDE                                                                              \
    __attribute__((cleanup(splitc_monitor_leave), unused)) bool inside = splitc_monitor_enter()

void splitc_monitor_lock(void) __attribute__((cold, noinline));
void splitc_monitor_unlock(void) __attribute__((cold, noinline));

/* False: the monitor is not free, or was not within so many milliseconds. */
bool splitc_monitor_try_lock(void);
bool splitc_monitor_lock_within(long ms);

/* Lets another thread in that waits to be.  The caller is in a wait, and has to look again at what
 * it waits for. */
void splitc_monitor_pass(void) __attribute__((cold, noinline));

static inline bool splitc_monitor_enter(void)
{
    const bool threaded = splitc_runtime.threaded;

    if (__builtin_expect(threaded, 0))
        splitc_monitor_lock();
    return threaded;
}

static inline void splitc_monitor_leave(const bool *inside)
{
    if (__builtin_expect(*inside, 0))
        splitc_monitor_unlock();
}

/* Without the monitor, only one thread may use messages: the one that runs the program, or its
 * exit handlers. */
extern __thread bool splitc_own_thread;

/* End the job because another thread does `what`, which needs messages. */
_Noreturn void splitc_foreign_thread(const char *what) __attribute__((cold, noinline));

/* The same, unless all messages stay on this node. */
void splitc_foreign_wait(const char *what) __attribute__((cold, noinline));

/* The same for what only the thread of the program may do, whatever the settings. */
_Noreturn void splitc_foreign_collective(const char *what) __attribute__((cold, noinline));

static inline bool splitc_is_foreign_thread(void)
{
    return __builtin_expect(!splitc_own_thread, 0) && !splitc_runtime.threaded;
}

/* ---- waiting (progress.c) --------------------------------------------------------- */

/* Learn from the environment how long to spin for messages.  `network`: some come over one. */
void splitc_progress_open(uint32_t local_ranks, bool network);

/* Whether ranks share cores, so that a rank that spins keeps another from running. */
bool splitc_shares_cores(void);

/* Serve messages once:
 *
 *     struct splitc_wait w = {.kind = ..., .what = "sync", .whom = SPLITC_ANYBODY};
 *
 *     while (!done)
 *         splitc_wait_step(&w);
 *     splitc_wait_end(&w);
 *
 * Ends the job when a peer is dead. */
void splitc_wait_step(struct splitc_wait *w);

/* The same where the wait ends when another rank writes through its window and then calls
 * splitc_wake. */
void splitc_wait_step_shared(struct splitc_wait *w);

/* The same where nothing wakes this rank: it looks again every millisecond. */
void splitc_wait_step_unrung(struct splitc_wait *w);

/* Tell that a wait goes on that has no step now. */
void splitc_wait_show(struct splitc_wait *w);

void splitc_wait_over(struct splitc_wait *w) __attribute__((cold, noinline));

static inline void splitc_wait_end(struct splitc_wait *w)
{
    if (__builtin_expect(w->shown || w->began > 0, 0))
        splitc_wait_over(w);
}

/* Call it after a write to the memory of `rank` that it may wait for.  It is a full fence. */
void splitc_wake(uint32_t rank);

/* The same after a write that any rank may wait for. */
void splitc_wake_all(void);

/* Serve messages until *done, which the handler of a message from `whom` sets. */
void splitc_await(const bool *done, const char *what, uint32_t whom);

/* Serve messages once, as a step of a loop in which the program waits.  Returns how many there
 * were. */
int splitc_poll_once(void);

/* All accesses before it are seen by other ranks before those after it are done. */
static inline void splitc_full_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- small accesses that share messages (coalesce.c) --------------------------------------- */

enum splitc_record { SPLITC_RECORD_STORE = 1, SPLITC_RECORD_PUT = 2, SPLITC_RECORD_GET = 3 };

#define SPLITC_COALESCE_MOST 256u /* bytes of an access */

/* Enable it, if there is a network; after the windows and the second thread are there. */
void splitc_coalesce_open(void);

/* Have an access of n bytes travel with others: from `here` to the address `there` of a rank, or,
 * for a get, from there to here.  False: it has to go by itself, after splitc_coalesced_go. */
bool splitc_coalesce(enum splitc_record kind, uint32_t rank, const volatile void *there,
                     const void *here, size_t n);

/* So many accesses to a rank follow at once, so none of them goes by itself; all have been made,
 * and what is left of them goes. */
void splitc_coalesce_expect(uint32_t rank, uint64_t accesses);
void splitc_coalesce_end(void);

/* Send what waits; in a handler, nothing. */
void splitc_coalesce_flush(void) __attribute__((cold, noinline));

static inline void splitc_coalesced_go(void)
{
    if (__builtin_expect(splitc_runtime.coalesced, 0))
        splitc_coalesce_flush();
}

/* A wait ends the bursts of accesses; it only has to change this number. */
extern uint32_t splitc_bursts;

/* ---- global pointers ------------------------------------------------------------------ */

/* The rank that a far access, `what`, goes to.  Ends the job if the pointer cannot be followed, or
 * not here. */
static inline uint32_t splitc_target_split(splitc_ptr g, const char *what)
{
    uint32_t rank = (uint32_t)splitc_rank(g);

    if (__builtin_expect(
            rank >= splitc_runtime.ranks || (g & SPLITC_ADDRESS_MASK) < SPLITC_NULL_PAGE, 0))
        splitc_bad_pointer(g);
    if (__builtin_expect(splitc_runtime.running != NULL, 0))
        splitc_must_not_wait();
    if (splitc_is_foreign_thread())
        splitc_foreign_thread(what);
    return rank;
}

/* The same for an access that does not travel with others: those before it go first. */
static inline uint32_t splitc_target(splitc_ptr g, const char *what)
{
    const uint32_t rank = splitc_target_split(g, what);

    splitc_coalesced_go();
    return rank;
}

/* What -fcheck does before n bytes at g are read or written (job/checks.c); NULL: it is off. */
extern void (*splitc_access_check)(splitc_ptr g, uint64_t n, bool writes);

static inline void splitc_check_access(splitc_ptr g, uint64_t n, bool writes)
{
    if (__builtin_expect(splitc_access_check != NULL, 0))
        splitc_access_check(g, n, writes);
}

/* Exchange an int of the global address space, as part of that wait.  Returns the old value. */
int splitc_exchange_in(struct splitc_wait *w, splitc_ptr object, int value);

/* ---- bytes of signalling stores (stored.c) ------------------------------------------------- */

/* The sum, over the ranks whose windows are open, of their counters for this rank. */
static inline uint64_t splitc_stored_sum(const uint64_t by_target[GAM_RANKS_MAX])
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++) {
        splitc_ptr g = splitc_make((int)splitc_runtime.near[i], &by_target[splitc_runtime.rank]);

        sum += __atomic_load_n((const uint64_t *)splitc_near(g), __ATOMIC_ACQUIRE);
    }
    return sum;
}

/* Bytes to here that are in place, since the start. */
static inline uint64_t splitc_stored_landed(void)
{
    return splitc_runtime.stored_in + splitc_stored_sum(splitc_stored);
}

/* Bytes from here, and those to here that are in place, since the start. */
void splitc_stored_counts(uint64_t *stored, uint64_t *landed);

/* ---- small payloads --------------------------------------------------------------------- */

/* A request names an address and a small size in one word. */
static inline uint64_t splitc_pack(const volatile void *address, size_t n)
{
    return (uint64_t)n << SPLITC_ADDRESS_BITS | ((uintptr_t)address & SPLITC_ADDRESS_MASK);
}

static inline void *splitc_packed_address(uint64_t word)
{
    return (void *)(uintptr_t)(word & SPLITC_ADDRESS_MASK);
}

static inline size_t splitc_packed_size(uint64_t word)
{
    return word >> SPLITC_ADDRESS_BITS;
}

static inline uint32_t splitc_words(size_t n)
{
    return (uint32_t)((n + 7) / 8);
}

/* Copy few bytes; scalars move in one access. */
static inline void splitc_copy(void *to, const void *from, size_t n)
{
    switch (n) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 0:
        break; /* `to` may be NULL */
    default:
        memcpy(to, from, n);
    }
}

/* A blocking operation waits for one of these, on the caller's stack.  Its address travels to the
 * owner and back. */
struct splitc_cell {
    void *to; /* where the bytes of the answer go */
    size_t n; /* how many they are */
    bool done;
};

static inline uint64_t splitc_cell_word(const struct splitc_cell *cell)
{
    return (uintptr_t)cell;
}

/* ---- handles (handle.c) ---------------------------------------------------------------------- */

/* A handle of one part, and of one more; 0 is no handle, and complete. */
uint64_t splitc_handle_open(void);
void splitc_handle_more(uint64_t handle);

/* A part is complete.  False: the handle has none that is not. */
bool splitc_handle_less(uint64_t handle);

/* ---- bulk accesses (bulk.c) ------------------------------------------------------------------ */

/* A split-phase put of n > 0 bytes.  Unlike with splitc_far_put, the source must stay until sync.
 */
void splitc_far_bulk_put(splitc_ptr to, const void *from, size_t n);

/* ---- direct access (direct.c) --------------------------------------------------------------- */

/* Enable it, unless SPLITC_DIRECT=0. */
void splitc_direct_open(void);

/* Puts that were begun and are not complete. */
extern uint64_t splitc_direct_busy;

/* Move them on; not in a handler.  Returns whether some wait for room, of which nothing tells. */
bool splitc_direct_move(void) __attribute__((cold, noinline));

/* ---- active messages of the program (am_table.c, am_transfer.c) ---------------------- */

/* Register the program's handlers with GAM, behind those of the runtime. */
void splitc_am_open(void);

/* Large blocks that handlers were told of, to be fetched outside of handlers. */
extern struct am_fetch *splitc_am_fetches;
void splitc_am_begin_fetches(void) __attribute__((cold, noinline));

/* Moves on the collective operations that are under way (collective/operation.c), if there are any;
 * returns whether it could. */
extern bool (*splitc_operations_step)(void);

enum splitc_deferred {
    SPLITC_DEFERRED_NOTHING,
    SPLITC_DEFERRED_STUCK, /* some of it waits for room, of which nothing tells */
    SPLITC_DEFERRED_MOVED, /* what the caller waits for may be complete now */
};

/* Do what handlers have left to be done outside of them, and send what waits for company. */
static inline enum splitc_deferred splitc_deferred_step(void)
{
    bool stuck;

    splitc_coalesced_go();
    if (__builtin_expect(splitc_am_fetches != NULL, 0))
        splitc_am_begin_fetches();
    stuck = __builtin_expect(splitc_direct_busy > 0, 0) && splitc_direct_move();
    /* Last, as what is sent before lets handlers run, which may leave operations more to do. */
    if (__builtin_expect(splitc_operations_step != NULL, 0) && splitc_operations_step())
        return SPLITC_DEFERRED_MOVED;
    return stuck ? SPLITC_DEFERRED_STUCK : SPLITC_DEFERRED_NOTHING;
}

/* ---- handlers -------------------------------------------------------------------------- */

gam_handler_fn splitc_on_read;
gam_handler_fn splitc_on_write;
gam_handler_fn splitc_on_write_landed;
gam_handler_fn splitc_on_answer;
gam_handler_fn splitc_on_unchanged;
gam_handler_fn splitc_on_bulk_read;
gam_handler_fn splitc_on_get;
gam_handler_fn splitc_on_get_answer;
gam_handler_fn splitc_on_put;
gam_handler_fn splitc_on_put_landed;
gam_handler_fn splitc_on_got;
gam_handler_fn splitc_on_put_done;
gam_handler_fn splitc_on_store;
gam_handler_fn splitc_on_store_landed;
gam_handler_fn splitc_on_records;
gam_handler_fn splitc_on_records_done;
gam_handler_fn splitc_on_atomic;
gam_handler_fn splitc_on_atomic_done;
gam_handler_fn splitc_on_masked;
gam_handler_fn splitc_on_run;
gam_handler_fn splitc_on_run_get;
gam_handler_fn splitc_on_wake;
gam_handler_fn splitc_on_direct_ask;
gam_handler_fn splitc_on_direct_ready;
gam_handler_fn splitc_on_direct_check;
gam_handler_fn splitc_on_direct_landed;
gam_handler_fn splitc_on_xfer;
gam_handler_fn splitc_on_xfer_large;

#endif
