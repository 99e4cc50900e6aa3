/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bulk.c - the bulk forms of the accesses, any number of bytes.
 */
#include "access.h"
#include "direct.h"
#include "library.h"

/* The monitor keeps the second thread from telling events at the same time. */
static void bulk_tell(const char *call, splitc_ptr g, long bytes, double began)
    __attribute__((cold, noinline));

static void bulk_tell(const char *call, splitc_ptr g, long bytes, double began)
{
    SPLITC_INSIDE;

    splitc_event_tell(&(struct splitc_event){.kind = SPLITC_EVENT_MOVED,
                                             .name = call,
                                             .peer = (uint32_t)splitc_rank(g),
                                             .n = (uint64_t)bytes,
                                             .began = began});
}

/* The call has moved the bytes, or begun to.  `began` is 0 if nobody wants to know. */
static inline void bulk_moved(const char *call, splitc_ptr g, long bytes, double began)
{
    if (__builtin_expect(began > 0, 0))
        bulk_tell(call, g, bytes, began);
}

/* True when there is something to move. */
static bool bulk_check_size(const char *what, long bytes)
{
    if (bytes < 0)
        splitc_die("%s of %ld bytes", what, bytes);
    return bytes > 0;
}

static bool bulk_check_read(const char *what, splitc_ptr from, long bytes)
{
    bool any = bulk_check_size(what, bytes);

    if (any)
        splitc_check_access(from, (uint64_t)bytes, false);
    return any;
}

static bool bulk_check_write(const char *what, splitc_ptr to, long bytes)
{
    bool any = bulk_check_size(what, bytes);

    if (any)
        splitc_check_access(to, (uint64_t)bytes, true);
    return any;
}

void splitc_bulk_read(void *to, splitc_ptr from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    if (!bulk_check_read("bulk_read", from, bytes))
        return;
    if (splitc_is_near(from))
        memmove(to, splitc_near(from), (size_t)bytes);
    else
        splitc_far_read(to, from, (splitc_size)bytes);
    bulk_moved("bulk_read", from, bytes, began);
}

void splitc_bulk_write(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    if (!bulk_check_write("bulk_write", to, bytes))
        return;
    if (splitc_is_near(to))
        memmove(splitc_near(to), from, (size_t)bytes);
    else
        splitc_far_write(to, from, (splitc_size)bytes);
    bulk_moved("bulk_write", to, bytes, began);
}

void splitc_bulk_get(void *to, splitc_ptr from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    if (!bulk_check_read("bulk_get", from, bytes))
        return;
    if (splitc_is_near(from))
        memmove(to, splitc_near(from), (size_t)bytes);
    else
        splitc_far_get(to, from, (splitc_size)bytes);
    bulk_moved("bulk_get", from, bytes, began);
}

void splitc_far_bulk_put(splitc_ptr to, const void *from, size_t n)
{
    SPLITC_INSIDE;

    if (n <= SPLITC_COALESCE_MOST)
        splitc_far_put(to, from, (splitc_size)n);
    else
        splitc_direct_put(splitc_target(to, "bulk_put"), splitc_address(to), from, n, 0);
}

void splitc_bulk_put(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    if (!bulk_check_write("bulk_put", to, bytes))
        return;
    if (splitc_is_near(to))
        memmove(splitc_near(to), from, (size_t)bytes);
    else
        splitc_far_bulk_put(to, from, (size_t)bytes);
    bulk_moved("bulk_put", to, bytes, began);
}

/* ---- with a handle ----------------------------------------------------------------- */

static uint64_t far_get_h(void *to, splitc_ptr from, size_t n)
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_target(from, "bulk_get_h");
    const uint64_t handle = splitc_handle_open();

    splitc_runtime.gets++;
    splitc_sent(rank, gam_get(splitc_runtime.gam, rank, splitc_address(from), to, n, SPLITC_MSG_GOT,
                              handle));
    return handle;
}

static uint64_t far_put_h(splitc_ptr to, const void *from, size_t n)
{
    SPLITC_INSIDE;
    const uint32_t rank = splitc_target(to, "bulk_put_h");
    const uint64_t handle = splitc_handle_open();

    splitc_direct_put(rank, splitc_address(to), from, n, handle);
    return handle;
}

unsigned long splitc_bulk_get_h(void *to, splitc_ptr from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);
    uint64_t handle = 0;

    if (!bulk_check_read("bulk_get_h", from, bytes))
        return 0;
    if (splitc_is_near(from))
        memmove(to, splitc_near(from), (size_t)bytes);
    else
        handle = far_get_h(to, from, (size_t)bytes);
    bulk_moved("bulk_get_h", from, bytes, began);
    return handle;
}

unsigned long splitc_bulk_put_h(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);
    uint64_t handle = 0;

    if (!bulk_check_write("bulk_put_h", to, bytes))
        return 0;
    if (splitc_is_near(to))
        memmove(splitc_near(to), from, (size_t)bytes);
    else
        handle = far_put_h(to, from, (size_t)bytes);
    bulk_moved("bulk_put_h", to, bytes, began);
    return handle;
}

void splitc_bulk_store(splitc_ptr to, const void *from, long bytes)
{
    double began = splitc_event_begin(SPLITC_EVENT_MOVED);

    if (!bulk_check_write("bulk_store", to, bytes))
        return;
    if (splitc_is_near(to)) {
        memmove(splitc_near(to), from, (size_t)bytes);
        splitc_count_store((splitc_size)splitc_rank(to), (splitc_size)bytes);
    } else {
        splitc_far_store(to, from, (splitc_size)bytes);
    }
    bulk_moved("bulk_store", to, bytes, began);
}
