/* SPDX-License-Identifier: BSD-3-Clause
 *
 * copy.h - copies into a ring whose reader may be on another core.
 *
 * A line that one core has written is fetched from its cache when another one reads it, and taken
 * from the reader's when it is written again.  Between cores that share no cache that is 30 ns a
 * line, 2 GB/s, however large the ring is.  Lines that are written past the caches lie in memory,
 * and the reader's prefetcher brings them four times as fast.  For a reader on the same core, or
 * for short messages to one whose cache is shared, the caches are faster.  So how long copies
 * through the caches take is looked at now and then, and decides.
 */
#ifndef SOCKETS_RING_COPY_H
#define SOCKETS_RING_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Where the reader seems to be. */
enum sockets_distance { SOCKETS_HERE, SOCKETS_NEAR, SOCKETS_FAR };

/* All zero: not known yet, taken to be here. */
struct sockets_copier {
    uint32_t distance;
    uint32_t copies; /* since it was judged, of those that are long enough to tell */
    uint32_t looks;  /* copies whose time was taken since then, through the caches */
    uint32_t least;  /* nanoseconds for 1 KiB of the fastest of these */
};

/* Copy to where the reader reads next, `unread` bytes after its position.  A store with release
 * order that follows publishes all of it.  Never blocks. */
void sockets_copier_copy(struct sockets_copier *copier, char *to, const char *from, size_t bytes,
                         size_t unread);

/* One copy through the caches took so long. */
void sockets_copier_judge(struct sockets_copier *copier, uint64_t ns, size_t bytes);

/* memcpy past the caches, with the same promise. */
void sockets_copy_past_caches(char *to, const char *from, size_t bytes);

/* memcpy to what is so long that little of it lies in the caches. */
void sockets_copy_to_memory(char *to, const char *from, size_t bytes);

#endif
