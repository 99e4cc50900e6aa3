/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fft.sc - the Fourier transform in six steps: of the columns, made rows by a transposition,
 * and then of the rows; everything that is sent is sent by the transpositions.
 */
#include "fourier.h"

#include <split-c/split-c.h>
#include <split-c/strided.h>
#include <stdlib.h>

/* What of one processor goes to one row of another lies there as one piece: the columns
 * are turned first, then stored where they belong.  Its own come last, while the others' are on
 * their way. */
static void transpose(const struct complex *own, long rows, long columns, long block,
                      struct complex to[PROCS]::[block][rows], struct watch *watch)
{
    long mine = block_share(rows, MYPROC), first = MYPROC * block_length(rows);
    struct complex *turned = allocate(block * mine * sizeof *turned);

    for (int i = 1; i <= PROCS; i++) {
        int q = (int)(((long)MYPROC + i) % PROCS);
        long begin = q * block, n = block_share(columns, q);

        turn_columns(own, mine, columns, begin, begin + n, turned);
        watch_computed(watch);
        bulk_store_2d(&to[q][0][first], rows * sizeof *turned, turned, mine * sizeof *turned,
                      mine * sizeof *turned, n);
        watch_communicated(watch);
    }
    all_store_sync();
    watch_communicated(watch);
    free(turned);
}

void transform(const struct signal *signal, struct complex *spectrum, struct watch *watch)
{
    long rows = signal->rows, columns = signal->columns;
    long rows_block = block_length(rows), columns_block = block_length(columns);
    long rows_here = block_share(rows, MYPROC), columns_here = block_share(columns, MYPROC);
    struct complex wide[PROCS]::[rows_block][columns], tall[PROCS]::[columns_block][rows];
    struct complex *own_wide = (struct complex *)tolocal(wide[MYPROC]);
    struct complex *own_tall = (struct complex *)tolocal(tall[MYPROC]);

    transpose(signal->at, rows, columns, columns_block, tall, watch);
    transform_rows(own_tall, columns_here, rows);
    twiddle_rows(own_tall, MYPROC * columns_block, columns_here, rows, rows * columns);
    transpose(own_tall, columns, rows, rows_block, wide, watch);
    transform_rows(own_wide, rows_here, columns);
    transpose(own_wide, rows, columns, columns_block, tall, watch);
    for (long i = 0; i < columns_here * rows; i++)
        spectrum[i] = own_tall[i];
    watch_computed(watch);
}
