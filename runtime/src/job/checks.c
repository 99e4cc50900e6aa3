/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checks.c - splitcc -fcheck checks every access and every collective call before it happens.
 *
 * Spread storage is the same on every rank, so each rank knows what is allocated on all of them;
 * freed storage is kept for a while, so that its use is noticed.  For other memory the owner is
 * asked.  Before each collective call member 0 broadcasts a digest of what it is about to do; a
 * member that is about to do something else reads the full account at member 0.
 */
#include "checks.h"

#include "access/access.h"
#include "collective/collective.h"
#include "library.h"
#include "memory/memory.h"

#include <split-c/check.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- where and what ------------------------------------------------------------- */

static struct splitc_place place_enter(const char *what, const char *file, int line)
{
    struct splitc_place outer = splitc_place;

    splitc_place = (struct splitc_place){.file = file, .what = what, .line = line};
    return outer;
}

/* "FILE:LINE", or less if that is not known. */
static const char *place_name(const struct splitc_place *at, char *text, size_t room)
{
    if (at->file)
        snprintf(text, room, " at %s:%d", at->file, at->line);
    else
        text[0] = '\0';
    return text;
}

/* ---- spread storage ---------------------------------------------------------------- */

#define KEPT_SHARE 8u /* at most one part in so many of the heap is freed storage that is kept */

struct block {
    uint64_t start;
    uint64_t bytes;
    uint64_t freed; /* a sequence number; 0: it is not freed */
    struct splitc_place allocated_at;
    struct splitc_place freed_at;
};

static uint64_t heap_start, heap_size;
static struct block *block; /* in the order of their addresses */
static size_t blocks, room;
static uint64_t frees, kept_bytes;

