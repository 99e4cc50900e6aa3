/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gather.h - all_gather.  Not part of split-c.h: many programs have their own.
 */
#ifndef SPLITC_GATHER_H
#define SPLITC_GATHER_H

#include <split-c/split-c.h>

/* Collective: every processor's block of `bytes`, in the order of processors,
 * into the PROCS blocks at `to`, everywhere.  `bytes` is the same everywhere. */
extern void all_gather(void *to, const void *from, long bytes) __asm__("splitc_all_gather");
extern void all_gather_i(int *to, int value) __asm__("splitc_all_gather_i");
extern void all_gather_d(double *to, double value) __asm__("splitc_all_gather_d");

#endif
