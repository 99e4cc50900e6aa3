/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock.c - spin locks in any int of the global address space: 0 is free.
 *
 * A rank that waits backs off, so that it does not flood the owner of the int, and serves messages
 * meanwhile.
 */
#include "access.h"
#include "atomic.h"
#include "library.h"

#include <sched.h>

#define BACKOFF_MAX 1024u /* polls between two tries */
#define PATIENCE 1000u    /* tries without a sleep between them, as an unlock wakes nobody */
#define SERVE_EVERY 64u   /* unlocks, between two looks at what others want */

int splitc_trylock(splitc_ptr lock)
{
    return splitc_exchange(lock, 1) == 0;
}

/* After so many tries.  Where ranks share cores the holder may need this one. */
static void lock_back_off(struct splitc_wait *w, uint32_t tries)
{
    uint32_t polls = tries < 10 ? 1u << tries : BACKOFF_MAX;

    if (tries > PATIENCE) {
        splitc_wait_step_unrung(w);
        return;
    }
    splitc_wait_show(w);
    for (uint32_t i = 0; i < (splitc_shares_cores() ? 1 : polls); i++)
        splitc_poll();
    sched_yield();
}

void splitc_lock(splitc_ptr lock)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_LOCK, .what = "lock", .whom = SPLITC_ANYBODY, .tries = 1};

    for (uint32_t tries = 0; splitc_exchange_in(&w, lock, 1) != 0; tries++) {
        w.tries++;
        lock_back_off(&w, tries);
    }
    splitc_wait_end(&w);
}

/* A rank that looks into something of its own under a lock of its own, again and again, may need
 * others to change it. */
void splitc_unlock(splitc_ptr lock)
{
    static _Thread_local uint32_t unlocks;

    if (splitc_exchange(lock, 0) == 0)
        splitc_die("unlock of a lock that nobody holds");
    if (++unlocks % SERVE_EVERY == 0)
        splitc_atomic_serve();
}
