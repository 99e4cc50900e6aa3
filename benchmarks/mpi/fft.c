/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fft.c - the Fourier transform in six steps: the twin of splitc/fft.sc.
 */
#include "exchange.h"
#include "fourier.h"
#include "team.h"

#include <stdlib.h>

/* Pieces of one row from each processor, put together. */
static void join_pieces(const struct exchange *x, const struct complex *piece, long rows,
                        long columns_here, struct complex *to)
{
    for (int p = 0; p < team_size(); p++) {
        long n = block_share(rows, p), first = p * block_length(rows);
        const struct complex *from = piece + x->in_at[p];

        for (long c = 0; c < columns_here; c++)
            for (long r = 0; r < n; r++)
                to[c * rows + first + r] = from[c * n + r];
    }
}

static void transpose(const struct complex *own, long rows, long columns, struct complex *to,
                      struct watch *watch)
{
    long mine = block_share(rows, team_rank());
    long columns_here = block_share(columns, team_rank());
    long *count = allocate(team_size() * sizeof *count);
    struct complex *turned = allocate(mine * columns * sizeof *turned);
    struct complex *piece = allocate(rows * columns_here * sizeof *piece);
    struct exchange x;

    for (int q = 0; q < team_size(); q++)
        count[q] = mine * block_share(columns, q);
    turn_columns(own, mine, columns, 0, columns, turned);
    watch_computed(watch);
    x = exchange_plan(count);
    exchange_send(&x, turned, piece, sizeof *piece);
    watch_communicated(watch);
    join_pieces(&x, piece, rows, columns_here, to);
    watch_computed(watch);
    exchange_free(&x);
    free(piece);
    free(turned);
    free(count);
}

void transform(const struct signal *signal, struct complex *spectrum, struct watch *watch)
{
    long rows = signal->rows, columns = signal->columns;
    long rows_here = block_share(rows, team_rank());
    long columns_here = block_share(columns, team_rank());
    struct complex *wide = allocate(rows_here * columns * sizeof *wide);
    struct complex *tall = spectrum;

    transpose(signal->at, rows, columns, tall, watch);
    transform_rows(tall, columns_here, rows);
    twiddle_rows(tall, team_rank() * block_length(columns), columns_here, rows, rows * columns);
    transpose(tall, columns, rows, wide, watch);
    transform_rows(wide, rows_here, columns);
    transpose(wide, rows, columns, tall, watch);
    free(wide);
}
