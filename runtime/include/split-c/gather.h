/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gather.h - all_gather.  Not part of split-c.h: many programs have their own.
 */
#ifndef SPLITC_GATHER_H
#define SPLITC_GATHER_H

#ifdef __cplusplus
#error "<split-c/gather.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/split-c.h>

/* Collective: every processor's block of `bytes`, in the order of processors,
 * into the PROCS blocks at `to`, everywhere.  `bytes` is the same everywhere. */
extern void all_gather(void *to, const void *from, long bytes) __asm__("splitc_all_gather");

/* The same for one value of each: all_gather_i, all_gather_l and so on. */
#define SPLITC_DECLARE_GATHER(letter, type)                                                        \
    extern void all_gather_##letter(type *to, type value) __asm__("splitc_all_gather_" #letter);
SPLITC_VALUES(SPLITC_DECLARE_GATHER)

#endif
