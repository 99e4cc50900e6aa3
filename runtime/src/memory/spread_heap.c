/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spread_heap.c - storage at the same address on every rank.
 *
 * Each rank reserves the same range of addresses; pages come into being when
 * they are touched.  Allocation needs no messages: every rank runs the same
 * allocator on the same calls.  Its bookkeeping lies outside the range, where
 * a stray write of the program is less likely to reach it.
 */
#include "extents.h"
#include "job/checks.h"
#include "kept.h"
#include "library.h"
#include "object.h"
#include "window.h"

#include <errno.h>
#include <sys/mman.h>

#define SIZE_MAX_BYTES (1ul << 44)
#define ALIGNMENT 64ul        /* of every allocation: a cache line */
#define GIVE_BACK (4ul << 20) /* freed memory of this size goes back to the system, in time */

static struct splitc_extents heap;
static struct splitc_kept kept;
static uint64_t heap_size;

/* ---- its range --------------------------------------------------------------- */

extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

/* Without windows: between the heap of the program and the libraries, where address
 * sanitizers leave room, too.  Those of threads and of uninitialised memory do so below. */
static uint64_t own_base(void)
{
    return __tsan_init || __msan_init ? 0x1000000000 : 0x200000000000;
}

static void reserve(uint64_t base)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *at = mmap((void *)base, heap_size, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (at == MAP_FAILED)
        splitc_die_together("cannot reserve %lu MiB at %#lx for the spread heap: %s; "
                            "ask for less with SPLITC_HEAP",
                            heap_size >> 20, base, strerror(errno));
    splitc_memory_limit_core(base, heap_size);
    if (splitc_huge_pages())
        madvise(at, heap_size, MADV_HUGEPAGE); /* where the system offers them */
}

void splitc_spread_heap_open(uint64_t size)
{
    const struct splitc_memory *memory = splitc_windows_memory();
    uint64_t base = memory ? memory->part[SPLITC_SPREAD].start : own_base();

    heap_size = splitc_reduce_to_all(SPLITC_MIN, size);
    if (!memory)
        reserve(base);
    if (splitc_extents_open(&heap, base, heap_size) < 0)
        splitc_die("no memory for the spread heap's bookkeeping");
    if (splitc_checks)
        splitc_checks->open(base, heap_size);
}

void splitc_spread_heap_close(void)
{
    splitc_extents_close(&heap);
}

/* ---- allocation --------------------------------------------------------------- */

static uint64_t rows(uint64_t count)
{
    return count / splitc_runtime.ranks + (count % splitc_runtime.ranks != 0);
}

/* Bytes that each rank holds of `count` blocks, or 0 when they are too many. */
static uint64_t bytes_per_rank(uint64_t count, uint64_t size)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(rows(count), size, &bytes) || bytes > SIZE_MAX_BYTES)
        return 0;
    return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

static _Noreturn void exhausted(uint64_t count, uint64_t size)
{
    splitc_die_together("no space for %lu spread blocks of %lu bytes on %u processors: the spread "
                        "heap of %lu bytes per rank has at most %lu free in one piece; "
                        "give it more with SPLITC_HEAP",
                        count, size, splitc_runtime.ranks, heap_size,
                        splitc_extents_largest(&heap));
}

splitc_ptr splitc_spread_alloc(splitc_size count, splitc_size size)
{
    SPLITC_INSIDE;
    uint64_t bytes = bytes_per_rank(count, size);
    uint64_t start;
    int error;

    splitc_check_collective(SPLITC_SPREAD_ALLOC, count, size);
    do
        error = bytes ? splitc_extents_alloc(&heap, bytes, &start) : -ENOSPC;
    while (error == -ENOSPC && splitc_checks && splitc_checks->release());
    if (error == -ENOSPC)
        exhausted(count, size);
    if (error)
        splitc_die("no memory for the spread heap's bookkeeping");
    splitc_kept_reuse(&kept, start, bytes);
    if (splitc_checks)
        splitc_checks->allocated(start, rows(count) * size);
    return splitc_make(0, (void *)start);
}

/* Keep freed memory for the next to allocate it; returns whether pages went back. */
static bool keep(uint64_t start, uint64_t size)
{
    struct splitc_kept_range gone;
    bool gave = false;

    if (size > SPLITC_KEPT_BYTES) {
        splitc_memory_give_back(start, size);
        return true;
    }
    for (; splitc_kept_displace(&kept, size, &gone); gave = true)
        splitc_memory_give_back(gone.start, gone.end - gone.start);
    splitc_kept_add(&kept, start, size);
    return gave;
}

int splitc_spread_release(splitc_ptr base)
{
    uint64_t size;
    int error = splitc_extents_free(&heap, base, &size);

    if (error || size < GIVE_BACK)
        return error;
    if (keep(base, size))
        splitc_meet(SPLITC_SPREAD_FREE); /* before a faster rank allocates and writes it again */
    return 0;
}

void splitc_spread_free(splitc_ptr base)
{
    SPLITC_INSIDE;

    if (base == 0)
        return;
    splitc_check_collective(SPLITC_SPREAD_FREE, base, 0);
    splitc_meet(SPLITC_SPREAD_FREE); /* nobody uses it any more */
    if (splitc_checks)
        splitc_checks->freed(base);
    else if (splitc_spread_release(base) < 0)
        splitc_die_together("all_spread_free of (%d, %p), which is not allocated spread storage",
                            splitc_rank(base), splitc_address(base));
}

splitc_ptr splitc_all_spread_malloc(long count, long bytes)
{
    if (count < 0 || bytes < 0)
        splitc_die_together("all_spread_malloc of %ld blocks of %ld bytes", count, bytes);
    return splitc_spread_alloc((splitc_size)count, (splitc_size)bytes);
}

void splitc_all_spread_free(splitc_ptr base)
{
    splitc_spread_free(base);
}

/* ---- spread arrays with static storage ------------------------------------------ */

static struct splitc_static *statics;

static bool before(const struct splitc_static *a, const struct splitc_static *b)
{
    int files = strcmp(a->file, b->file);

    return files ? files < 0 : a->line < b->line;
}

/* Keeps the list in order: constructors run in the order of the link. */
void splitc_register_static(struct splitc_static *array)
{
    struct splitc_static **at = &statics;

    while (*at && !before(array, *at))
        at = &(*at)->next;
    array->next = *at;
    *at = array;
}

void splitc_allocate_statics(void)
{
    for (struct splitc_static *array = statics; array; array = array->next) {
        splitc_size count, size;

        splitc_place = (struct splitc_place){array->file, array->name, array->line};
        array->shape(&count, &size);
        *array->base = splitc_spread_alloc(count, size); /* zero: nobody has used it yet */
    }
    splitc_place = (struct splitc_place){0};
}
