/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mm.sc - blocked matrix multiplication C += A * B.
 *
 * The matrices are spread by blocks of b x b doubles.  Each processor makes the
 * blocks of C that it holds, and fetches the next two blocks of A and B while
 * it multiplies the last two.
 */
#include "block.h"
#include "product.h"

#include <split-c/split-c.h>
#include <stdlib.h>

void blocks_allocate(struct blocks *m)
{
    int b = m->b;
    double (*spread block)[b][b] = all_spread_malloc((long)m->rows * m->columns, sizeof *block);

    m->mine = (double *)tolocal(block);
}

void blocks_free(struct blocks *m)
{
    all_spread_free(tospread(0, m->mine));
}

/* Begin to fetch the two blocks that a step multiplies. */
static void fetch(struct step at, double *x, double *y, int rows, int inner, int columns, int b,
                  double A[rows][inner]::[b][b], double B[inner][columns]::[b][b])
{
    bulk_get(x, &A[at.i][at.k][0][0], sizeof(double) * b * b);
    bulk_get(y, &B[at.k][at.j][0][0], sizeof(double) * b * b);
}

static void multiply_spread(int rows, int inner, int columns, int b,
                            double A[rows][inner]::[b][b], double B[inner][columns]::[b][b],
                            double C[rows][columns]::[b][b], struct watch *watch)
{
    size_t block = (size_t)b * b, bytes = block * sizeof(double);
    long steps = steps_here(rows, inner, columns);
    double *x = allocate(2 * bytes), *y = allocate(2 * bytes); /* of this step and the next */

    if (steps > 0)
        fetch(step_at(0, inner, columns), x, y, rows, inner, columns, b, A, B);
    for (long s = 0; s < steps; s++) {
        struct step now = step_at(s, inner, columns);
        size_t here = (s & 1) * block, ahead = block - here;

        progress("step", s, steps);
        sync();
        if (s + 1 < steps)
            fetch(step_at(s + 1, inner, columns), x + ahead, y + ahead, rows, inner, columns, b, A,
                  B);
        watch_communicated(watch);
        block_multiply_add(b, (double *)tolocal(C[now.i][now.j]), x + here, y + here);
        watch_computed(watch);
    }
    barrier();
    watch_communicated(watch);
    free(x);
    free(y);
}

void multiply(const struct blocks *a, const struct blocks *b, struct blocks *c,
              struct watch *watch)
{
    multiply_spread(a->rows, a->columns, b->columns, a->b, tospread(0, a->mine),
                    tospread(0, b->mine), tospread(0, c->mine), watch);
}
