/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pins.c - the user-managed TLB: a word for each block of pages, and the order of their age.
 */
#include "core/pins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A block's word.  Where not all of a block is mapped, the part that was asked for is pinned. */
#define PINNED (1u << 31)
#define STALE (1u << 30) /* held when mappings changed: good for who holds it, and nobody else */
#define LAST_AT 20       /* four bits each: the first and the last page of it that are pinned */
#define FIRST_AT 16
#define HELD 0xffffu /* how many hold it */

/* Pages of a block. */
struct part {
    uint32_t first, last;
};

static uint32_t part_word(struct part part)
{
    return PINNED | part.last << LAST_AT | part.first << FIRST_AT;
}

static bool part_is_in(uint32_t word, struct part part)
{
    return (word >> FIRST_AT & 15) <= part.first && part.last <= (word >> LAST_AT & 15);
}

static uint64_t block_bytes(const struct unet_pins *pins)
{
    return (uint64_t)UNET_PINS_BLOCK_PAGES << pins->page_shift;
}

void unet_pins_init(struct unet_pins *pins, const struct unet_pins_ops *ops, void *pinner)
{
    *pins = (struct unet_pins){
        .ops = ops,
        .pinner = pinner,
        .page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
    };
}

/* ---- ranges ------------------------------------------------------------------------ */

static size_t table_bytes(const struct unet_pins *pins, uint64_t bytes)
{
    return (bytes / block_bytes(pins) + 1) * sizeof(uint32_t);
}

static void table_free(const struct unet_pins *pins, struct unet_pins_range *range)
{
    if (range->block)
        munmap(range->block, table_bytes(pins, range->bytes));
    *range = (struct unet_pins_range){0};
}

void unet_pins_free(struct unet_pins *pins)
{
    for (unsigned n = 1; n <= UNET_RANGES_MAX; n++)
        table_free(pins, &pins->range[n]);
    free(pins->order);
    pins->order = NULL;
    pins->count = pins->room = 0;
}

static struct unet_pins_range *range_of(struct unet_pins *pins, uint64_t n)
{
    if (n < 1 || n > UNET_RANGES_MAX || !pins->range[n].block)
        return NULL;
    return &pins->range[n];
}

