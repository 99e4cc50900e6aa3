/* SPDX-License-Identifier: BSD-3-Clause
 *
 * heap.c - sizes of the two heaps; malloc is mimalloc, which takes its memory from a given range.
 */
#include "heap.h"

#include "object.h"
#include "observe/observe.h"
#include "settings.h"

#include <errno.h>
#include <mimalloc.h>
#include <split-c/settings.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPREAD_GRANULE (1ul << 20)
#define PRIVATE_GRANULE (64ul << 20) /* mimalloc takes memory in pieces of 32 MiB */
#define SPARSE 4 /* the range is this many times the memory: programs may touch little of it */
#define WINDOWS_MAX (1ul << 46) /* all windows of a rank together: half its addresses */

/* ---- sizes --------------------------------------------------------------------- */

static uint64_t machine_memory(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t spread_setting(const char *text)
{
    uint64_t size = splitc_told_bytes(text);

    if (size == 0)
        splitc_die_together("SPLITC_HEAP is \"%s\": give the bytes of spread heap per rank, "
                            "with K, M, G or T behind the number, up to 16T",
                            text);
    return size;
}

/* By default the spread heaps of a node's ranks together may fill its memory, and so may
 * the private heap of any rank. */
struct splitc_heap_sizes splitc_heap_sizes(uint32_t local_ranks)
{
    const char *setting = getenv("SPLITC_HEAP");
    uint64_t memory = machine_memory();
    uint64_t spread = setting ? spread_setting(setting) : memory / local_ranks;
    uint64_t private = setting ? spread : least(memory, WINDOWS_MAX / local_ranks);

    return (struct splitc_heap_sizes){.spread = round_up(spread, SPREAD_GRANULE),
                                      .private = round_up(private, PRIVATE_GRANULE)};
}

/* ---- malloc ---------------------------------------------------------------------- */

/* mimalloc calls it, among others, when malloc is about to return NULL. */
static void on_malloc_error(int error, void *size)
{
    static bool printed;

    if (error != ENOMEM || printed)
        return;
    printed = true;
    fprintf(stderr,
            "splitc: rank %u: malloc has no more of the %zu MiB that this rank's heap "
            "may grow to; give it more with unetrun --heap or SPLITC_HEAP\n",
            splitc_runtime.rank, *(const size_t *)size >> 20);
}

/* A program that brings its own malloc keeps it. */
static bool malloc_is_mimalloc(void)
{
    void *probe = calloc(1, 16);
    bool is = probe && mi_is_in_heap_region(probe);

    free(probe);
    return is;
}

static mi_arena_id_t arena;
static bool moved; /* malloc uses the arena */

/* The thread of control gets a new mimalloc heap, because the one used so far has free memory
 * outside of the range.  Freed memory stays in the heap: dropping pages of a shared mapping would
 * not free them, and the first touch of a page costs more than most uses of it. */
static int move_malloc(uint64_t start, uint64_t size)
{
    mi_heap_t *heap;

    if (!malloc_is_mimalloc())
        return -ENOTSUP;
    mi_option_set(mi_option_limit_os_alloc, 1);
    mi_option_set(mi_option_allow_decommit, 0);
    mi_option_set(mi_option_page_reset, 0);
    if (!mi_manage_os_memory_ex((void *)start, size, true, false, true, -1, false, &arena))
        return -ENOTSUP;
    heap = mi_heap_new_in_arena(arena);
    if (!heap)
        return -ENOTSUP;
    mi_heap_set_default(heap);
    moved = true;
    return 0;
}

int splitc_heap_move(uint64_t start, uint64_t size)
{
    static size_t limit;
    const int error = move_malloc(start, size);

    limit = size;
    if (error == 0)
        mi_register_error(on_malloc_error, &limit);
    return error;
}

static bool limited(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* The range has huge pages and keeps freed memory, as in windows.  Where address space is limited,
 * malloc stays as it is, and the addresses are left to other uses. */
void splitc_heap_reserve(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const uint64_t size = SPARSE * round_up(machine_memory(), PRIVATE_GRANULE);
    const uint64_t whole = size + PRIVATE_GRANULE; /* mimalloc aligns its pieces */
    uint64_t start;
    void *at;

    if (limited(RLIMIT_AS) || limited(RLIMIT_DATA))
        return;
    at = mmap(NULL, whole, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (at == MAP_FAILED)
        return;
    start = round_up((uint64_t)at, PRIVATE_GRANULE);
    splitc_object_limit_core(start, size);
    if (splitc_huge_pages_wanted())
        madvise((void *)(start + SPLITC_SMALL_FIRST), size - SPLITC_SMALL_FIRST, MADV_HUGEPAGE);
    if (move_malloc(start, size) < 0)
        munmap(at, whole);
}

void splitc_heap_thread(void)
{
    mi_heap_t *heap = moved ? mi_heap_new_in_arena(arena) : NULL;

    if (heap)
        mi_heap_set_default(heap);
}

void *splitc_heap_alloc(uint64_t n)
{
    return mi_zalloc_aligned(n, 64);
}

void splitc_heap_free(void *at)
{
    mi_free(at);
}
