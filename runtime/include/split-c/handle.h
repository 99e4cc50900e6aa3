/* SPDX-License-Identifier: BSD-3-Clause
 *
 * handle.h - split-phase transfers that complete one by one.  Not part of split-c.h: programs may
 * have their own functions of these names.
 */
#ifndef SPLITC_HANDLE_H
#define SPLITC_HANDLE_H

#ifdef __cplusplus
#error "<split-c/handle.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/split-c.h>

/* A transfer that this processor has begun.  It is a value: it may be copied, kept and forgotten.
 * 0 is one that is complete. */
typedef unsigned long splitc_handle;

/* As bulk_get and bulk_put, complete at sync() or at sync_h of what they return. */
extern splitc_handle bulk_get_h(void *to, const void *global from,
                                long bytes) __asm__("splitc_bulk_get_h");
extern splitc_handle bulk_put_h(void *global to, const void *from,
                                long bytes) __asm__("splitc_bulk_put_h");

/* Wait until that transfer is complete; other transfers may or may not be.  It serves messages
 * meanwhile.  A handle that is complete is no error, however often it is asked for; what was never
 * returned as one ends the job where it can be told. */
extern void sync_h(splitc_handle handle) __asm__("splitc_sync_h");

/* Whether sync_h would not wait.  It serves messages once. */
extern int test_h(splitc_handle handle) __asm__("splitc_test_h");

#endif