int unet_pins_range_open(struct unet_pins *pins, uint16_t n, uint64_t bytes)
{
    uint32_t *block = mmap(NULL, table_bytes(pins, bytes), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (block == MAP_FAILED)
        return -ENOMEM;
    pins->range[n] = (struct unet_pins_range){.block = block, .bytes = bytes};
    return 0;
}

/* Its blocks leave the order as well. */
bool unet_pins_range_close(struct unet_pins *pins, uint16_t n)
{
    struct unet_pins_range *range = range_of(pins, n);
    size_t kept = 0;

    if (!range)
        return false;
    for (size_t i = 0; i < pins->count; i++) {
        const struct unet_pins_block one = pins->order[i];

        if (one.range != n)
            pins->order[kept++] = one;
    }
    pins->count = kept;
    table_free(pins, range);
    return true;
}

/* ---- pinning -------------------------------------------------------------------------- */

static struct unet_pins_pages pages_of(struct unet_pins_block one, struct part part)
{
    return (struct unet_pins_pages){
        .first = (uint64_t)one.number * UNET_PINS_BLOCK_PAGES + part.first,
        .count = part.last - part.first + 1,
        .range = one.range,
    };
}

static int call_pin(const struct unet_pins *pins, struct unet_pins_block one, struct part part)
{
    const struct unet_pins_pages pages = pages_of(one, part);

    return pins->ops->pin(pins->pinner, &pages);
}

static void call_unpin(const struct unet_pins *pins, struct unet_pins_block one, struct part part)
{
    const struct unet_pins_pages pages = pages_of(one, part);

    pins->ops->unpin(pins->pinner, &pages);
}

/* What of the block is in the range. */
static struct part block_whole(const struct unet_pins *pins, struct unet_pins_block one)
{
    const uint64_t pages = pins->range[one.range].bytes >> pins->page_shift;
    const uint64_t left = pages - (uint64_t)one.number * UNET_PINS_BLOCK_PAGES;

    return (struct part){
        .last = (uint32_t)(left < UNET_PINS_BLOCK_PAGES ? left : UNET_PINS_BLOCK_PAGES) - 1};
}

static uint32_t *block_word(struct unet_pins *pins, struct unet_pins_block one)
{
    return &pins->range[one.range].block[one.number];
}

/* Unpin the i-th in the order. */
static void block_drop(struct unet_pins *pins, size_t i)
{
    const struct unet_pins_block one = pins->order[i];

    pins->count--;
    memmove(pins->order + i, pins->order + i + 1, (pins->count - i) * sizeof(*pins->order));
    *block_word(pins, one) = 0;
    call_unpin(pins, one, block_whole(pins, one));
}

/* Unpin the oldest block that nobody holds; false: all are held. */
static bool block_evict(struct unet_pins *pins)
{
    for (size_t i = 0; i < pins->count; i++) {
        if (!(*block_word(pins, pins->order[i]) & HELD)) {
            block_drop(pins, i);
            pins->evictions++;
            return true;
        }
    }
    return false;
}

void unet_pins_distrust(struct unet_pins *pins)
{
    for (size_t i = pins->count; i-- > 0;) {
        uint32_t *word = block_word(pins, pins->order[i]);

        if (*word & HELD)
            *word |= STALE;
        else
            block_drop(pins, i);
    }
}

static int block_remember(struct unet_pins *pins, struct unet_pins_block one)
{
    if (pins->count == pins->room) {
        const size_t room = pins->room ? 2 * pins->room : 64;
        struct unet_pins_block *more = realloc(pins->order, room * sizeof(*more));

        if (!more)
            return -ENOMEM;
        pins->order = more;
        pins->room = room;
    }
    pins->order[pins->count++] = one;
    return 0;
}

static bool is_limit(int error)
{
    return error == -ENOBUFS || error == -EDQUOT;
}

/* Within limits, if need be at the cost of others. */
static int part_pin(struct unet_pins *pins, struct unet_pins_block one, struct part part)
{
    int error;

    do
        error = call_pin(pins, one, part);
    while (is_limit(error) && block_evict(pins));
    if (error)
        return error;
    error = block_remember(pins, one);
    if (error)
        call_unpin(pins, one, part);
    else
        *block_word(pins, one) = part_word(part);
    return error;
}

static int block_pin(struct unet_pins *pins, struct unet_pins_block one, struct part wanted)
{
    const int error = part_pin(pins, one, block_whole(pins, one));

    return error == -EFAULT || error == -EOPNOTSUPP ? part_pin(pins, one, wanted) : error;
}

static size_t block_age(const struct unet_pins *pins, struct unet_pins_block one)
{
    size_t i = 0;

    while (pins->order[i].range != one.range || pins->order[i].number != one.number)
        i++;
    return i;
}

/* A part of a block is not pinned, or not as it is mapped now, or as often as can be counted. */
__attribute__((noinline, cold)) static int
block_miss(struct unet_pins *pins, struct unet_pins_block one, struct part wanted)
{
    const uint32_t word = *block_word(pins, one);

    if (word & HELD)
        return -EBUSY;
    if (word)
        block_drop(pins, block_age(pins, one));
    pins->misses++;
    return block_pin(pins, one, wanted);
}

/* ---- holding ---------------------------------------------------------------------------- */

/* The range of a place that lies within it, or NULL. */
static struct unet_pins_range *range_at(struct unet_pins *pins, uint64_t place, uint64_t length)
{
    struct unet_pins_range *range = range_of(pins, place >> 48);
    const uint64_t offset = place & UNET_PLACE_OFFSET;

    if (!range || length == 0 || offset > range->bytes || length > range->bytes - offset)
        return NULL;
    return range;
}

static void blocks_release(struct unet_pins_range *range, uint64_t first, uint64_t end)
{
    for (uint64_t block = first; block < end; block++)
        if (range->block[block] & HELD)
            range->block[block]--;
}

/* What of a block lies between two pages of the range. */
static struct part part_between(uint64_t block, uint64_t first, uint64_t last)
{
    const uint64_t start = block * UNET_PINS_BLOCK_PAGES, end = start + UNET_PINS_BLOCK_PAGES - 1;

    return (struct part){
        .first = first > start ? (uint32_t)(first - start) : 0,
        .last = last < end ? (uint32_t)(last - start) : UNET_PINS_BLOCK_PAGES - 1,
    };
}

static bool word_is_hit(uint32_t word, struct part part)
{
    return (word & (PINNED | STALE)) == PINNED && part_is_in(word, part) && (word & HELD) != HELD;
}

int unet_pins_hold(struct unet_pins *pins, uint64_t place, uint64_t length)
{
    struct unet_pins_range *range = range_at(pins, place, length);
    const uint64_t offset = place & UNET_PLACE_OFFSET;
    const uint64_t first = offset >> pins->page_shift;
    const uint64_t last = (offset + length - 1) >> pins->page_shift;

    if (!range)
        return -EINVAL;
    for (uint64_t block = first / UNET_PINS_BLOCK_PAGES; block <= last / UNET_PINS_BLOCK_PAGES;
         block++) {
        const struct part part = part_between(block, first, last);

        if (word_is_hit(range->block[block], part)) {
            pins->hits++;
        } else {
            const struct unet_pins_block one = {(uint32_t)block, (uint16_t)(place >> 48)};
            const int error = block_miss(pins, one, part);

            if (error) {
                blocks_release(range, first / UNET_PINS_BLOCK_PAGES, block);
                return error;
            }
        }
        range->block[block]++;
    }
    return 0;
}

void unet_pins_release(struct unet_pins *pins, uint64_t place, uint64_t length)
{
    struct unet_pins_range *range = range_at(pins, place, length);
    const uint64_t offset = place & UNET_PLACE_OFFSET;

    if (range)
        blocks_release(range, offset / block_bytes(pins),
                       (offset + length - 1) / block_bytes(pins) + 1);
}
