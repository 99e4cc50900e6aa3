/* SPDX-License-Identifier: BSD-3-Clause
 *
 * handle.c - handles of transfers that are under way.
 *
 * A handle is an index into a table and, above it, the number of uses of that entry so far.  An
 * entry that is complete is free for another use at once, so the program need not give handles
 * back: one of an earlier use is complete.
 */
#include "access.h"
#include "library.h"

#include <stdlib.h>

struct entry {
    uint32_t use;
    uint32_t parts;     /* not yet complete */
    uint32_t next_free; /* index + 1; 0: none */
};

static struct entry *table;
static uint32_t entries, free_list; /* the latter as next_free */

#define HANDLES_MOST (1u << 24)

static bool table_grow(void)
{
    const uint32_t room = entries ? 2 * entries : 64;
    struct entry *larger = realloc(table, room * sizeof *larger);

    if (!larger || room > HANDLES_MOST)
        return false;
    table = larger;
    for (uint32_t i = room; i-- > entries;) {
        table[i] = (struct entry){.use = 1, .next_free = free_list};
        free_list = i + 1;
    }
    entries = room;
    return true;
}

/* NULL: that use is over. */
static struct entry *entry_of(uint64_t handle)
{
    const uint64_t index = (handle & UINT32_MAX) - 1;

    if (index >= entries || table[index].use != handle >> 32 || table[index].parts == 0)
        return NULL;
    return &table[index];
}

uint64_t splitc_handle_open(void)
{
    uint32_t index;

    if (free_list == 0 && !table_grow())
        splitc_die("no memory for one more handle of a transfer: there are %u", entries);
    index = free_list - 1;
    free_list = table[index].next_free;
    table[index].parts = 1;
    return (uint64_t)table[index].use << 32 | (index + 1);
}

void splitc_handle_more(uint64_t handle)
{
    struct entry *e = handle ? entry_of(handle) : NULL;

    if (e)
        e->parts++;
}

bool splitc_handle_less(uint64_t handle)
{
    struct entry *e = entry_of(handle);

    if (!e)
        return handle == 0;
    if (--e->parts > 0)
        return true;
    e->use = e->use % UINT32_MAX + 1;
    e->next_free = free_list;
    free_list = (uint32_t)(e - table) + 1;
    return true;
}

/* ---- the library's names --------------------------------------------------------- */

static void handle_check(uint64_t handle, const char *call)
{
    if (handle != 0 && (handle & UINT32_MAX) - 1 >= entries)
        splitc_die("%s of %#lx, which is no handle; use what bulk_get_h and its like have returned",
                   call, handle);
}

void splitc_sync_h(unsigned long handle)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {.kind = SPLITC_WAIT_SYNC, .what = "sync_h", .whom = SPLITC_ANYBODY};

    handle_check(handle, "sync_h");
    while (entry_of(handle))
        splitc_wait_step(&w);
    splitc_wait_end(&w);
    splitc_full_fence();
}

int splitc_test_h(unsigned long handle)
{
    SPLITC_INSIDE;

    handle_check(handle, "test_h");
    if (!entry_of(handle))
        return 1;
    splitc_poll();
    return !entry_of(handle);
}
