/* SPDX-License-Identifier: BSD-3-Clause
 *
 * range.c - exported ranges, and what of them is pinned.
 *
 * The table is ours and the module believes none of it, as in VMMC-2's user-managed translation
 * (section 4): a place that is held is looked up here, and only for what is missing is the module
 * called.  Pages are pinned by blocks.  Those that nobody holds any more stay, in the order in
 * which they came, until the module refuses to pin more: then the oldest go.
 */
#include "fe/fe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BLOCK_PAGES = 16 };

#define PINNED (1u << 31) /* of a block's word; the rest counts who holds it */

static uint64_t block_bytes(void)
{
    return (uint64_t)BLOCK_PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- ranges ------------------------------------------------------------------------ */

static struct fe_range *range_of(struct fe_endpoint *fe, uint64_t n)
{
    if (n < 1 || n > UNET_RANGES_MAX || !fe->range[n].block)
        return NULL;
    return &fe->range[n];
}

static int export_range(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range)
{
    struct fe_endpoint *fe = fe_of(ep);
    struct unet_fe_export request = {.address = (uintptr_t)address, .bytes = bytes};
    const uint64_t blocks = bytes / block_bytes() + 1;
    uint32_t *block = bytes > UNET_PLACE_OFFSET ? NULL : calloc(blocks, sizeof *block);

    if (!block)
        return bytes > UNET_PLACE_OFFSET ? -EINVAL : -ENOMEM;
    if (ioctl(fe->fd, UNET_FE_EXPORT, &request) < 0) {
        const int error = -errno;

        free(block);
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
    free(fe->range[n].block);
    fe->range[n] = (struct fe_range){0};
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
        free(fe->range[n].block);
    free(fe->pinned);
}

static int allow(struct unet_endpoint *ep, uint16_t channel, bool allowed)
{
    const struct unet_fe_allow request = {.channel = channel, .allowed = allowed};

    return ioctl(fe_of(ep)->fd, UNET_FE_ALLOW, &request) < 0 ? -errno : 0;
}

/* ---- pinning -------------------------------------------------------------------------- */

static int call_module(const struct fe_endpoint *fe, unsigned long what, struct fe_pinned one)
{
    const uint64_t pages = fe->range[one.range].bytes / (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t first = (uint64_t)one.block * BLOCK_PAGES, left = pages - first;
    const struct unet_fe_pin request = {
        .range = one.range,
        .pages = (uint32_t)(left < BLOCK_PAGES ? left : BLOCK_PAGES),
        .first = first,
    };

    return ioctl(fe->fd, what, &request) < 0 ? -errno : 0;
}

/* Unpin the oldest block that nobody holds.  Those that are held count as young again. */
static bool make_room(struct fe_endpoint *fe)
{
    for (size_t tries = fe->pinned_count; tries > 0; tries--) {
        const struct fe_pinned oldest = fe->pinned[0];
        uint32_t *word = &fe->range[oldest.range].block[oldest.block];

        memmove(fe->pinned, fe->pinned + 1, (fe->pinned_count - 1) * sizeof *fe->pinned);
        if (*word == PINNED) {
            fe->pinned_count--;
            *word = 0;
            return call_module(fe, UNET_FE_UNPIN, oldest) == 0;
        }
        fe->pinned[fe->pinned_count - 1] = oldest;
    }
    return false;
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

static int pin(struct fe_endpoint *fe, struct fe_pinned one)
{
    int error = remember(fe, one);

    if (error)
        return error;
    error = call_module(fe, UNET_FE_PIN, one);
    while (is_limit(error)) {
        fe->pinned_count--; /* ours is the youngest, and not to be chosen */
        if (!make_room(fe))
            return error;
        fe->pinned[fe->pinned_count++] = one;
        error = call_module(fe, UNET_FE_PIN, one);
    }
    if (error)
        fe->pinned_count--;
    else
        fe->range[one.range].block[one.block] = PINNED;
    return error;
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
        if (range->block[block] > PINNED)
            range->block[block]--;
}

static int hold(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    struct fe_endpoint *fe = fe_of(ep);
    struct fe_range *range = range_at(fe, place, length);
    const uint64_t offset = place & UNET_PLACE_OFFSET, first = offset / block_bytes();

    if (!range)
        return -EINVAL;
    for (uint64_t block = first; block <= (offset + length - 1) / block_bytes(); block++) {
        const struct fe_pinned one = {.range = (uint16_t)(place >> 48), .block = (uint32_t)block};
        const int error = range->block[block] ? 0 : pin(fe, one);

        if (error) {
            release_blocks(range, first, block);
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

const struct unet_range_ops unet_fe_range_ops = {
    .export_range = export_range,
    .end_range = end_range,
    .allow = allow,
    .hold = hold,
    .release = release,
};
