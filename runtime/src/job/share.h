/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.h - the ranks of a node agree to share their memory.
 */
#ifndef SPLITC_SHARE_H
#define SPLITC_SHARE_H

struct splitc_boot;
struct splitc_heap_sizes;

/* Offer this rank's memory to the others, who hear of it by splitc_boot_publish. */
void splitc_share_offer(const struct splitc_boot *boot, const struct splitc_heap_sizes *sizes);

/* Open windows of the others' memory, if all ranks can.  Collective. */
void splitc_share_open(const struct splitc_boot *boot);

#endif
