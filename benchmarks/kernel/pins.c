/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pins.c - the table of pinned pages over the module: what a hit and a miss cost, beside a put.
 *
 * Fifth paper, table 1.  A range is exported anew for each miss.  Its first block is held before,
 * so that the table's own memory is there; its second has as many pages as are held, so one call of
 * the module pins them all.
 */
#include "kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unet/unet.h>

enum {
    PAGE = 4096,
    BLOCK = 16, /* pages that the table pins at once */
    TIMES = 50, /* of a round; their median counts */
    HITS = 32,  /* that are timed at once, as one is shorter than a look at the clock */
    TAG = 11,
    PATIENCE_MS = 30000,
};

/* What the receiver tells. */
struct target {
    struct unet_address address;
    uint64_t place, grant;
};

static struct unet_endpoint *ep;
static uint16_t channel, whole; /* the range of all of `memory` */
static struct target target;
static uint8_t *memory;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void need(int error, const char *what)
{
    if (error >= 0)
        return;
    errno = -error;
    die(what);
}

static void tell(struct target *mine, struct target *theirs)
{
    uint8_t here[BLOB] = {0}, there[BLOB];

    _Static_assert(sizeof *mine <= BLOB, "a target is told in a blob");
    memcpy(here, mine, sizeof *mine);
    exchange(here, there);
    memcpy(theirs, there, sizeof *theirs);
}

void pins_open(void)
{
    const struct unet_config config = {.segment_bytes = 1 << 20, .channels = 1};
    struct target mine = {0}, theirs;

    setenv("UNET_INTERFACE", interface, 1);
    need(unet_open(unet_backend("fe"), &config, &ep), "an endpoint of the module");
    memory =
        mmap(NULL, 2 * BLOCK * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("memory");
    memset(memory, 1, 2 * BLOCK * PAGE);
    unet_address(ep, &mine.address);
    tell(&mine, &theirs);
    need(unet_connect(ep, &theirs.address, TAG, &channel), "channel");
    while (unet_channel_state(ep, channel) == UNET_CONNECTING)
        unet_wait(ep, 10);
    need(unet_export(ep, memory, 2 * BLOCK * PAGE, &whole), "range");
    mine.place = UNET_PLACE(whole, 0);
    need(unet_hold(ep, mine.place, PAGE), "pages");
    need(unet_grant(ep, channel, mine.place, PAGE, &mine.grant), "grant");
    tell(&mine, &target);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void tell_median(const char *what, unsigned pages, uint64_t *ns)
{
    qsort(ns, TIMES, sizeof ns[0], compare);
    printf("pins %s %u %llu\n", what, pages, (unsigned long long)ns[TIMES / 2]);
}

static uint64_t hold_ns(uint64_t place, uint32_t bytes, int times)
{
    const uint64_t start = now_ns();

    for (int i = 0; i < times; i++) {
        need(unet_hold(ep, place, bytes), "hold");
        unet_release(ep, place, bytes);
    }
    return (now_ns() - start) / (uint64_t)times;
}

static void hits_and_misses(unsigned pages)
{
    uint64_t miss[TIMES], hit[TIMES];

    for (int i = 0; i < TIMES; i++) {
        uint16_t range;

        need(unet_export(ep, memory, (uint64_t)(BLOCK + pages) * PAGE, &range), "range");
        hold_ns(UNET_PLACE(range, 0), PAGE, 1);
        miss[i] = hold_ns(UNET_PLACE(range, BLOCK * PAGE), pages * PAGE, 1);
        hit[i] = hold_ns(UNET_PLACE(range, BLOCK * PAGE), pages * PAGE, HITS);
        need(unet_unexport(ep, range), "range");
    }
    tell_median("miss", pages, miss);
    tell_median("hit", pages, hit);
}

/* From memory that is pinned already, until the module is done with it. */
static uint64_t put_ns(void)
{
    const uint32_t most = (ep->packet_bytes - UNET_DIRECT_BYTES) & ~63u;
    const uint64_t from = UNET_PLACE(whole, 0), start = now_ns();
    uint32_t ticket = 0;

    need(unet_hold(ep, from, PAGE), "hold");
    for (uint32_t at = 0, n; at < PAGE; at += n) {
        n = PAGE - at < most ? PAGE - at : most;
        need(unet_put(ep, channel, 0, from + at, n, target.place + at, target.grant, &ticket),
             "put");
    }
    while (!unet_sent(ep, ticket)) {
        unet_progress(ep);
        if (now_ns() - start > PATIENCE_MS * 1000000ull) {
            errno = ETIMEDOUT;
            die("put");
        }
    }
    unet_release(ep, from, PAGE);
    return now_ns() - start;
}

static void receive_all(void)
{
    while (unet_rx_peek(ep))
        unet_rx_release(ep);
}

/* The receiver need not look: the module places what comes. */
void pins_round(void)
{
    uint64_t ns[TIMES];

    meet();
    if (side == 0) {
        for (unsigned pages = 1; pages <= BLOCK; pages *= 4)
            hits_and_misses(pages);
        for (int i = 0; i < TIMES; i++)
            ns[i] = put_ns();
        tell_median("put", 1, ns);
    }
    meet();
    receive_all();
}
