/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kept.h - which freed ranges still have their pages.
 *
 * Without them, a program that allocates and frees in turns would get new pages each time, which
 * the system has to clear.  As with extents.h, the result depends only on the calls made before.
 */
#ifndef SPLITC_KEPT_H
#define SPLITC_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPLITC_KEPT_RANGES 16
#define SPLITC_KEPT_BYTES (256ul << 20) /* at most, in all ranges */

struct splitc_kept_range {
    uint64_t start, end;
};

struct splitc_kept {
    struct splitc_kept_range range[SPLITC_KEPT_RANGES]; /* the oldest first; they do not overlap */
    unsigned count;
    uint64_t bytes;
};

/* Whether the oldest range has to be given back before `size` bytes, at most SPLITC_KEPT_BYTES, can
 * be added.  If so, it is no longer kept, and *gone is that range. */
bool splitc_kept_displace(struct splitc_kept *k, uint64_t size, struct splitc_kept_range *gone);

/* Keep [start, start + size), which has just been freed and for which there is room. */
void splitc_kept_add(struct splitc_kept *k, uint64_t start, uint64_t size);

/* [start, start + size) is in use again.  If it cuts a range in two, the shorter piece is no longer
 * recorded: its pages stay until they are freed again. */
void splitc_kept_reuse(struct splitc_kept *k, uint64_t start, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
