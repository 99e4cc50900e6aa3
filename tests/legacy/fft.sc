/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fft.sc - a Fourier transform of n * n numbers: rows, a transposition by stores,
 * twiddle factors, and rows again.  Each row is a block.
 */
#include "plasma.h"

#define PI 3.14159265358979323846

static complex_number multiply(a, b)
complex_number a, b;
{
    complex_number c;

    c.re = a.re * b.re - a.im * b.im;
    c.im = a.re * b.im + a.im * b.re;
    return c;
}

static complex_number root(k, n)
{
    complex_number w;

    w.re = cos(2 * PI * k / n);
    w.im = -sin(2 * PI * k / n);
    return w;
}

/* In place, n a power of two. */
static void transform_row(n, a)
int n;
complex_number a[n];
{
    int i, j, bit, half;

    for (i = 1, j = 0; i < n; i++) {
        for (bit = n >> 1; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
        if (i < j)
            SWAP(complex_number, a[i], a[j]);
    }
    for (half = 1; half < n; half *= 2)
        for (i = 0; i < n; i += 2 * half)
            for (j = 0; j < half; j++) {
                complex_number t = multiply(root(j, 2 * half), a[i + j + half]);
                a[i + j + half].re = a[i + j].re - t.re;
                a[i + j + half].im = a[i + j].im - t.im;
                a[i + j].re += t.re;
                a[i + j].im += t.im;
            }
}

/* To[j][i] = From[i][j]: the rows here are stored into the columns there. */
static transpose(n, To, From)
int n;
complex_number To[n]::[n], From[n]::[n];
{
    int i, j;

    FOR_MINE(i, n) {
        complex_number *row = tolocal(From[i]);
        for (j = 0; j < n; j++) {
            To[j][i].re :- row[j].re;
            To[j][i].im :- row[j].im;
        }
    }
    all_store_sync();
}

/* The same, but a whole number at once and the receiver counting. */
static transpose_counted(n, To, From)
int n;
complex_number To[n]::[n], From[n]::[n];
{
    int i, j, rows = 0;

    barrier();
    FOR_MINE(i, n) {
        complex_number *row = tolocal(From[i]);
        rows++;
        for (j = 0; j < n; j++)
            bulk_store(&To[j][i], row + j, sizeof(complex_number));
    }
    store_sync((long)rows * n * sizeof(complex_number));
    barrier();
}

transform(n, A, how)
int n;
complex_number A[n]::[n];
int (*how)();
{
    complex_number B[n]::[n];
    int i, j;

    (*how)(n, B, A);
    FOR_MINE(i, n) {
        complex_number *row = tolocal(B[i]);
        transform_row(n, row);
        for (j = 0; j < n; j++)
            row[j] = multiply(row[j], root(i * j, n * n));
    }
    barrier();
    how(n, A, B);
    FOR_MINE(i, n)
        transform_row(n, tolocal(A[i]));
    barrier();
    (*how)(n, B, A);
    FOR_MINE(i, n) {
        bulk_get(tolocal(A[i]), B[i], n * sizeof(complex_number));
        sync();
    }
    barrier();
}

static double signal(i, n) { return i % 5 - 1.5 + (i == n / 3); }

/* One output, from the definition. */
static complex_number output_by_definition(k, n)
{
    complex_number sum, w;
    int i;

    sum.re = sum.im = 0;
    for (i = 0; i < n; i++) {
        w = root((int)((long)i * k % n), n);
        sum.re += w.re * signal(i, n);
        sum.im += w.im * signal(i, n);
    }
    return sum;
}

check_transform(n)
{
    static int (*ways[])() = { transpose, transpose_counted };
    complex_number A[n]::[n];
    int i, j, k, way;

    for (way = 0; way < 2; way++) {
        FOR_MINE(i, n)
            for (j = 0; j < n; j++) {
                A[i][j].re = signal(i * n + j, n * n);
                A[i][j].im = 0;
            }
        barrier();
        transform(n, A, ways[way]);
        for (k = MYPROC; k < n * n; k += 5 * PROCS + 1) {
            complex_number is, should = output_by_definition(k, n * n);
            is = A[k / n][k % n];
            CHECK("an output of the transform",
                  ABS(is.re - should.re) < 1e-8 && ABS(is.im - should.im) < 1e-8);
        }
        barrier();
    }
}
