/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cg.sc - conjugate gradients.
 *
 * The direction of the search is the one vector that others need: each processor's block is
 * followed by its ghosts, which their owners store there.  Two sums over all processors lie
 * between a direction and the next, so what is stored belongs to one of them.
 */
#include "ghosts.h"
#include "solve.h"
#include "team.h"

#include <math.h>
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

/* The sum over all processors; none has gone on before all have arrived. */
static double all_dot(long n, const double *x, const double *y, struct watch *watch)
{
    double sum = dot(n, x, y);

    watch_computed(watch);
    sum = all_reduce_to_all_dadd(sum);
    watch_communicated(watch);
    return sum;
}

long solve(struct system *s, struct watch *watch)
{
    const struct sparse *a = &s->a;
    long n = a->rows, room = team_max(a->own + a->ghosts), iteration = 0;
    double direction[PROCS]::[room], *p = tolocal(direction[MYPROC]);
    double *q = allocate(n * sizeof *q), *r = allocate(n * sizeof *r);
    struct ghosts ghosts = ghosts_plan(a, p);
    double left, begin, before, step;

    memset(s->x, 0, n * sizeof *s->x);
    memcpy(r, s->b, n * sizeof *r);
    memcpy(p, r, n * sizeof *p);
    begin = left = all_dot(n, r, r, watch);

    for (; left > s->reduction * s->reduction * begin && iteration < s->limit; iteration++) {
        progress("iteration", iteration, s->limit);
        ghosts_send(&ghosts);
        store_sync(ghosts.bytes);
        watch_communicated(watch);
        sparse_multiply(a, p, q);
        step = all_dot(n, p, q, watch);
        require_positive(step);
        step = left / step;
        add_scaled(n, s->x, step, p);
        add_scaled(n, r, -step, q);
        before = left;
        left = all_dot(n, r, r, watch);
        scale_add(n, p, left / before, r);
        watch_computed(watch);
    }
    s->residual = begin > 0 ? sqrt(left / begin) : 0;
    ghosts_free(&ghosts);
    free(q);
    free(r);
    return iteration;
}
