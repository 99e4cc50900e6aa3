/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fork.h - fork in a process whose memory is shared.
 */
#ifndef SPLITC_FORK_H
#define SPLITC_FORK_H

struct splitc_memory;

/* From now on this process's memory is that object, which stays the caller's. */
void splitc_fork_prepare(const struct splitc_memory *memory);

#endif
