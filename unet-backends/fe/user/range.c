/* SPDX-License-Identifier: BSD-3-Clause
 *
 * range.c - exported ranges, and what of them is pinned.
 *
 * The table is ours and the module believes none of it, as in VMMC-2's user-managed translation
 * (section 4): a place that is held is looked up here, and only for what is missing is the module
 * called.  Pages are pinned by blocks.  Those that nobody holds any more stay, in the order in
 * which they came, until the module refuses to pin more: then the oldest go.  All of them go when
 * the module tells that the mapping of some has changed: they may not be what is there now.
 */
#include "fe/user/fe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_PAGES = 16 };

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

static uint32_t word_for(struct part part)
{
    return PINNED | part.last << LAST_AT | part.first << FIRST_AT;
}

static bool covers(uint32_t word, struct part part)
{
    return (word >> FIRST_AT & 15) <= part.first && part.last <= (word >> LAST_AT & 15);
}

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t block_bytes(void)
{
    return BLOCK_PAGES * page_bytes();
}

/* ---- ranges ------------------------------------------------------------------------ */

static struct fe_range *range_of(struct fe_endpoint *fe, uint64_t n)
{
    if (n < 1 || n > UNET_RANGES_MAX || !fe->range[n].block)
        return NULL;
    return &fe->range[n];
}

static size_t table_bytes(uint64_t bytes)
{
    return (bytes / block_bytes() + 1) * sizeof(uint32_t);
}

static void free_table(struct fe_range *range)
{
    if (range->block)
        munmap(range->block, table_bytes(range->bytes));
    *range = (struct fe_range){0};
}

/* The table costs memory where it is used, so the range may be all of the address space. */
static int export_range(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range)
{
    struct fe_endpoint *fe = fe_of(ep);
    struct unet_fe_export request = {.address = (uintptr_t)address, .bytes = bytes};
    uint32_t *block;

    if (bytes > UNET_PLACE_OFFSET)
        return -EINVAL;
    block = mmap(NULL, table_bytes(bytes), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return -ENOMEM;
    if (ioctl(fe->fd, UNET_FE_EXPORT, &request) < 0) {
        const int error = -errno;

        munmap(block, table_bytes(bytes));
        return error;
    }
    fe->range[request.range] = (struct fe_range){.block = block, .bytes = bytes};
    *range = (uint16_t)request.range;
    return 0;
}

/* Its blocks leave the order as well. */
static void forget(struct fe_endpoint *fe, uint16_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < fe->pinned_count; i++) {
        const struct fe_pinned one = fe->pinned[i];

        if (one.range != n)
            fe->pinned[kept++] = one;
    }
    fe->pinned_count = kept;
    free_table(&fe->range[n]);
}

static int end_range(struct unet_endpoint *ep, uint16_t n)
{
    struct fe_endpoint *fe = fe_of(ep);

    if (!range_of(fe, n) || ioctl(fe->fd, UNET_FE_UNEXPORT, n) < 0)
        return -EINVAL;
    forget(fe, n);
    return 0;
}

void unet_fe_ranges_free(struct fe_endpoint *fe)
{
    for (unsigned n = 1; n <= UNET_RANGES_MAX; n++)
        free_table(&fe->range[n]);
    free(fe->pinned);
}

/* ---- pinning -------------------------------------------------------------------------- */

static int call_module(const struct fe_endpoint *fe, unsigned long what, struct fe_pinned one,
                       struct part part)
{
    const struct unet_fe_pin request = {
        .range = one.range,
        .pages = part.last - part.first + 1,
        .first = (uint64_t)one.block * BLOCK_PAGES + part.first,
    };

    return ioctl(fe->fd, what, &request) < 0 ? -errno : 0;
}

/* What of the block is in the range. */
static struct part whole(const struct fe_endpoint *fe, struct fe_pinned one)
{
    const uint64_t pages = fe->range[one.range].bytes / page_bytes();
    const uint64_t left = pages - (uint64_t)one.block * BLOCK_PAGES;

    return (struct part){.last = (uint32_t)(left < BLOCK_PAGES ? left : BLOCK_PAGES) - 1};
}

static uint32_t *word_of(struct fe_endpoint *fe, struct fe_pinned one)
{
    return &fe->range[one.range].block[one.block];
}

/* Unpin the i-th in the order. */
static void drop(struct fe_endpoint *fe, size_t i)
{
    const struct fe_pinned one = fe->pinned[i];

    fe->pinned_count--;
    memmove(fe->pinned + i, fe->pinned + i + 1, (fe->pinned_count - i) * sizeof *fe->pinned);
    *word_of(fe, one) = 0;
    call_module(fe, UNET_FE_UNPIN, one, whole(fe, one));
}

/* Unpin the oldest block that nobody holds; false: all are held. */
static bool make_room(struct fe_endpoint *fe)
{
    for (size_t i = 0; i < fe->pinned_count; i++) {
        if (!(*word_of(fe, fe->pinned[i]) & HELD)) {
            drop(fe, i);
            return true;
        }
    }
    return false;
}

