/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rows.sc MILLISECONDS - processor 0 puts 64 rows of 64 bytes into a matrix of processor 1: by one
 * call; and in turn by a put and a sync for each, and by a put for each and one sync.
 */
#include "measure.h"

#include <split-c/split-c.h>
#include <split-c/strided.h>

enum { ROWS = 64, BYTES = 64, STRIDE = 1024 };

static char matrix[ROWS][STRIDE], rows[ROWS][BYTES];

static double at_once(long n)
{
    double start = now_ns();

    for (; n > 0; n--) {
        bulk_put_2d(toglobal(1, matrix[0]), STRIDE, rows, BYTES, BYTES, ROWS);
        sync();
    }
    return now_ns() - start;
}

static double one_by_one(long n)
{
    double start = now_ns();

    for (; n > 0; n--)
        for (int i = 0; i < ROWS; i++) {
            bulk_put(toglobal(1, matrix[i]), rows[i], BYTES);
            sync();
        }
    return now_ns() - start;
}

static double in_a_burst(long n)
{
    double start = now_ns();

    for (; n > 0; n--) {
        for (int i = 0; i < ROWS; i++)
            bulk_put(toglobal(1, matrix[i]), rows[i], BYTES);
        sync();
    }
    return now_ns() - start;
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 1, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    measure(&team, "put_2d", 1, at_once, one_by_one);
    measure(&team, "put_burst", 1, in_a_burst, one_by_one);
    return 0;
}
