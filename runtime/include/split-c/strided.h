/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strided.h - bulk transfers of rows and of elements by index.  Not part of split-c.h: programs may
 * have their own.
 *
 * All but bulk_store_2d are split-phase, as bulk_get and bulk_put: complete at sync(), and the
 * memory on both sides is the transfer's until then.  Everything is one processor's memory, the
 * pointer's.  Short rows and elements share messages where they go between nodes, and rows that are
 * put or stored go there as one transfer.  Sizes, strides and counts that are negative end the job,
 * but for strides.
 */
#ifndef SPLITC_STRIDED_H
#define SPLITC_STRIDED_H

#ifdef __cplusplus
#error "<split-c/strided.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/split-c.h>

/* `rows` rows of `bytes` each; a row begins `stride` bytes behind the one before, which may be
 * negative. */
extern void bulk_get_2d(void *to, long to_stride, const void *global from, long from_stride,
                        long bytes, long rows) __asm__("splitc_bulk_get_2d");
extern void bulk_put_2d(void *global to, long to_stride, const void *from, long from_stride,
                        long bytes, long rows) __asm__("splitc_bulk_put_2d");

/* As bulk_store: `from` may be reused at once, and the bytes count for store_sync when all rows are
 * there. */
extern void bulk_store_2d(void *global to, long to_stride, const void *from, long from_stride,
                          long bytes, long rows) __asm__("splitc_bulk_store_2d");

/* `count` elements of `bytes` each.  Gather: element i of `to` becomes element index[i] of `from`.
 * Scatter: element index[i] of `to` becomes element i of `from`; of two that are for the same
 * element, either may win. */
extern void bulk_gather(void *to, const void *global from, const long *index, long count,
                        long bytes) __asm__("splitc_bulk_gather");
extern void bulk_scatter(void *global to, const long *index, const void *from, long count,
                         long bytes) __asm__("splitc_bulk_scatter");

#endif
