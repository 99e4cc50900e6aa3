/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock.c - spin locks in any int of the global address space: 0 is free.
 *
 * Those who wait back off, so that the owner of the int is not flooded, and
 * serve messages meanwhile.
 */
#include "runtime.h"

#include "library.h"

#include <sched.h>

#define BACKOFF_MAX 1024u /* polls between two tries */

int splitc_trylock(splitc_ptr lock)
{
    return splitc_exchange(lock, 1) == 0;
}

void splitc_lock(splitc_ptr lock)
{
    struct splitc_wait w = {.kind = SPLITC_WAIT_LOCK, .what = "lock", .whom = SPLITC_ANYBODY};
    uint32_t polls = 1;

    while (!splitc_trylock(lock)) {
        splitc_wait_show(&w);
        for (uint32_t i = 0; i < polls; i++)
            splitc_poll();
        sched_yield(); /* the holder may want this core */
        polls = polls < BACKOFF_MAX ? 2 * polls : polls;
    }
    splitc_wait_end(&w);
}

void splitc_unlock(splitc_ptr lock)
{
    if (splitc_exchange(lock, 0) == 0)
        splitc_die("unlock of a lock that nobody holds");
}
