/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sparse.sc - the potential on the mesh: conjugate gradients on a sparse matrix
 * whose rows are dealt out to the processors, each with pointers to where the
 * elements are that it needs.
 */
#include "plasma.h"

#define UNKNOWNS (CELLS * CELLS)

static double x[UNKNOWNS]::, r[UNKNOWNS]::, d[UNKNOWNS]::, q[UNKNOWNS]::;
static sparse_row rows[UNKNOWNS];
static int steps_taken;

/* Row i of five points: itself and its neighbours in the square. */
static make_row(row, i)
sparse_row *row;
{
    int at[5], n = 0, k, line = i / CELLS, column = i % CELLS;

    at[n++] = i;
    if (line > 0)
        at[n++] = i - CELLS;
    if (line < CELLS - 1)
        at[n++] = i + CELLS;
    if (column > 0)
        at[n++] = i - 1;
    if (column < CELLS - 1)
        at[n++] = i + 1;
    row->length = n;
    row->columns = (int *)malloc(n * sizeof(int));
    row->values = (double *)malloc(n * sizeof(double));
    row->where = (double *global *)malloc(n * sizeof(double *global));
    for (k = 0; k < n; k++) {
        row->columns[k] = at[k];
        row->values[k] = at[k] == i ? 4.0 : -1.0;
        row->where[k] = &d[at[k]];
    }
}

static make_rows()
{
    int i;

    FOR_MINE(i, UNKNOWNS)
        make_row(&rows[i], i);
}

static free_rows()
{
    int i;

    FOR_MINE(i, UNKNOWNS) {
        free(rows[i].columns);
        free(rows[i].values);
        free(rows[i].where);
    }
}

/* q = A d */
static apply()
{
    double got[5];
    int i, k;

    FOR_MINE(i, UNKNOWNS) {
        sparse_row *row = rows + i;
        double sum = 0;
        for (k = 0; k < row->length; k++)
            got[k] := *row->where[k];
        sync();
        for (k = 0; k < row->length; k++)
            sum += row->values[k] * got[k];
        q[i] = sum;
        transfers += row->length;
    }
    barrier();
}

/* Arrays whose elements sit where we are: walk over the local parts. */
#define MY_PART(A) (tolocal(A))
#define MY_COUNT   ((UNKNOWNS - MYPROC + PROCS - 1) / PROCS)

static double dot(a, b)
double a[UNKNOWNS]::, b[UNKNOWNS]::;
{
    double *mine_a = MY_PART(a), *mine_b = MY_PART(b), sum = 0;
    int n = MY_COUNT;

    while (n-- > 0)
        sum += *mine_a++ * *mine_b++;
    return all_reduce_to_all_dadd(sum);
}

double conjugate_gradient(tolerance)
double tolerance;
{
    double rr = dot(r, r), next, alpha, beta;
    int i;

    for (steps_taken = 0; steps_taken < 4 * UNKNOWNS; steps_taken++) {
        if (rr < tolerance * tolerance)
            break;
        apply();
        alpha = rr / dot(d, q);
        FOR_MINE(i, UNKNOWNS) {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
        }
        next = dot(r, r);
        beta = next / rr;
        FOR_MINE(i, UNKNOWNS)
            d[i] = r[i] + beta * d[i];
        rr = next;
        barrier();
    }
    return sqrt(rr);
}

/* The same matrix with nobody's help, for the check. */
static double residual_here(b)
double *b;
{
    double all[UNKNOWNS], most = 0;
    int i, j, k, n = 0;

    for (i = 0; i < UNKNOWNS; i++)
        FETCH(all[i], x[i]);
    sync();
    FOR_2D(i, j, CELLS, CELLS) {
        double sum = 4 * all[n];
        sum -= i > 0 ? all[n - CELLS] : 0;
        sum -= i < CELLS - 1 ? all[n + CELLS] : 0;
        sum -= j > 0 ? all[n - 1] : 0;
        sum -= j < CELLS - 1 ? all[n + 1] : 0;
        sum -= b[n++];
        most = MAX(most, ABS(sum));
    }
    return most;
}

solve_potential(density)
double *density;
{
    int i;

    FOR_MINE(i, UNKNOWNS) {
        x[i] = 0;
        r[i] = d[i] = density[i];
    }
    barrier();
    return conjugate_gradient(1e-10) < 1e-10;
}

/* The potential at a point of the mesh; any processor may ask for any. */
double potential_at(i, j)
{
    if (i < 0 || j < 0 || i >= CELLS || j >= CELLS)
        return 0;
    return x[i * CELLS + j];
}

check_solver()
{
    double density[UNKNOWNS];
    int i;
    double *global p;

    FOR_ALL(i, UNKNOWNS)
        density[i] = i % 7 - 3.0;
    make_rows();
    barrier();
    CHECK("the solver's convergence", solve_potential(density));
    CHECK("the number of steps", steps_taken > 3 && steps_taken < UNKNOWNS);
    CHECK("the residual", residual_here(density) < 1e-8);
    CHECK_CLOSE("the potential", potential_at(1, 2), x[CELLS + 2]);
    p = &x[5];
    CHECK_CLOSE("a pointer to it", *p, potential_at(0, 5));
    free_rows();
    barrier();
}
