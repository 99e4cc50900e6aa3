/* SPDX-License-Identifier: BSD-3-Clause */
#include "extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

int splitc_extents_open(struct splitc_extents *x, uint64_t start, uint64_t size)
{
    struct splitc_extent *extent = malloc(FIRST_ROOM * sizeof *extent);

    if (!extent)
        return -ENOMEM;
    extent[0] = (struct splitc_extent){.start = start, .size = size};
    *x = (struct splitc_extents){.extent = extent, .count = 1, .room = FIRST_ROOM};
    return 0;
}

void splitc_extents_close(struct splitc_extents *x)
{
    free(x->extent);
    *x = (struct splitc_extents){0};
}

static void extents_remove(struct splitc_extents *x, size_t i)
{
    x->count--;
    memmove(&x->extent[i], &x->extent[i + 1], (x->count - i) * sizeof *x->extent);
}

/* Make room for an extent at i, which is undefined then. */
static int extents_insert(struct splitc_extents *x, size_t i)
{
    if (x->count == x->room) {
        struct splitc_extent *larger = realloc(x->extent, 2 * x->room * sizeof *larger);

        if (!larger)
            return -ENOMEM;
        x->extent = larger;
        x->room *= 2;
    }
    memmove(&x->extent[i + 1], &x->extent[i], (x->count - i) * sizeof *x->extent);
    x->count++;
    return 0;
}

/* The smallest free extent of at least `size` bytes, or x->count. */
static size_t extents_best_fit(const struct splitc_extents *x, uint64_t size)
{
    size_t best = x->count;

    for (size_t i = 0; i < x->count; i++) {
        const struct splitc_extent *e = &x->extent[i];

        if (!e->used && e->size >= size && (best == x->count || e->size < x->extent[best].size))
            best = i;
    }
    return best;
}

int splitc_extents_alloc(struct splitc_extents *x, uint64_t size, uint64_t *start)
{
    size_t i = extents_best_fit(x, size);
    struct splitc_extent *e;

    if (i == x->count)
        return -ENOSPC;
    if (x->extent[i].size > size) { /* the rest stays free, behind it */
        int error = extents_insert(x, i + 1);

        if (error)
            return error;
        x->extent[i + 1].start = x->extent[i].start + size;
        x->extent[i + 1].size = x->extent[i].size - size;
        x->extent[i + 1].used = false;
    }
    e = &x->extent[i];
    e->size = size;
    e->used = true;
    *start = e->start;
    return 0;
}

/* The extent that begins at `start`, or x->count. */
static size_t extents_find(const struct splitc_extents *x, uint64_t start)
{
    size_t low = 0, high = x->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (x->extent[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->count && x->extent[low].start == start ? low : x->count;
}

/* Join extent i and the one behind it when both are free. */
static void extents_join(struct splitc_extents *x, size_t i)
{
    if (i + 1 < x->count && !x->extent[i].used && !x->extent[i + 1].used) {
        x->extent[i].size += x->extent[i + 1].size;
        extents_remove(x, i + 1);
    }
}

int splitc_extents_free(struct splitc_extents *x, uint64_t start, uint64_t *size)
{
    size_t i = extents_find(x, start);

    if (i == x->count || !x->extent[i].used)
        return -EINVAL;
    *size = x->extent[i].size;
    x->extent[i].used = false;
    extents_join(x, i);
    if (i > 0)
        extents_join(x, i - 1);
    return 0;
}

uint64_t splitc_extents_largest(const struct splitc_extents *x)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < x->count; i++)
        if (!x->extent[i].used && x->extent[i].size > largest)
            largest = x->extent[i].size;
    return largest;
}
