/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strided.c - bulk transfers of rows, and of elements by index.
 *
 * Through a window they are copies.  Between nodes rows of up to SPLITC_COALESCE_MOST bytes share
 * messages, which are filled from the first row on, because their number is known.
 */
#include "access.h"
#include "library.h"

/* Where row i is, on both sides, in bytes from the first one. */
struct rows {
    const char *call;
    long bytes, count;
    long to_stride, from_stride;
    const long *index; /* of the far side; NULL: its stride says it */
};

static void rows_check(const struct rows *r)
{
    if (r->bytes < 0)
        splitc_die("%s of rows of %ld bytes", r->call, r->bytes);
    if (r->count < 0)
        splitc_die("%s of %ld rows", r->call, r->count);
}

/* Rows that follow one another on both sides are one. */
static struct rows rows_joined(struct rows r)
{
    if (r.index || r.to_stride != r.bytes || r.from_stride != r.bytes || r.count == 0)
        return r;
    r.bytes *= r.count;
    r.count = 1;
    return r;
}

static long far_offset(const struct rows *r, long i, long stride)
{
    return r->index ? r->index[i] * r->bytes : i * stride;
}

/* Have all short rows wait for full messages. */
static void rows_expect(const struct rows *r, splitc_ptr g)
{
    SPLITC_INSIDE;

    if (r->bytes <= (long)SPLITC_COALESCE_MOST && r->count > 1)
        splitc_coalesce_expect(splitc_target_split(g, r->call), (uint64_t)r->count);
}

static void rows_moved(const struct rows *r, splitc_ptr g, double began)
{
    SPLITC_INSIDE;

    splitc_coalesce_end();
    if (began > 0)
        splitc_event_tell(&(struct splitc_event){.kind = SPLITC_EVENT_MOVED,
                                                 .name = r->call,
                                                 .peer = (uint32_t)splitc_rank(g),
                                                 .n = (uint64_t)(r->bytes * r->count),
                                                 .began = began});
}

static void rows_get(void *to, splitc_ptr from, struct rows r)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    rows_check(&r);
    r = rows_joined(r);
    if (r.bytes == 0 || r.count == 0)
        return;
    rows_expect(&r, from);
    for (long i = 0; i < r.count; i++) {
        const splitc_ptr there = from + (splitc_ptr)far_offset(&r, i, r.from_stride);
        char *here = (char *)to + i * r.to_stride;

        splitc_check_access(there, (uint64_t)r.bytes, false);
        if (splitc_is_near(there))
            memmove(here, splitc_near(there), (size_t)r.bytes);
        else
            splitc_far_get(here, there, (splitc_size)r.bytes);
    }
    rows_moved(&r, from, began);
}

static void rows_put(splitc_ptr to, const void *from, struct rows r)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    rows_check(&r);
    r = rows_joined(r);
    if (r.bytes == 0 || r.count == 0)
        return;
    rows_expect(&r, to);
    for (long i = 0; i < r.count; i++) {
        const splitc_ptr there = to + (splitc_ptr)far_offset(&r, i, r.to_stride);
        const char *here = (const char *)from + i * r.from_stride;

        splitc_check_access(there, (uint64_t)r.bytes, true);
        if (splitc_is_near(there))
            memmove(splitc_near(there), here, (size_t)r.bytes);
        else
            splitc_far_bulk_put(there, here, (size_t)r.bytes);
    }
    rows_moved(&r, to, began);
}

void splitc_bulk_get_2d(void *to, long to_stride, splitc_ptr from, long from_stride, long bytes,
                        long rows)
{
    rows_get(to, from, (struct rows){"bulk_get_2d", bytes, rows, to_stride, from_stride, NULL});
}

void splitc_bulk_put_2d(splitc_ptr to, long to_stride, const void *from, long from_stride,
                        long bytes, long rows)
{
    rows_put(to, from, (struct rows){"bulk_put_2d", bytes, rows, to_stride, from_stride, NULL});
}

void splitc_bulk_gather(void *to, splitc_ptr from, const long *index, long count, long bytes)
{
    rows_get(to, from, (struct rows){"bulk_gather", bytes, count, bytes, 0, index});
}

void splitc_bulk_scatter(splitc_ptr to, const long *index, const void *from, long count, long bytes)
{
    rows_put(to, from, (struct rows){"bulk_scatter", bytes, count, 0, bytes, index});
}

void *splitc_castable(splitc_ptr g)
{
    return splitc_address(g) != NULL && splitc_is_near(g) ? splitc_near(g) : NULL;
}
