/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gather.c - all_gather: every rank's block, in the order of ranks, everywhere.
 *
 * Each rank puts its block into spread storage, whose address all ranks know.  Then it gets all
 * blocks, beginning with that of the rank behind it, so that not all ask the same rank at once.
 */
#include "runtime.h"

#include "library.h"

void splitc_all_gather(void *to, const void *from, long bytes)
{
    uint32_t ranks = splitc_runtime.ranks;
    splitc_ptr scratch = splitc_all_spread_malloc(ranks, bytes);

    memcpy(splitc_address(scratch), from, (size_t)bytes);
    splitc_barrier();
    for (uint32_t i = 1; i <= ranks; i++) {
        uint32_t rank = (splitc_runtime.rank + i) % ranks;

        splitc_bulk_get((char *)to + (size_t)bytes * rank,
                        splitc_make((int)rank, splitc_address(scratch)), bytes);
    }
    splitc_sync();
    splitc_spread_free(scratch);
}

#define GATHER(letter, type)                                                                       \
    void splitc_all_gather_##letter(type *to, type value)                                          \
    {                                                                                              \
        splitc_all_gather(to, &value, sizeof value);                                               \
    }
SPLITC_VALUES(GATHER)
