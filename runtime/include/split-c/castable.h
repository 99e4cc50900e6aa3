/* SPDX-License-Identifier: BSD-3-Clause
 *
 * castable.h - plain pointers to objects of other processors.  Not part of split-c.h: programs may
 * have their own function of that name.
 */
#ifndef SPLITC_CASTABLE_H
#define SPLITC_CASTABLE_H

#ifdef __cplusplus
#error "<split-c/castable.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/split-c.h>

/* A plain pointer to the object, where loads and stores of this processor reach it: it is its own,
 * or that of a processor of the same node whose memory it shares.  Else NULL, also for a null
 * pointer.  Valid as long as the object is.  What is read and written through it is not ordered
 * with other accesses: see docs/memory-model.md. */
extern void *castable(const volatile void *global pointer) __asm__("splitc_castable");

#endif
