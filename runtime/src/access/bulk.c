/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bulk.c - the bulk forms of the accesses, any number of bytes.
 */
#include "runtime.h"

#include "direct.h"
#include "job/checks.h"
#include "library.h"
#include "observe/trace.h"

#include <errno.h>

#define SMALL 24 /* up to here an access of far.c is one message */

/* True when there is something to move. */
static bool check_size(const char *what, long bytes)
{
    if (bytes < 0)
        splitc_die("%s of %ld bytes", what, bytes);
    return bytes > 0;
}

static bool check_read(const char *what, splitc_ptr from, long bytes)
{
    bool any = check_size(what, bytes);

    if (any)
        splitc_check_access(from, (uint64_t)bytes, false);
    return any;
}

static bool check_write(const char *what, splitc_ptr to, long bytes)
{
    bool any = check_size(what, bytes);

    if (any)
        splitc_check_access(to, (uint64_t)bytes, true);
    return any;
}

void splitc_bulk_read(void *to, splitc_ptr from, long bytes)
{
    double began = splitc_trace_begin();

    if (!check_read("bulk_read", from, bytes))
        return;
    if (splitc_is_near(from))
        memmove(to, splitc_near(from), (size_t)bytes);
    else
        splitc_far_read(to, from, (splitc_size)bytes);
    splitc_trace_moved("bulk_read", from, bytes, began);
}

void splitc_bulk_write(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_trace_begin();

    if (!check_write("bulk_write", to, bytes))
        return;
    if (splitc_is_near(to))
        memmove(splitc_near(to), from, (size_t)bytes);
    else
        splitc_far_write(to, from, (splitc_size)bytes);
    splitc_trace_moved("bulk_write", to, bytes, began);
}

void splitc_bulk_get(void *to, splitc_ptr from, long bytes)
{
    double began = splitc_trace_begin();

    if (!check_read("bulk_get", from, bytes))
        return;
    if (splitc_is_near(from))
        memmove(to, splitc_near(from), (size_t)bytes);
    else
        splitc_far_get(to, from, (splitc_size)bytes);
    splitc_trace_moved("bulk_get", from, bytes, began);
}

void splitc_put_in_messages(uint32_t rank, void *to, const void *from, size_t n)
{
    int result = gam_store_async(splitc_runtime.gam, rank, from, to, n, SPLITC_MSG_PUT_LANDED, 0,
                                 NULL, NULL);

    if (result == -ENOMEM) /* no room to remember it: do it now */
        result = gam_store(splitc_runtime.gam, rank, from, to, n, SPLITC_MSG_PUT_LANDED, 0);
    splitc_sent(rank, result);
}

/* Unlike a put, leaves the source to the transfer until sync. */
static void put_async(splitc_ptr to, const void *from, size_t n)
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_target(to, "bulk_put");

    if (splitc_direct_put(rank, splitc_address(to), from, n))
        return;
    splitc_runtime.puts++;
    splitc_put_in_messages(rank, splitc_address(to), from, n);
}

void splitc_bulk_put(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_trace_begin();

    if (!check_write("bulk_put", to, bytes))
        return;
    if (splitc_is_near(to))
        memmove(splitc_near(to), from, (size_t)bytes);
    else if (bytes <= SMALL)
        splitc_far_put(to, from, (splitc_size)bytes);
    else
        put_async(to, from, (size_t)bytes);
    splitc_trace_moved("bulk_put", to, bytes, began);
}

void splitc_bulk_store(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_trace_begin();

    if (!check_write("bulk_store", to, bytes))
        return;
    if (splitc_is_near(to)) {
        memmove(splitc_near(to), from, (size_t)bytes);
        splitc_count_store((splitc_size)splitc_rank(to), (splitc_size)bytes);
    } else {
        splitc_far_store(to, from, (splitc_size)bytes);
    }
    splitc_trace_moved("bulk_store", to, bytes, began);
}
