/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strided_check.c - transfers of rows and of elements by index, and plain pointers to what is near.
 */
#include "check.h"
#include "library.h"

#include <limits.h>

enum { SPAN = 1 << 17, TURNS = 60 };

/* What a transfer of rows is to do, with room for all on both sides. */
struct shape {
    long bytes, rows, here_stride, there_stride;
    size_t here, there; /* offsets of the first row */
};

static long random_stride(uint64_t *state, long bytes)
{
    const long stride = bytes + (long)(next_random(state) % 3 * (next_random(state) % 40));

    return next_random(state) % 4 ? stride : -stride;
}

static size_t first_row(long stride, long rows)
{
    return stride < 0 ? (size_t)(-stride * (rows - 1)) + 16 : 16;
}

static struct shape random_shape(uint64_t *state)
{
    static const long longest[] = {64, 64, 700, 9000};
    const long bytes = (long)(next_random(state) % (uint64_t)longest[next_random(state) % 4]);
    const long most = SPAN / (bytes + 120);
    struct shape s = {.bytes = bytes,
                      .rows = (long)(next_random(state) % (uint64_t)(most < 160 ? most : 160))};

    s.here_stride = random_stride(state, s.bytes);
    s.there_stride = random_stride(state, s.bytes);
    s.here = first_row(s.here_stride, s.rows);
    s.there = first_row(s.there_stride, s.rows);
    return s;
}

static void copy_rows(char *to, long to_stride, const char *from, long from_stride,
                      const struct shape *s)
{
    for (long i = 0; i < s->rows; i++)
        memcpy(to + i * to_stride, from + i * from_stride, (size_t)s->bytes);
}

static void put_rows(splitc_ptr to, const char *from, const struct shape *s)
{
    splitc_bulk_put_2d(to, s->there_stride, from, s->here_stride, s->bytes, s->rows);
    splitc_sync();
    splitc_barrier();
}

/* The other form counts bytes, and leaves the source alone. */
static void store_rows(splitc_ptr to, const char *from, const struct shape *s)
{
    splitc_bulk_store_2d(to, s->there_stride, from, s->here_stride, s->bytes, s->rows);
    splitc_store_sync(s->bytes * s->rows);
    EXPECT(!splitc_is_store_sync(1));
    splitc_barrier();
}

/* Puts or stores rows to a neighbour, gets others from it, and compares with plain loops. */
static void rows_of_every_shape(void)
{
    splitc_ptr area = area_open(SPAN);
    char *here = malloc(SPAN), *model = malloc(SPAN), *there = malloc(SPAN);
    uint64_t state = 77;

    for (int turn = 0; turn < TURNS; turn++) {
        const struct shape s = random_shape(&state);
        const int to = neighbour(turn), from = neighbour(-turn);

        fill(area_here(area), SPAN, (unsigned)my_rank());
        fill(here, SPAN, (unsigned)my_rank() + 100);
        splitc_barrier();
        (turn % 2 ? put_rows : store_rows)(area_at(area, to, s.there), here + s.here, &s);
        fill(model, SPAN, (unsigned)my_rank());
        fill(there, SPAN, (unsigned)from + 100);
        copy_rows(model + s.there, s.there_stride, there + s.here, s.here_stride, &s);
        EXPECT_EQ(0, memcmp(model, area_here(area), SPAN));

        fill(model, SPAN, (unsigned)to);
        fill(there, SPAN, (unsigned)my_rank() + 100);
        copy_rows(model + s.there, s.there_stride, there + s.here, s.here_stride, &s);
        memset(here, 0, SPAN);
        memset(there, 0, SPAN);
        splitc_bulk_get_2d(here + s.here, s.here_stride, area_at(area, to, s.there), s.there_stride,
                           s.bytes, s.rows);
        splitc_sync();
        copy_rows(there + s.here, s.here_stride, model + s.there, s.there_stride, &s);
        EXPECT_EQ(0, memcmp(there, here, SPAN));
        splitc_barrier();
    }
    free(there);
    free(model);
    free(here);
    area_close(area);
}

