/* SPDX-License-Identifier: BSD-3-Clause
 *
 * near.h - short blocks of all members to all, through the boards of members that share memory.
 *
 * `from` and `to` are as in the operations on arrays; a block has n bytes.  Both return false, and
 * do nothing, if blocks are too long or empty, not all members are near, or -fcheck is to compare
 * the calls: all members find the same, and make the call as steps (exchange.c).
 */
#ifndef SPLITC_NEAR_H
#define SPLITC_NEAR_H

#include "team.h"

bool splitc_near_allgather(struct splitc_team *t, void *to, const void *from, size_t n);
bool splitc_near_alltoall(struct splitc_team *t, void *to, const void *from, size_t n);

#endif
