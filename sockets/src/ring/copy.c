/* SPDX-License-Identifier: BSD-3-Clause
 *
 * copy.c - copies into a ring whose reader may be on another core.
 */
#include "ring/copy.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    TELLS = 2 << 10,         /* a copy tells that is as long as those that may go past the caches */
    LOOKS = 3,               /* the fastest counts: others were interrupted, or made pages */
    EVERY = 64,              /* copies between two judgements, while they go through the caches */
    EVERY_PAST = 512,        /* where one costs more, as they do not */
    NEAR_NS = 80,            /* for 1 KiB: slower than a core's own cache */
    FAR_NS = 160,            /* slower than one that two cores share */
    NEAR_FETCHED = 16 << 10, /* bytes that a near reader has to fetch at once, from where on they */
    NEAR_LEAST = 4 << 10,    /* go past the caches, in copies of so many */
    LINE = 64,
    AHEAD = 2 << 10,      /* bytes: what is stored past the caches has then been read in time, */
    AHEAD_BOTH = 1 << 10, /* and so have both ends of a copy to memory */
};

#if defined(__SSE2__)
/* Whole lines: half a one would be written to memory twice. */
static void copy_lines(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE) {
        const __m128i *source = (const __m128i *)(from + i);
        __m128i *line = (__m128i *)(to + i);
        const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                      c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);

        __builtin_prefetch(from + i + AHEAD);
        _mm_stream_si128(line, a);
        _mm_stream_si128(line + 1, b);
        _mm_stream_si128(line + 2, c);
        _mm_stream_si128(line + 3, d);
    }
}

void sockets_copy_past_caches(char *to, const char *from, size_t bytes)
{
    const size_t before = -(uintptr_t)to % LINE, first = before < bytes ? before : bytes;
    const size_t lines = (bytes - first) / LINE * LINE;

    memcpy(to, from, first);
    copy_lines(to + first, from + first, lines);
    memcpy(to + first + lines, from + first + lines, bytes - first - lines);
    _mm_sfence(); /* these stores obey no other order */
}
#else
void sockets_copy_past_caches(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

void sockets_copy_to_memory(char *to, const char *from, size_t bytes)
{
    size_t done = 0;

    for (; bytes - done >= LINE; done += LINE) {
        __builtin_prefetch(from + done + AHEAD_BOTH);
        __builtin_prefetch(to + done + AHEAD_BOTH, 1);
        memcpy(to + done, from + done, LINE);
    }
    memcpy(to + done, from + done, bytes - done);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void sockets_copier_judge(struct sockets_copier *copier, uint64_t ns, size_t bytes)
{
    const uint64_t rate = (ns << 10) / bytes;

    if (copier->looks == 0 || rate < copier->least)
        copier->least = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    if (++copier->looks < LOOKS)
        return;
    copier->distance = copier->least < NEAR_NS  ? SOCKETS_HERE
                       : copier->least < FAR_NS ? SOCKETS_NEAR
                                                : SOCKETS_FAR;
    copier->looks = 0;
    copier->copies = 0;
}

static bool goes_past_caches(const struct sockets_copier *copier, size_t bytes, size_t unread)
{
    return copier->distance == SOCKETS_FAR ||
           (copier->distance == SOCKETS_NEAR && unread + bytes >= NEAR_FETCHED &&
            bytes >= NEAR_LEAST);
}

void sockets_copier_copy(struct sockets_copier *copier, char *to, const char *from, size_t bytes,
                         size_t unread)
{
    bool past;
    uint64_t start;

    if (bytes < TELLS) {
        memcpy(to, from, bytes);
        return;
    }
    past = goes_past_caches(copier, bytes, unread);
    if (copier->copies++ < (past ? EVERY_PAST : EVERY)) {
        if (past)
            sockets_copy_past_caches(to, from, bytes);
        else
            memcpy(to, from, bytes);
        return;
    }
    start = now_ns();
    memcpy(to, from, bytes);
    atomic_thread_fence(memory_order_seq_cst); /* 4 KiB fit into what a core has still to store */
    sockets_copier_judge(copier, now_ns() - start, bytes);
}
