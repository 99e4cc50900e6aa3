/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kernels.h - combining arrays, element by element.
 */
#ifndef SPLITC_KERNELS_H
#define SPLITC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* The program's: acc[i] = acc[i] with next[i]. */
typedef void splitc_operator_fn(void *acc, const void *next, long count);

/* Ours: to[i] = left[i] with right[i]; any of them may be the same. */
typedef void splitc_kernel_fn(void *to, const void *left, const void *right, size_t count);

struct splitc_operator {
    splitc_operator_fn *own; /* NULL: it is a kernel */
    splitc_kernel_fn *kernel;
    size_t size; /* of an element */
    const char *call;
};

/* The kernel of TEAM_ADD and its like for a type of split-c/collective.h; NULL: there is none. */
splitc_kernel_fn *splitc_kernel(uintptr_t which, int type);

/* to = to with next; n bytes. */
void splitc_combine_arrays(const struct splitc_operator *with, void *to, const void *next,
                           size_t n);

/* to = before with to. */
void splitc_combine_before(const struct splitc_operator *with, void *to, const void *before,
                           size_t n);

#endif
