/* SPDX-License-Identifier: BSD-3-Clause
 *
 * measure.h - batches of a repeated operation, timed; for Split-C programs and for those of the
 * peers alike.
 *
 * A program prints one line for each batch: a metric and the nanoseconds that one operation
 * took.  What it measures as the limit, beside its own, has "raw." in front.  micro.py
 * reads these lines.
 */
#ifndef MICRO_MEASURE_H
#define MICRO_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 20, TRIES = 3 };

/* Do n units of the operation and return the nanoseconds that they took. */
typedef double batch_fn(long n);

struct team {
    int measures;                 /* this rank times and prints */
    int alone;                    /* and the others only wait for it */
    double (*share)(double mine); /* collective: the value of the rank that measures */
    double budget_ns;             /* for all batches of an operation together, about */
};

static inline double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The budget, from an argument in milliseconds. */
static inline double budget_of(const char *milliseconds)
{
    double budget = strtod(milliseconds, NULL) * 1e6;

    if (budget > 0)
        return budget;
    fprintf(stderr, "milliseconds for each operation: '%s' is no positive number\n", milliseconds);
    exit(2);
}

static inline double timed_batch(const struct team *team, const char *kind, const char *metric,
                                 batch_fn *batch, long n, long per_unit)
{
    double ns = team->share(team->measures || !team->alone ? batch(n) : 0);

    if (team->measures && metric)
        printf("%s%s %.6g\n", kind, metric, ns / ((double)n * (double)per_unit));
    return ns;
}

/* Whatever else may have held up one of them. */
static inline int take_long(const struct team *team, double enough, batch_fn *batch, long n)
{
    for (int i = 0; i < TRIES; i++)
        if (timed_batch(team, "", NULL, batch, n, 1) < enough)
            return 0;
    return 1;
}

/* Time an operation, and in turn its raw limit if there is one.  A unit is per_unit operations. */
static inline void measure(const struct team *team, const char *metric, long per_unit,
                           batch_fn *ours, batch_fn *raw)
{
    double enough = team->budget_ns / BATCHES / (raw ? 2 : 1);
    double spent = 0;
    long n = 1;

    while (!take_long(team, enough, ours, n))
        n *= 2;
    for (int i = 0; i < BATCHES && spent < 4 * team->budget_ns; i++) {
        spent += timed_batch(team, "", metric, ours, n, per_unit);
        if (raw)
            spent += timed_batch(team, "raw.", metric, raw, n, per_unit);
    }
}

#endif