/* A permutation is scattered to a neighbour and gathered again. */
static void elements_by_index(void)
{
    enum { COUNT = 1000, LONGEST = 300 };
    splitc_ptr area = area_open((size_t)COUNT * LONGEST);
    char *from = malloc((size_t)COUNT * LONGEST), *back = malloc((size_t)COUNT * LONGEST);
    long index[COUNT];
    uint64_t state = 3;

    for (long bytes = 1; bytes <= LONGEST; bytes = bytes * 2 + (bytes > 100 ? 44 : 0)) {
        const int to = neighbour(1), source = neighbour(-1);

        for (long i = 0; i < COUNT; i++)
            index[i] = i;
        for (long i = COUNT - 1; i > 0; i--) {
            const long k = (long)(next_random(&state) % (uint64_t)(i + 1)), was = index[i];

            index[i] = index[k];
            index[k] = was;
        }
        fill(from, (size_t)(COUNT * bytes), (unsigned)my_rank());
        splitc_barrier();
        splitc_bulk_scatter(area_at(area, to, 0), index, from, COUNT, bytes);
        splitc_sync();
        splitc_barrier();
        for (long i = 0; i < COUNT; i++)
            EXPECT_FILLED(area_here(area) + index[i] * bytes, (size_t)bytes, (size_t)(i * bytes),
                          (unsigned)source);
        memset(back, 0, (size_t)(COUNT * bytes));
        splitc_bulk_gather(back, area_at(area, to, 0), index, COUNT, bytes);
        splitc_sync();
        EXPECT_EQ(0, memcmp(from, back, (size_t)(COUNT * bytes)));
        splitc_barrier();
    }
    free(back);
    free(from);
    area_close(area);
}

static void rows_of_nothing(void)
{
    splitc_ptr area = area_open(64);
    char here[64] = {0};

    splitc_bulk_put_2d(area_at(area, neighbour(1), 0), 8, here, 8, 0, 5);
    splitc_bulk_put_2d(area_at(area, neighbour(1), 0), 8, here, 8, 5, 0);
    splitc_bulk_store_2d(area_at(area, neighbour(1), 0), 8, here, 8, 0, 5);
    splitc_bulk_store_2d(area_at(area, neighbour(1), 0), 8, here, 8, 5, 0);
    EXPECT(!splitc_is_store_sync(1));
    splitc_bulk_get_2d(here, 8, area_at(area, neighbour(1), 0), 8, 5, 0);
    splitc_bulk_gather(here, area_at(area, neighbour(1), 0), NULL, 0, 5);
    EXPECT(splitc_is_sync());
    area_close(area);
}

static void rows_impossible(void)
{
    char here[64] = {0};

    if (strcmp(check_argv[0], "bytes") == 0)
        splitc_bulk_put_2d(splitc_make(my_rank(), here), 8, here, 8, -1, 5);
    else if (strcmp(check_argv[0], "all") == 0)
        splitc_bulk_store_2d(splitc_make(my_rank(), here), 8, here, 8, 8, LONG_MAX / 4);
    else
        splitc_bulk_gather(here, splitc_make(my_rank(), here), NULL, -5, 1);
}

/* A plain pointer is there exactly if a window is, and leads to the object. */
static void castable_where_near(void)
{
    splitc_ptr area = area_open(sizeof(long));

    *(volatile long *)splitc_address(area) = my_rank();
    splitc_barrier();
    EXPECT(splitc_castable(splitc_make(0, NULL)) == NULL);
    EXPECT(splitc_castable(area_at(area, my_rank(), 0)) == splitc_address(area));
    for (int r = 0; r < ranks(); r++) {
        const splitc_ptr g = area_at(area, r, 0);
        const long *plain = splitc_castable(g);

        EXPECT_EQ(splitc_is_near(g), plain != NULL);
        if (plain)
            EXPECT_EQ(r, *plain);
    }
    area_close(area);
}

const struct check strided_checks[] = {
    {"rows_of_every_shape", rows_of_every_shape}, {"elements_by_index", elements_by_index},
    {"rows_of_nothing", rows_of_nothing},         {"rows_impossible", rows_impossible},
    {"castable_where_near", castable_where_near}, {0},
};