/* How many blocks begin at or below that address. */
static size_t blocks_up_to(uint64_t address)
{
    size_t low = 0, high = blocks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (block[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The block that holds that address, or NULL. */
static struct block *block_of(uint64_t address)
{
    size_t n = blocks_up_to(address);

    return n > 0 && address - block[n - 1].start < block[n - 1].bytes ? &block[n - 1] : NULL;
}

static void checks_allocated(uint64_t start, uint64_t bytes)
{
    size_t at = blocks_up_to(start);

    if (blocks == room) {
        room = room ? 2 * room : 64;
        block = realloc(block, room * sizeof *block);
        if (!block)
            splitc_die("no memory for what -fcheck knows of spread storage");
    }
    memmove(&block[at + 1], &block[at], (blocks - at) * sizeof *block);
    block[at] = (struct block){.start = start, .bytes = bytes, .allocated_at = splitc_place};
    blocks++;
}

static bool checks_displace(bool any, uint64_t *start)
{
    struct block *oldest = NULL;

    if (!any && kept_bytes <= heap_size / KEPT_SHARE)
        return false;
    for (size_t i = 0; i < blocks; i++)
        if (block[i].freed && (!oldest || block[i].freed < oldest->freed))
            oldest = &block[i];
    if (!oldest)
        return false;
    *start = oldest->start;
    kept_bytes -= oldest->bytes;
    blocks--;
    memmove(oldest, oldest + 1, (size_t)(&block[blocks] - oldest) * sizeof *oldest);
    return true;
}

static _Noreturn void die_of_second_free(const struct block *b)
{
    char text[256];

    splitc_die_together("%s of (0, %p), which was freed before%s",
                        splitc_place.what ? splitc_place.what : "all_spread_free", (void *)b->start,
                        place_name(&b->freed_at, text, sizeof text));
}

static void checks_freed(splitc_ptr base)
{
    size_t n = blocks_up_to(base);
    struct block *b = n > 0 && block[n - 1].start == base ? &block[n - 1] : NULL;

    if (!b)
        splitc_die_together("all_spread_free of (%d, %p), which all_spread_malloc has not "
                            "returned; free the pointer that it returned",
                            splitc_rank(base), splitc_address(base));
    if (b->freed)
        die_of_second_free(b);
    b->freed = ++frees;
    b->freed_at = splitc_place;
    kept_bytes += b->bytes;
}

/* ---- accesses ------------------------------------------------------------------------ */

static void checks_spread_access(splitc_ptr g, uint64_t n)
{
    uint64_t address = g & SPLITC_ADDRESS_MASK;
    const struct block *b = block_of(address);
    char text[256];

    if (!b)
        splitc_die("%lu bytes at (%d, %p) are in no spread storage that is allocated", n,
                   splitc_rank(g), splitc_address(g));
    if (b->freed)
        splitc_die("%lu bytes at (%d, %p) are in spread storage that was freed%s", n,
                   splitc_rank(g), splitc_address(g), place_name(&b->freed_at, text, sizeof text));
    if (n > b->start + b->bytes - address)
        splitc_die("%lu bytes at (%d, %p) reach beyond their spread storage, which ends after %lu "
                   "and was allocated%s",
                   n, splitc_rank(g), splitc_address(g), b->start + b->bytes - address,
                   place_name(&b->allocated_at, text, sizeof text));
}

/* At the owner; words: address, bytes << 1 | writes, cell. */
static void on_probe(struct gam *g, const struct gam_message *m)
{
    splitc_expect(m, m->words == 3);
    splitc_sent(m->source, gam_reply_2(g, SPLITC_MSG_ANSWER, m->word[2],
                                       splitc_memory_is_mapped(m->word[0], m->word[1] >> 1,
                                                               (m->word[1] & 1) != 0)));
}

static bool is_mapped_at(uint32_t rank, uint64_t address, uint64_t n, bool writes)
{
    uint64_t mapped = 0;
    struct splitc_cell cell = {.to = &mapped, .n = sizeof mapped};

    if (rank == splitc_runtime.rank || splitc_image_contains(address))
        return splitc_memory_is_mapped(address, n, writes);
    splitc_sent(rank, gam_request_3(splitc_runtime.gam, rank, SPLITC_MSG_PROBE, address,
                                    n << 1 | writes, splitc_cell_word(&cell)));
    splitc_await(&cell.done, "check of an access", rank);
    return mapped != 0;
}

static void checks_access(splitc_ptr g, uint64_t n, bool writes)
{
    SPLITC_INSIDE;
    uint64_t address = g & SPLITC_ADDRESS_MASK;
    uint32_t rank = (uint32_t)splitc_rank(g);

    if (address < SPLITC_NULL_PAGE)
        splitc_die("%lu bytes at (%u, %#lx) cannot be %s: the global pointer is null; set it, or "
                   "compare it with NULL before",
                   n, rank, address, writes ? "written" : "read");
    if (rank >= splitc_runtime.ranks)
        splitc_die("%lu bytes at (%u, %#lx) cannot be %s: there is no processor %u, only 0 to %u",
                   n, rank, address, writes ? "written" : "read", rank, splitc_runtime.ranks - 1);
    if (address - heap_start < heap_size)
        checks_spread_access(g, n);
    else if (!is_mapped_at(rank, address, n, writes))
        splitc_die("%lu bytes at (%u, %p) cannot be %s: processor %u has no such memory%s", n, rank,
                   (void *)address, writes ? "written" : "read", rank,
                   writes ? ", or it is constant" : "");
}

splitc_ptr splitc_check_read(splitc_ptr g, splitc_size n, const char *file, int line)
{
    struct splitc_place outer = place_enter(NULL, file, line);

    checks_access(g, n, false);
    splitc_place = outer;
    return g;
}

splitc_ptr splitc_check_write(splitc_ptr g, splitc_size n, const char *file, int line)
{
    struct splitc_place outer = place_enter(NULL, file, line);

    checks_access(g, n, true);
    splitc_place = outer;
    return g;
}

long splitc_check_index(long index, long extent, int past, const char *array, const char *file,
                        int line)
{
    if (index >= 0 && index < extent + past)
        return index;
    place_enter(NULL, file, line);
    splitc_die("index %ld of %s is out of bounds: it has %ld elements, 0 to %ld", index, array,
               extent, extent - 1);
}

/* ---- collective calls -------------------------------------------------------------------- */

static uint64_t account_digest(const struct splitc_account *x)
{
    uint64_t word[] = {x->what, x->a, x->b}, hash = 14695981039346656037ul;

    for (size_t i = 0; i < 3; i++)
        hash = (hash ^ word[i]) * 1099511628211ul + (hash >> 29);
    return hash;
}

static const char *constant_or_null(const char *text)
{
    return text && splitc_image_contains((uintptr_t)text) ? text : NULL;
}

static void account_describe(const struct splitc_team *t, struct splitc_account *x, char *text,
                             size_t size)
{
    const char *name = constant_or_null(x->at.what);

    if (!name)
        name = splitc_collective_name(t, (enum splitc_collective)x->what);
    if (x->what == SPLITC_SPREAD_ALLOC)
        snprintf(text, size, "%.99s of %lu blocks of %lu bytes", name, x->a, x->b);
    else if (x->what == SPLITC_SPREAD_FREE)
        snprintf(text, size, "%s%.99s, of (%d, %p)",
                 strncmp(name, "spread array", 12) == 0 ? "the end of " : "", name,
                 splitc_rank(x->a), splitc_address(x->a));
    else if (x->what >= SPLITC_ARRAY_BROADCAST)
        snprintf(text, size, "%.80s (%lu elements of %lu bytes, root %lu)", name, x->a, x->b >> 32,
                 x->b & 0xffffff);
    else
        snprintf(text, size, "%.99s", name);
    x->at.file = constant_or_null(x->at.file);
}

static _Noreturn void checks_differ(struct splitc_team *t, struct splitc_account *mine,
                                    struct splitc_account *theirs)
{
    char here[160], there[160], at[256];

    splitc_place = mine->at;
    account_describe(t, mine, here, sizeof here);
    account_describe(t, theirs, there, sizeof there);
    splitc_die("%s, but processor %d is in %s%s; all processors %shave to make the same collective "
               "calls in the same order",
               here, splitc_rank(splitc_team_first_account(t, 0)), there,
               place_name(&theirs->at, at, sizeof at), t == &splitc_team_all ? "" : "of a team ");
}

static void checks_account(struct splitc_account *x, enum splitc_collective what, uint64_t a,
                           uint64_t b)
{
    *x = (struct splitc_account){.what = what, .a = a, .b = b, .at = splitc_place};
}

static void checks_collective(struct splitc_team *t, enum splitc_collective what, uint64_t a,
                              uint64_t b)
{
    uint64_t number, expected;
    struct splitc_account *mine = splitc_team_account(t, &number), theirs;

    checks_account(mine, what, a, b);
    expected = account_digest(mine);
    if (splitc_broadcast(t, SPLITC_CHECK, expected) == expected)
        return;
    splitc_far_read(&theirs, splitc_team_first_account(t, number), sizeof theirs);
    checks_differ(t, mine, &theirs);
}

/* ---- spread arrays --------------------------------------------------------------------------- */

splitc_ptr splitc_check_spread_array(splitc_size count, splitc_size size, const char *array,
                                     const char *file, int line)
{
    struct splitc_place outer = place_enter(array, file, line);
    splitc_ptr base = splitc_spread_alloc(count, size);

    splitc_place = outer;
    return base;
}

/* The place of the call is that of its array. */
void splitc_check_cleanup(splitc_ptr *base)
{
    size_t n = blocks_up_to(*base);
    struct splitc_place outer = splitc_place;

    if (n > 0)
        splitc_place = block[n - 1].allocated_at;
    splitc_spread_free(*base);
    splitc_place = outer;
}

/* ---- for the runtime ------------------------------------------------------------------------- */

static void checks_open(uint64_t start, uint64_t size)
{
    heap_start = start;
    heap_size = size;
    if (gam_register(splitc_runtime.gam, SPLITC_MSG_PROBE, on_probe) < 0)
        splitc_die("cannot register a handler");
}

static const struct splitc_collective_checks collective_checks = {
    .begins = checks_collective,
    .account = checks_account,
    .differ = checks_differ,
    .open = checks_open,
    .allocated = checks_allocated,
    .freed = checks_freed,
    .displace = checks_displace,
};

void splitc_checks_open(void)
{
    if (!&splitc_wants_checks)
        return;
    splitc_access_check = checks_access;
    splitc_collective_checks = &collective_checks;
}
