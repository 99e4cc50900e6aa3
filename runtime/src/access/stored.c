/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stored.c - counts of the bytes that signalling stores have moved, for who watches.
 */
#include "access.h"

void splitc_stored_counts(uint64_t *stored, uint64_t *landed)
{
    *stored = splitc_runtime.stored_out;
    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++)
        *stored += splitc_stored[splitc_runtime.near[i]];
    *landed = splitc_stored_landed();
}
