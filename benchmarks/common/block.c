/* SPDX-License-Identifier: BSD-3-Clause */
#include "block.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Four rows of y at a time: each element of c is then loaded and stored once
 * for four products, and the inner loop is one that compilers vectorise. */
static void add_four(int b, double *restrict c, const double *restrict x, const double *restrict y)
{
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];

    for (int j = 0; j < b; j++)
        c[j] += x0 * y[j] + x1 * y[b + j] + x2 * y[2 * b + j] + x3 * y[3 * b + j];
}

static void add_one(int b, double *restrict c, double x, const double *restrict y)
{
    for (int j = 0; j < b; j++)
        c[j] += x * y[j];
}

static void multiply_add_plain(int b, double *c, const double *x, const double *y)
{
    for (long i = 0; i < b; i++) {
        long k = 0;

        for (; k + 4 <= b; k += 4)
            add_four(b, c + i * b, x + i * b + k, y + k * b);
        for (; k < b; k++)
            add_one(b, c + i * b, x[i * b + k], y + k * b);
    }
}

/* ---- OpenBLAS ------------------------------------------------------------------------ */

/* As cblas.h has them.  Loaded only when asked for: the program does without it. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111 };
typedef void dgemm_fn(int order, int transpose_x, int transpose_y, int rows, int columns, int inner,
                      double factor, const double *x, int x_columns, const double *y, int y_columns,
                      double keep, double *c, int c_columns);

static dgemm_fn *dgemm; /* NULL: the plain way */

const char *block_use_blas(void)
{
    void *library;

    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* each processor has a core */
    library = dlopen("libopenblas.so.0", RTLD_NOW);
    dgemm = library ? (dgemm_fn *)dlsym(library, "cblas_dgemm") : NULL;
    return dgemm ? NULL : dlerror();
}

/* ---- either ---------------------------------------------------------------------------- */

void block_multiply_add(int b, double *c, const double *x, const double *y)
{
    if (dgemm)
        dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, b, b, b, 1, x, b, y, b, 1, c, b);
    else
        multiply_add_plain(b, c, x, y);
}
