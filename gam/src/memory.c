/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.c - memory of other ranks that is mapped here, for the libraries above.
 */
#include "internal.h"
#include <stdlib.h>

enum { LINE = 64 };

void gam_set_memory(struct gam *g, const struct gam_memory *memory)
{
    g->memory = memory ? *memory : (struct gam_memory){.find = NULL};
}

void *gam_memory_find(const struct gam *g, uint32_t rank, uint64_t address, size_t n)
{
    if (!g->memory.find || rank >= g->ranks || !gam_range_ok(address, n))
        return NULL;
    return g->memory.find(g->memory.arg, rank, address, n);
}

static void *private_alloc(size_t n)
{
    const size_t lines = n / LINE + (n % LINE != 0);
    void *at = lines <= SIZE_MAX / LINE ? aligned_alloc(LINE, lines * LINE) : NULL;

    return at ? memset(at, 0, lines * LINE) : NULL;
}

void *gam_memory_alloc(struct gam *g, size_t n)
{
    return g->memory.find ? g->memory.allocate(g->memory.arg, n) : private_alloc(n);
}

void gam_memory_free(struct gam *g, void *at)
{
    if (!at)
        return;
    if (g->memory.find)
        g->memory.release(g->memory.arg, at);
    else
        free(at);
}
