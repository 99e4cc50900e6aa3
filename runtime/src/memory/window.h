/* SPDX-License-Identifier: BSD-3-Clause
 *
 * window.h - the memory of the ranks of one node, mapped by all of them.
 *
 * Opening takes three steps, because nobody may look into a rank's memory before
 * the rank has moved into it:
 *
 *   offer   make our memory object, map all of it but the static objects, say where it is
 *   ...     all ranks tell and ask (boot.h), and open their messages
 *   open    map what the others offer; agree that all could; move; meet; go
 *
 * Ranks that cannot all do it, or are not to, reach each other by messages alone.
 */
#ifndef SPLITC_WINDOW_H
#define SPLITC_WINDOW_H

#include "object.h"
#include "runtime.h"

struct splitc_boot;
struct splitc_heap_sizes;

/* Before any global pointer is followed: a rank's window of itself is all of its memory. */
void splitc_windows_begin(void);

void splitc_windows_offer(const struct splitc_boot *boot, const struct splitc_heap_sizes *sizes);

/* Whether the user wants them.  Errors end the job. */
bool splitc_huge_pages(void);

/* Collective. */
void splitc_windows_open(const struct splitc_boot *boot);

/* Our own memory as others see it, or NULL if nobody does. */
const struct splitc_memory *splitc_windows_memory(void);

/* Which rank's memory an address of this process lies in, through a window; -1: nobody's. */
int splitc_windows_find(uint64_t address, splitc_ptr *g);

/* What a near rank has at an address of its own: "stack" and the like; NULL: nothing that is
 * in its window. */
const char *splitc_windows_part(uint32_t rank, uint64_t address);

/* Whether a sanitizer is in the program: it has plans of its own for addresses, stacks and
 * malloc. */
bool splitc_sanitized(void);

/* Run the program: entry(argc, argv) on a stack that the others can reach, if there is one,
 * or else on a large one, if the program wants it. */
_Noreturn void splitc_run(int (*entry)(int argc, char **argv), int argc, char **argv);

/* Let fork() work in a process whose memory is shared. */
void splitc_fork_prepare(const struct splitc_memory *memory);

#endif
