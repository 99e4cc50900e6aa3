/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory_map.c - /proc/self/maps, read again whenever something is not found in it.
 */
#include "memory_map.h"

#include <stdio.h>
#include <stdlib.h>

struct range {
    uint64_t start, end;
    bool readable, writable;
};

static struct range *range; /* in the order of their addresses */
static size_t ranges, room;

static bool add(const struct range *r)
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
            continue; /* the rest of a long line */
        r.readable = mode[0] == 'r';
        r.writable = mode[1] == 'w';
        if (!add(&r))
            break;
    }
    fclose(maps);
    return true;
}

/* The first range that ends behind the address, or `ranges`. */
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

bool splitc_is_mapped(uint64_t address, uint64_t n, bool writable)
{
    if (n > UINT64_MAX - address)
        return false;
    if (is_known(address, n, writable))
        return true;
    return !read_map() || is_known(address, n, writable); /* without /proc all may be */
}

extern const char __executable_start[], _end[];

bool splitc_in_image(uint64_t address)
{
    return address >= (uintptr_t)__executable_start && address < (uintptr_t)_end;
}