static void distrust(struct fe_endpoint *fe)
{
    const uint32_t stale = __atomic_load_n(&fe->shared->stale, __ATOMIC_ACQUIRE);

    if (stale == fe->stale)
        return;
    fe->stale = stale;
    for (size_t i = fe->pinned_count; i-- > 0;) {
        if (*word_of(fe, fe->pinned[i]) & HELD)
            *word_of(fe, fe->pinned[i]) |= STALE;
        else
            drop(fe, i);
    }
}

static int remember(struct fe_endpoint *fe, struct fe_pinned one)
{
    if (fe->pinned_count == fe->pinned_room) {
        const size_t room = fe->pinned_room ? 2 * fe->pinned_room : 64;
        struct fe_pinned *more = realloc(fe->pinned, room * sizeof *more);

        if (!more)
            return -ENOMEM;
        fe->pinned = more;
        fe->pinned_room = room;
    }
    fe->pinned[fe->pinned_count++] = one;
    return 0;
}

static bool is_limit(int error)
{
    return error == -ENOBUFS || error == -EDQUOT;
}

/* Within limits, if need be at the cost of others. */
static int pin_part(struct fe_endpoint *fe, struct fe_pinned one, struct part part)
{
    int error;

    do
        error = call_module(fe, UNET_FE_PIN, one, part);
    while (is_limit(error) && make_room(fe));
    if (error)
        return error;
    error = remember(fe, one);
    if (error)
        call_module(fe, UNET_FE_UNPIN, one, part);
    else
        *word_of(fe, one) = word_for(part);
    return error;
}

static int pin(struct fe_endpoint *fe, struct fe_pinned one, struct part wanted)
{
    const int error = pin_part(fe, one, whole(fe, one));

    return error == -EFAULT || error == -EOPNOTSUPP ? pin_part(fe, one, wanted) : error;
}

static size_t place_in_order(const struct fe_endpoint *fe, struct fe_pinned one)
{
    size_t i = 0;

    while (fe->pinned[i].range != one.range || fe->pinned[i].block != one.block)
        i++;
    return i;
}

/* Have a part of a block pinned as it is mapped now. */
static int have(struct fe_endpoint *fe, struct fe_pinned one, struct part wanted)
{
    const uint32_t word = *word_of(fe, one);

    if (word && !(word & STALE) && covers(word, wanted))
        return (word & HELD) == HELD ? -EBUSY : 0;
    if (word & HELD)
        return -EBUSY;
    if (word)
        drop(fe, place_in_order(fe, one));
    return pin(fe, one, wanted);
}

/* ---- holding ---------------------------------------------------------------------------- */

/* The range of a place that lies within it, or NULL. */
static struct fe_range *range_at(struct fe_endpoint *fe, uint64_t place, uint64_t length)
{
    struct fe_range *range = range_of(fe, place >> 48);
    const uint64_t offset = place & UNET_PLACE_OFFSET;

    if (!range || length == 0 || offset > range->bytes || length > range->bytes - offset)
        return NULL;
    return range;
}

static void release_blocks(struct fe_range *range, uint64_t first, uint64_t end)
{
    for (uint64_t block = first; block < end; block++)
        if (range->block[block] & HELD)
            range->block[block]--;
}

/* What of a block lies between two offsets of the range. */
static struct part part_of(uint64_t block, uint64_t first, uint64_t last)
{
    const uint64_t start = block * block_bytes(), end = start + block_bytes() - 1;

    return (struct part){
        .first = first > start ? (uint32_t)((first - start) / page_bytes()) : 0,
        .last = last < end ? (uint32_t)((last - start) / page_bytes()) : BLOCK_PAGES - 1,
    };
}

static int hold(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    struct fe_endpoint *fe = fe_of(ep);
    struct fe_range *range = range_at(fe, place, length);
    const uint64_t offset = place & UNET_PLACE_OFFSET, last = offset + length - 1;
    const uint64_t first_block = offset / block_bytes();

    if (!range)
        return -EINVAL;
    distrust(fe);
    for (uint64_t block = first_block; block <= last / block_bytes(); block++) {
        const struct fe_pinned one = {.range = (uint16_t)(place >> 48), .block = (uint32_t)block};
        const int error = have(fe, one, part_of(block, offset, last));

        if (error) {
            release_blocks(range, first_block, block);
            return error;
        }
        range->block[block]++;
    }
    return 0;
}

static void release(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    struct fe_range *range = range_at(fe_of(ep), place, length);
    const uint64_t offset = place & UNET_PLACE_OFFSET;

    if (range)
        release_blocks(range, offset / block_bytes(), (offset + length - 1) / block_bytes() + 1);
}

/* ---- granting --------------------------------------------------------------------------- */

static int give_grant(struct unet_endpoint *ep, uint16_t channel, uint64_t place, uint64_t length,
                      uint64_t *key)
{
    struct unet_fe_grant request = {.channel = channel, .place = place, .bytes = length};

    if (ioctl(fe_of(ep)->fd, UNET_FE_GRANT, &request) < 0)
        return -errno;
    *key = request.key;
    return 0;
}

static int end_grant(struct unet_endpoint *ep, uint64_t key)
{
    return ioctl(fe_of(ep)->fd, UNET_FE_REVOKE, &key) < 0 ? -errno : 0;
}

const struct unet_range_ops unet_fe_range_ops = {
    .export_range = export_range,
    .end_range = end_range,
    .hold = hold,
    .release = release,
    .grant = give_grant,
    .revoke = end_grant,
};
