/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checksum.c - the Internet checksum (RFC 1071), at the speed of memory.
 *
 * Words of any width may be added and folded at the end: those of 32 bits are, in lanes of 64,
 * which nothing overflows.
 */
#include "internal.h"

#include <string.h>

typedef uint64_t lanes __attribute__((vector_size(32)));

/* The words of all lanes, each of which has two. */
__attribute__((always_inline)) static inline void sum_lanes(lanes *sum, const uint8_t *bytes)
{
    lanes w;

    memcpy(&w, bytes, sizeof w);
    *sum += (w & UINT32_MAX) + (w >> 32);
}

/* The sum, not folded; `length` has less than 2^32 bytes. */
__attribute__((always_inline)) static inline uint64_t sum_words(const uint8_t *bytes, size_t length)
{
    lanes even = {0}, odd = {0};
    uint64_t rest = 0;

    for (; length >= 2 * sizeof even; bytes += 2 * sizeof even, length -= 2 * sizeof even) {
        sum_lanes(&even, bytes);
        sum_lanes(&odd, bytes + sizeof even);
    }
    for (; length >= sizeof(uint32_t); bytes += sizeof(uint32_t), length -= sizeof(uint32_t)) {
        uint32_t word;

        memcpy(&word, bytes, sizeof word);
        rest += word;
    }
    if (length > 0) {
        uint32_t word = 0; /* what is missing is zero */

        memcpy(&word, bytes, length);
        rest += word;
    }
    even += odd;
    return rest + even[0] + even[1] + even[2] + even[3];
}

static uint64_t sum_any(const uint8_t *bytes, size_t length)
{
    return sum_words(bytes, length);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t sum_avx2(const uint8_t *bytes, size_t length)
{
    return sum_words(bytes, length);
}

static uint64_t sum(const uint8_t *bytes, size_t length)
{
    return __builtin_cpu_supports("avx2") ? sum_avx2(bytes, length) : sum_any(bytes, length);
}
#else
static uint64_t sum(const uint8_t *bytes, size_t length)
{
    return sum_any(bytes, length);
}
#endif

uint16_t ip_checksum_add(const void *bytes, size_t length)
{
    uint64_t folded = sum(bytes, length);

    folded = (folded >> 32) + (folded & UINT32_MAX);
    folded = (folded >> 32) + (folded & UINT32_MAX);
    folded = (folded >> 16) + (folded & UINT16_MAX);
    folded = (folded >> 16) + (folded & UINT16_MAX);
    return (uint16_t)folded;
}
