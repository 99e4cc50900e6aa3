/* SPDX-License-Identifier: BSD-3-Clause
 *
 * window.h - the memory of the ranks of one node, mapped by all of them.
 *
 * Opening takes three steps, because a rank must not be accessed before it has moved into its
 * memory object:
 *
 *   offer    each rank makes its object, maps all of it but the static objects, and tells of it
 *
 *   attach   each rank maps the objects of the others
 *
 *   move in  if all ranks could do that; then global pointers use the windows
 *
 * job/share.c has the agreement.  Where not all ranks of the job can share, or are to share, they
 * reach each other by messages alone.
 */
#ifndef SPLITC_WINDOW_H
#define SPLITC_WINDOW_H

#include "memory/memory.h"

/* Which rank's memory an address of this process lies in, through a window, and that memory as a
 * global pointer; -1: nobody's. */
int splitc_window_find(uint64_t address, splitc_ptr *g);

/* The name of the part that a near rank has at an address of its own: "stack" and the like; NULL:
 * the address is in no window. */
const char *splitc_window_part(uint32_t rank, uint64_t address);

/* Whether nothing may lie at an address of ours, as it is between the parts. */
bool splitc_window_is_kept_free(uint64_t address);

#endif
