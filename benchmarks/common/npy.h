/* SPDX-License-Identifier: BSD-3-Clause
 *
 * npy.h - the header of NumPy's .npy files, for matrices of doubles.
 */
#ifndef BENCHMARKS_NPY_H
#define BENCHMARKS_NPY_H

#include <stddef.h>

struct npy {
    long rows, columns;
    long data; /* offset of the first element; rows follow one another */
};

#define NPY_HEADER_BYTES 128 /* of the files that we write */

/* Take a header apart from the first n bytes of a file of that length.  Returns
 * NULL, or what is wrong with it. */
const char *npy_parse(const char *head, size_t n, long file_length, struct npy *npy);

/* Make the header of a file of rows x columns. */
void npy_format(char head[NPY_HEADER_BYTES], long rows, long columns);

#endif
