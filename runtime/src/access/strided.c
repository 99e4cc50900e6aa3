/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strided.c - bulk transfers of rows, and of elements by index.
 *
 * Through a window they are copies.  Between nodes rows of up to SPLITC_COALESCE_MOST bytes share
 * messages, which are filled from the first row on, because their number is known.  Longer ones are
 * one transfer.
 */
#include "access.h"
#include "direct.h"
#include "library.h"

#include <errno.h>

/* Bytes of a row that shares its transfer with others: from there on one by itself goes as well. */
#define ROW_MOST (32l << 10)

/* Where row i is, on both sides, in bytes from the first one. */
struct rows {
    const char *call;
    long bytes, count;
    long to_stride, from_stride;
    const long *index; /* of the far side; NULL: its stride says it */
    bool stores;       /* they are stored, not put */
};

static void rows_check(const struct rows *r)
{
    long all;

    if (r->bytes < 0)
        splitc_die("%s of rows of %ld bytes", r->call, r->bytes);
    if (r->count < 0)
        splitc_die("%s of %ld rows", r->call, r->count);
    if (__builtin_mul_overflow(r->bytes, r->count, &all))
        splitc_die("%s of %ld rows of %ld bytes: no memory has so many", r->call, r->count,
                   r->bytes);
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

/* Where row i that is put or stored goes, and where it is. */
static splitc_ptr row_there(splitc_ptr to, const struct rows *r, long i)
{
    return to + (splitc_ptr)far_offset(r, i, r->to_stride);
}

static const char *row_here(const void *from, const struct rows *r, long i)
{
    return (const char *)from + i * r->from_stride;
}

static void row_send(splitc_ptr there, const char *here, const struct rows *r)
{
    const bool near = splitc_is_near(there);

    if (near)
        memmove(splitc_near(there), here, (size_t)r->bytes);
    if (near && r->stores)
        splitc_count_store((splitc_size)splitc_rank(there), (splitc_size)r->bytes);
    else if (!near && r->stores)
        splitc_far_store(there, here, (splitc_size)r->bytes);
    else if (!near)
        splitc_far_bulk_put(there, here, (size_t)r->bytes);
}

static void rows_send_one_by_one(splitc_ptr to, const void *from, const struct rows *r)
{
    rows_expect(r, to);
    for (long i = 0; i < r->count; i++)
        row_send(row_there(to, r, i), row_here(from, r, i), r);
}

static int rows_put(uint32_t rank, void *to, const void *from, const struct gam_rows *rows)
{
    int result;

    splitc_runtime.puts++;
    result = gam_store_rows_async(splitc_runtime.gam, rank, from, to, rows, SPLITC_MSG_PUT_LANDED,
                                  0, NULL, NULL);
    splitc_runtime.puts -= result == -ENOMEM;
    return result;
}

static int rows_store(uint32_t rank, void *to, const void *from, const struct gam_rows *rows)
{
    const uint64_t all = rows->bytes * rows->count;

    splitc_runtime.stored_out += all;
    return gam_store_rows(splitc_runtime.gam, rank, from, to, rows, SPLITC_MSG_STORE_LANDED, all);
}

/* False: they go one by one, as there is no memory, or direct access for each. */
static bool rows_send_at_once(splitc_ptr to, const void *from, const struct rows *r)
{
    SPLITC_INSIDE;
    const struct gam_rows rows = {.bytes = (uint32_t)r->bytes,
                                  .count = (size_t)r->count,
                                  .from_stride = r->from_stride,
                                  .to_stride = r->to_stride};
    const uint32_t rank = splitc_target(to, r->call);
    int result;

    if (!r->stores && splitc_direct_takes(rank, rows.bytes))
        return false;
    result = (r->stores ? rows_store : rows_put)(rank, splitc_address(to), from, &rows);
    if (result == -ENOMEM)
        return false;
    splitc_sent(rank, result);
    return true;
}

/* Whether all are as far as the first one, and neither short nor long. */
static bool rows_are_one(splitc_ptr to, const struct rows *r)
{
    return !r->index && r->count > 1 && r->bytes > (long)SPLITC_COALESCE_MOST &&
           r->bytes <= ROW_MOST && !splitc_is_near(to) &&
           !splitc_is_near(row_there(to, r, r->count - 1));
}

static void rows_send(splitc_ptr to, const void *from, struct rows r)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    rows_check(&r);
    r = rows_joined(r);
    if (r.bytes == 0 || r.count == 0)
        return;
    for (long i = 0; splitc_access_check && i < r.count; i++)
        splitc_access_check(row_there(to, &r, i), (uint64_t)r.bytes, true);
    if (!rows_are_one(to, &r) || !rows_send_at_once(to, from, &r))
        rows_send_one_by_one(to, from, &r);
    rows_moved(&r, to, began);
}

void splitc_bulk_get_2d(void *to, long to_stride, splitc_ptr from, long from_stride, long bytes,
                        long rows)
{
    rows_get(to, from,
             (struct rows){"bulk_get_2d", bytes, rows, to_stride, from_stride, NULL, false});
}

void splitc_bulk_put_2d(splitc_ptr to, long to_stride, const void *from, long from_stride,
                        long bytes, long rows)
{
    rows_send(to, from,
              (struct rows){"bulk_put_2d", bytes, rows, to_stride, from_stride, NULL, false});
}

void splitc_bulk_store_2d(splitc_ptr to, long to_stride, const void *from, long from_stride,
                          long bytes, long rows)
{
    rows_send(to, from,
              (struct rows){"bulk_store_2d", bytes, rows, to_stride, from_stride, NULL, true});
}

void splitc_bulk_gather(void *to, splitc_ptr from, const long *index, long count, long bytes)
{
    rows_get(to, from, (struct rows){"bulk_gather", bytes, count, bytes, 0, index, false});
}

void splitc_bulk_scatter(splitc_ptr to, const long *index, const void *from, long count, long bytes)
{
    rows_send(to, from, (struct rows){"bulk_scatter", bytes, count, 0, bytes, index, false});
}

void *splitc_castable(splitc_ptr g)
{
    return splitc_address(g) != NULL && splitc_is_near(g) ? splitc_near(g) : NULL;
}
