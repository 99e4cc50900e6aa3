/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spread.c - spread storage as programs allocate and free it.
 *
 * Allocation needs no messages, because every rank makes the same calls (memory/spread_heap.c).
 * Freeing is a meeting: afterwards no rank uses the storage any more.
 */
#include "access/access.h"
#include "library.h"
#include "meeting.h"
#include "memory/memory.h"
#include "observe/observe.h"

#include <errno.h>

#define SIZE_MAX_BYTES (1ul << 44)
#define ALIGNMENT 64ul /* of every allocation: a cache line */

static uint64_t heap_size;

void splitc_spread_open(uint64_t size)
{
    const struct splitc_range range =
        splitc_spread_heap_open(splitc_reduce_to_all(&splitc_team_all, SPLITC_MIN, size));

    heap_size = range.size;
    if (splitc_collective_checks)
        splitc_collective_checks->open(range.start, range.size);
}

/* ---- allocation --------------------------------------------------------------- */

static uint64_t rows_of(uint64_t count)
{
    return count / splitc_runtime.ranks + (count % splitc_runtime.ranks != 0);
}

/* Bytes that each rank holds of `count` blocks, or 0 when they are too many. */
static uint64_t bytes_per_rank(uint64_t count, uint64_t size)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(rows_of(count), size, &bytes) || bytes > SIZE_MAX_BYTES)
        return 0;
    return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

static _Noreturn void die_of_exhaustion(uint64_t count, uint64_t size)
{
    splitc_die_together("no space for %lu spread blocks of %lu bytes on %u processors: the spread "
                        "heap of %lu bytes per rank has at most %lu free in one piece; "
                        "give it more with SPLITC_HEAP",
                        count, size, splitc_runtime.ranks, heap_size, splitc_spread_heap_largest());
}

/* Free storage that no rank uses any more.  Error: -EINVAL. */
static int release_storage(uint64_t start)
{
    const int freed = splitc_spread_heap_free(start);

    if (freed <= 0)
        return freed;
    splitc_meet(&splitc_team_all,
                SPLITC_SPREAD_FREE); /* before a faster rank allocates and writes it again */
    return 0;
}

/* What -fcheck keeps of freed storage makes room for other. */
static bool release_kept(bool any)
{
    uint64_t start;

    if (!splitc_collective_checks || !splitc_collective_checks->displace(any, &start))
        return false;
    release_storage(start);
    return true;
}

splitc_ptr splitc_spread_alloc(splitc_size count, splitc_size size)
{
    SPLITC_INSIDE;
    const uint64_t bytes = bytes_per_rank(count, size);
    uint64_t start;
    int error;

    splitc_check_collective(&splitc_team_all, SPLITC_SPREAD_ALLOC, count, size);
    do
        error = bytes ? splitc_spread_heap_alloc(bytes, &start) : -ENOSPC;
    while (error == -ENOSPC && release_kept(true));
    if (error == -ENOSPC)
        die_of_exhaustion(count, size);
    if (error)
        splitc_die("no memory for the spread heap's bookkeeping");
    if (splitc_collective_checks)
        splitc_collective_checks->allocated(start, rows_of(count) * size);
    return splitc_make(0, (void *)start);
}

void splitc_spread_free(splitc_ptr base)
{
    SPLITC_INSIDE;

    if (base == 0)
        return;
    splitc_check_collective(&splitc_team_all, SPLITC_SPREAD_FREE, base, 0);
    splitc_meet(&splitc_team_all, SPLITC_SPREAD_FREE); /* afterwards no rank uses it any more */
    if (splitc_collective_checks) {
        splitc_collective_checks->freed(base);
        while (release_kept(false))
            ;
    } else if (release_storage(base) < 0) {
        splitc_die_together("all_spread_free of (%d, %p), which is not allocated spread storage",
                            splitc_rank(base), splitc_address(base));
    }
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

static bool comes_before(const struct splitc_static *a, const struct splitc_static *b)
{
    int files = strcmp(a->file, b->file);

    return files ? files < 0 : a->line < b->line;
}

/* Keeps the list in order, because constructors run in the order of the link. */
void splitc_register_static(struct splitc_static *array)
{
    struct splitc_static **at = &statics;

    while (*at && !comes_before(array, *at))
        at = &(*at)->next;
    array->next = *at;
    *at = array;
}

void splitc_spread_allocate_statics(void)
{
    for (struct splitc_static *array = statics; array; array = array->next) {
        splitc_size count, size;

        if (!array->base)
            continue;
        splitc_place = (struct splitc_place){array->file, array->name, array->line};
        array->shape(&count, &size);
        *array->base = splitc_spread_alloc(count, size); /* zero: nobody has used it yet */
    }
    splitc_place = (struct splitc_place){0};
    for (struct splitc_static *pointer = statics; pointer; pointer = pointer->next)
        if (!pointer->base)
            pointer->shape(NULL, NULL);
}
