/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory_map.c - which addresses are mapped: /proc/self/maps, read again whenever an address is not
 * found in it.
 */
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

struct range {
    uint64_t start, end;
    bool readable, writable;
};

static struct range *range; /* in the order of their addresses */
static size_t ranges, room;

static bool add_range(const struct range *r)
{
    if (ranges == room) {
        size_t larger = room ? 2 * room : 256;
        struct range *grown = realloc(range, larger * sizeof *grown);

        if (!grown)
            return false;
        range = grown;
        room = larger;
    }
    range[ranges++] = *r;
    return true;
}

static bool read_map(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], mode[8];
    struct range r;

    ranges = 0;
    if (!maps)
        return false;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &r.start, &r.end, mode) != 3)
            continue; /* the remainder of a long line */
        r.readable = mode[0] == 'r';
        r.writable = mode[1] == 'w';
        if (!add_range(&r))
            break;
    }
    fclose(maps);
    return true;
}

/* Index of the first range that ends behind the address, or `ranges`. */
static size_t first_behind(uint64_t address)
{
    size_t low = 0, high = ranges;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (range[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_known(uint64_t address, uint64_t n, bool writable)
{
    uint64_t end = address + n;

    for (size_t i = first_behind(address); i < ranges && range[i].start <= address; i++) {
        if (!range[i].readable || (writable && !range[i].writable))
            return false;
        if (range[i].end >= end)
            return true;
        address = range[i].end;
    }
    return false;
}

bool splitc_memory_is_mapped(uint64_t address, uint64_t n, bool writable)
{
    if (n > UINT64_MAX - address)
        return false;
    if (is_known(address, n, writable))
        return true;
    return !read_map() || is_known(address, n, writable); /* without /proc, all addresses count */
}
