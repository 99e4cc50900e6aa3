/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock.c - spin locks in any int of the global address space: 0 is free.
 *
 * Those who wait back off, so that the owner of the int is not flooded, and
 * serve messages meanwhile.
 */
#include "runtime.h"

#include "library.h"

#define BACKOFF_MAX 1024u /* looks for messages between two tries */

int splitc_trylock(splitc_ptr lock)
{
    return splitc_exchange(lock, 1) == 0;
}

/* Spins no longer than other waits do; the one that unlocks wakes nobody. */
static void back_off(struct splitc_wait *w, uint32_t looks)
{
    do
        splitc_wait_step_unrung(w);
    while (--looks > 0 && !w->shown);
}

void splitc_lock(splitc_ptr lock)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {.kind = SPLITC_WAIT_LOCK, .what = "lock", .whom = SPLITC_ANYBODY};

    for (uint32_t looks = 1; splitc_exchange_in(&w, lock, 1) != 0;
         looks = looks < BACKOFF_MAX ? 2 * looks : looks)
        back_off(&w, looks);
    splitc_wait_end(&w);
}

void splitc_unlock(splitc_ptr lock)
{
    if (splitc_exchange(lock, 0) == 0)
        splitc_die("unlock of a lock that nobody holds");
}
