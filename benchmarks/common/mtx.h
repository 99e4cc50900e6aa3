/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mtx.h - Matrix Market files: coordinate matrices, entry by entry, and vectors.  Every
 * processor reads the whole file.  What is wrong in it ends the program with a message.
 */
#ifndef BENCHMARKS_MTX_H
#define BENCHMARKS_MTX_H

#include "text.h"

struct mtx {
    struct text text;
    long rows, columns, entries; /* as the file says; entries that are mirrored count once */
    int symmetric;               /* the file has the lower triangle */
    int skew;                    /* mirrored entries change their sign */
    int pattern;                 /* it has places without values: 1 each */
    long read;                   /* entries so far */
};

/* Rows and columns count from 0. */
struct entry {
    long row, column;
    double value;
};

struct mtx mtx_open(const char *file);

/* The next entry; false after the last one.  Mirrored ones are left to the caller. */
int mtx_next(struct mtx *mtx, struct entry *entry);
void mtx_close(struct mtx *mtx);

/* A vector of that many numbers, from an n x 1 array file; from malloc. */
double *mtx_read_vector(const char *file, long n);

/* Collective: write a vector, of which each processor has its block. */
void mtx_write_vector(const char *file, const double *block, long n);

#endif
