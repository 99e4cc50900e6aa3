/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pins_bench - what the table of pinned pages costs on this machine, over mlock(2).
 *
 *   pins_bench        prints, for 1, 4 and 16 pages, nanoseconds of a hit, of a miss, and of
 *                     that part of the miss which the kernel takes to lock the pages
 *
 * The kernel module, which pins pages for real, needs the right to load it; both walk the pages of
 * one call.  Fifth paper, table 1.
 */
#include "core/pins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    PAGES_MOST = 16,
    TIMES = 401, /* their median counts */
    HITS = 64,   /* that are timed at once, as one is shorter than a look at the clock */
};

static uint8_t *memory;
static size_t page;
static uint64_t locking; /* when mlock began, or how long it took */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int lock_pages(void *pinner, const struct unet_pins_pages *pages)
{
    const uint64_t start = now_ns();
    const int rc = mlock(memory + pages->first * page, pages->count * page);

    (void)pinner;
    locking = now_ns() - start;
    return rc < 0 ? -errno : 0;
}

static void unlock_pages(void *pinner, const struct unet_pins_pages *pages)
{
    (void)pinner;
    munlock(memory + pages->first * page, pages->count * page);
}

static uint64_t hold_ns(struct unet_pins *pins, size_t bytes, int times)
{
    const uint64_t start = now_ns();

    for (int i = 0; i < times; i++) {
        const int rc = unet_pins_hold(pins, UNET_PLACE(1, 0), bytes);

        if (rc) {
            fprintf(stderr, "pins_bench: cannot lock %zu bytes: %s (see ulimit -l)\n", bytes,
                    strerror(-rc));
            exit(1);
        }
        unet_pins_release(pins, UNET_PLACE(1, 0), bytes);
    }
    return now_ns() - start;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void tell_median(const char *what, unsigned pages, double *ns)
{
    qsort(ns, TIMES, sizeof ns[0], compare);
    printf("%s_%u %.6g\n", what, pages, ns[TIMES / 2]);
}

static void measure(struct unet_pins *pins, unsigned pages)
{
    static double miss[TIMES], kernel[TIMES], hit[TIMES];

    if (unet_pins_range_open(pins, 1, pages * page) != 0)
        abort();
    hold_ns(pins, pages * page, 1); /* the table's own memory is there */
    for (int i = 0; i < TIMES; i++) {
        unet_pins_distrust(pins);
        miss[i] = (double)hold_ns(pins, pages * page, 1);
        kernel[i] = (double)locking;
        hit[i] = (double)hold_ns(pins, pages * page, HITS) / HITS;
    }
    unet_pins_distrust(pins);
    unet_pins_range_close(pins, 1);
    tell_median("utlb_hit", pages, hit);
    tell_median("utlb_miss", pages, miss);
    tell_median("raw.utlb_miss", pages, kernel);
}

int main(void)
{
    static const struct unet_pins_ops ops = {.pin = lock_pages, .unpin = unlock_pages};
    struct unet_pins pins;

    unet_pins_init(&pins, &ops, NULL);
    page = (size_t)sysconf(_SC_PAGESIZE);
    memory =
        mmap(NULL, PAGES_MOST * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("pins_bench: memory");
        return 1;
    }
    memset(memory, 1, PAGES_MOST * page);
    for (unsigned pages = 1; pages <= PAGES_MOST; pages *= 4)
        measure(&pins, pages);
    unet_pins_free(&pins);
    return 0;
}
