/* SPDX-License-Identifier: BSD-3-Clause */
#include "kept.h"

#include <string.h>

static uint64_t range_length(struct splitc_kept_range r)
{
    return r.end > r.start ? r.end - r.start : 0;
}

static void kept_forget(struct splitc_kept *k, unsigned i)
{
    k->bytes -= range_length(k->range[i]);
    k->count--;
    memmove(&k->range[i], &k->range[i + 1], (k->count - i) * sizeof k->range[0]);
}

bool splitc_kept_displace(struct splitc_kept *k, uint64_t size, struct splitc_kept_range *gone)
{
    if (k->count < SPLITC_KEPT_RANGES && k->bytes + size <= SPLITC_KEPT_BYTES)
        return false;
    *gone = k->range[0];
    kept_forget(k, 0);
    return true;
}

void splitc_kept_add(struct splitc_kept *k, uint64_t start, uint64_t size)
{
    k->range[k->count++] = (struct splitc_kept_range){start, start + size};
    k->bytes += size;
}

/* The longer piece of r that lies outside of [start, end). */
static struct splitc_kept_range range_outside(struct splitc_kept_range r, uint64_t start,
                                              uint64_t end)
{
    struct splitc_kept_range left = {r.start, start}, right = {end, r.end};

    return range_length(left) > range_length(right) ? left : right;
}

void splitc_kept_reuse(struct splitc_kept *k, uint64_t start, uint64_t size)
{
    const uint64_t end = start + size;

    for (unsigned i = k->count; i-- > 0;) {
        struct splitc_kept_range r = k->range[i];

        if (r.end <= start || end <= r.start)
            continue;
        k->range[i] = range_outside(r, start, end);
        k->bytes -= range_length(r) - range_length(k->range[i]);
        if (range_length(k->range[i]) == 0)
            kept_forget(k, i);
    }
}
