/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spread_heap.c - storage at the same address on every rank.
 *
 * Each rank reserves the same range of addresses; a page is allocated when it is first touched.
 * Allocation needs no messages: every rank runs the same allocator on the same calls.  Its
 * bookkeeping lies outside the range, where stray writes of the program are less likely to hit it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "extents.h"
#include "kept.h"
#include "object.h"
#include "observe/observe.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define GIVE_BACK (4ul << 20) /* freed pieces of this size go back to the system, in time */

static struct splitc_extents heap;
static struct splitc_kept kept;

/* Where the range lies without windows: between the heap of the program and the libraries, where
 * address sanitizers leave room, too.  Thread and memory sanitizers leave room below that. */
static uint64_t base_without_windows(void)
{
    return splitc_is_sanitized_low() ? 0x1000000000 : 0x200000000000;
}

/* A limit of memory counts what is reserved, too. */
static _Noreturn void cannot_reserve(uint64_t base, uint64_t size, int error)
{
    struct rlimit limit;
    char raise[64] = "";

    if (error == ENOMEM && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(raise, sizeof raise, "ulimit -v is %lu KiB: raise it, or ",
                 (unsigned long)limit.rlim_cur >> 10);
    splitc_die_together("cannot reserve %lu MiB at %#lx for the spread heap: %s; "
                        "%sask for less with unetrun --heap or SPLITC_HEAP",
                        size >> 20, base, strerror(error), raise);
}

static void reserve_heap(uint64_t base, uint64_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *at = mmap((void *)base, size, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (at == MAP_FAILED)
        cannot_reserve(base, size, errno);
    splitc_object_limit_core(base, size);
    if (splitc_huge_pages_wanted())
        madvise(at, size, MADV_HUGEPAGE); /* where the system offers them */
}

struct splitc_range splitc_spread_heap_open(uint64_t size)
{
    const struct splitc_memory *memory = splitc_window_memory();
    const uint64_t base = memory ? memory->part[SPLITC_SPREAD].start : base_without_windows();

    if (!memory)
        reserve_heap(base, size);
    if (splitc_extents_open(&heap, base, size) < 0)
        splitc_die("no memory for the spread heap's bookkeeping");
    return (struct splitc_range){base, size};
}

void splitc_spread_heap_close(void)
{
    splitc_extents_close(&heap);
}

int splitc_spread_heap_alloc(uint64_t size, uint64_t *start)
{
    int error = splitc_extents_alloc(&heap, size, start);

    if (error == 0)
        splitc_kept_reuse(&kept, *start, size);
    return error;
}

/* Keep the pages of freed memory for the next allocation.  Returns whether other pages went back to
 * the system instead. */
static bool keep_pages(uint64_t start, uint64_t size)
{
    struct splitc_kept_range gone;
    bool gave = false;

    if (size > SPLITC_KEPT_BYTES) {
        splitc_object_give_back(start, size);
        return true;
    }
    for (; splitc_kept_displace(&kept, size, &gone); gave = true)
        splitc_object_give_back(gone.start, gone.end - gone.start);
    splitc_kept_add(&kept, start, size);
    return gave;
}

int splitc_spread_heap_free(uint64_t start)
{
    uint64_t size;
    int error = splitc_extents_free(&heap, start, &size);

    if (error || size < GIVE_BACK)
        return error;
    return keep_pages(start, size);
}

uint64_t splitc_spread_heap_largest(void)
{
    return splitc_extents_largest(&heap);
}
