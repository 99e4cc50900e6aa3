/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pins.h - which pages of exported ranges are pinned: the user-managed TLB of VMMC-2 (section 4).
 *
 * The table is the library's.  A place that is held is looked up in it, and only for what is
 * missing is the pinner called, which is whoever translates addresses: the kernel module, for the
 * endpoints of `fe`.  The pinner believes nothing of the table and keeps its own.
 *
 * Pages are pinned by blocks, so that one call serves a bulk transfer.  Blocks that nobody holds
 * any more stay pinned, in the order in which they came, until the pinner refuses more: then the
 * oldest of them go.
 *
 * Not thread-safe: its owner has a lock.
 */
#ifndef UNET_PINS_H
#define UNET_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unet/unet_abi.h>

enum { UNET_PINS_BLOCK_PAGES = 16 };

/* Pages of a range. */
struct unet_pins_pages {
    uint64_t first; /* from the beginning of the range */
    uint32_t count; /* 1 to UNET_PINS_BLOCK_PAGES */
    uint16_t range;
};

struct unet_pins_ops {
    /* Returns 0, -ENOBUFS or -EDQUOT at a limit, -EFAULT or -EOPNOTSUPP if some of the pages are
     * not there or cannot be pinned, or another error.  After an error none is pinned. */
    int (*pin)(void *pinner, const struct unet_pins_pages *pages);

    /* They are pinned, or some of them are. */
    void (*unpin)(void *pinner, const struct unet_pins_pages *pages);
};

/* A range: of each block of pages, whether it is pinned and how many hold it. */
struct unet_pins_range {
    uint32_t *block; /* NULL: there is no range of that number */
    uint64_t bytes;
};

struct unet_pins_block {
    uint32_t number;
    uint16_t range;
};

struct unet_pins {
    const struct unet_pins_ops *ops;
    void *pinner;
    uint32_t page_shift;
    struct unet_pins_range range[UNET_RANGES_MAX + 1]; /* by number, from 1 */
    struct unet_pins_block *order;                     /* blocks that are pinned, oldest first */
    size_t count, room;                                /* in `order` */
    uint64_t hits, misses;                             /* blocks that were held */
    uint64_t evictions;                                /* blocks that went at a limit */
};

void unet_pins_init(struct unet_pins *pins, const struct unet_pins_ops *ops, void *pinner);

/* The pinner unpins by itself what is left. */
void unet_pins_free(struct unet_pins *pins);

/* Range n, which there was not, of so many bytes: at most UNET_PLACE_OFFSET.  Its table costs
 * memory where it is used (4 bytes for each block of 64 KiB), so the range may be all of an address
 * space.  Errors: -ENOMEM. */
int unet_pins_range_open(struct unet_pins *pins, uint16_t n, uint64_t bytes);

/* The pinner has unpinned it, or does so by itself.  False: there was none. */
bool unet_pins_range_close(struct unet_pins *pins, uint16_t n);

/* Have the pages of a place (UNET_PLACE) pinned until it is released as often as it was held.
 * Returns 0; -EINVAL: it is not within a range; -EBUSY: a part of it is pinned otherwise, or before
 * mappings changed, and held; or an error of the pinner, and then nothing more is held than
 * before. */
int unet_pins_hold(struct unet_pins *pins, uint64_t place, uint64_t length);
void unet_pins_release(struct unet_pins *pins, uint64_t place, uint64_t length);

/* Mappings have changed: what was pinned may not be what is there now.  Blocks that nobody holds
 * are unpinned; the others are good for those who hold them, and for nobody else. */
void unet_pins_distrust(struct unet_pins *pins);

#endif
