/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.h - bulk puts by direct access, where the network between two ranks has it.
 */
#ifndef SPLITC_DIRECT_H
#define SPLITC_DIRECT_H

#include "runtime.h"

/* Begin a put: by direct access, or else in messages.  The source must stay until the next sync, or
 * that of the handle, of which it is a part; 0: it has none. */
void splitc_direct_put(uint32_t rank, void *to, const void *from, size_t n, uint64_t handle);

/* Whether puts of n bytes to that rank go by direct access. */
bool splitc_direct_takes(uint32_t rank, size_t n);

/* Transfers of which all pieces have arrived, and those that had to be sent again, since the
 * start. */
extern uint64_t splitc_direct_landed, splitc_direct_repeated;

#endif
