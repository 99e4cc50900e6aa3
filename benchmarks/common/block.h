/* SPDX-License-Identifier: BSD-3-Clause
 *
 * block.h - the local part of the matrix multiplication, plain C.
 */
#ifndef BENCHMARKS_BLOCK_H
#define BENCHMARKS_BLOCK_H

/* c += x * y, all of them b x b and apart from one another. */
void block_multiply_add(int b, double *c, const double *x, const double *y);

/* From now on do so with OpenBLAS, on one thread.  Returns why it cannot be had, or NULL. */
const char *block_use_blas(void);

#endif
