/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checksum.c - the Internet checksum (RFC 1071), at the speed of memory.
 *
 * Words of any width may be added and folded at the end: those of 32 bits are, in lanes of 64,
 * which nothing overflows.
 */
#include "internal.h"

#include <string.h>

#define INLINE __attribute__((always_inline)) static inline

typedef uint64_t lanes __attribute__((vector_size(32)));

/* The words of all lanes, each of which has two; `to` is NULL or gets a copy. */
INLINE void sum_lanes(lanes *sum, uint8_t *to, const uint8_t *bytes)
{
    lanes w;

    memcpy(&w, bytes, sizeof w);
    if (to)
        memcpy(to, &w, sizeof w);
    *sum += (w & UINT32_MAX) + (w >> 32);
}

/* The sum of what lies behind them. */
static uint64_t sum_rest(const uint8_t *bytes, size_t length)
{
    uint64_t sum = 0;
    uint32_t word;

    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum += word;
    }
    word = 0; /* what is missing is zero */
    if (length > 0)
        memcpy(&word, bytes, length);
    return sum + word;
}

/* The sum, not folded; `length` has less than 2^32 bytes. */
INLINE uint64_t sum_words(uint8_t *to, const uint8_t *bytes, size_t length)
{
    lanes even = {0}, odd = {0};
    size_t at = 0;

    for (; at + 2 * sizeof even <= length; at += 2 * sizeof even) {
        sum_lanes(&even, to ? to + at : NULL, bytes + at);
        sum_lanes(&odd, to ? to + at + sizeof even : NULL, bytes + at + sizeof even);
    }
    if (at + sizeof even <= length) {
        sum_lanes(&even, to ? to + at : NULL, bytes + at);
        at += sizeof even;
    }
    even += odd;
    if (to)
        memcpy(to + at, bytes + at, length - at);
    return even[0] + even[1] + even[2] + even[3] + sum_rest(bytes + at, length - at);
}

static uint64_t sum_any(const uint8_t *bytes, size_t length)
{
    return sum_words(NULL, bytes, length);
}

static uint64_t copy_any(uint8_t *to, const uint8_t *bytes, size_t length)
{
    return sum_words(to, bytes, length);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static uint64_t sum_avx2(const uint8_t *bytes, size_t length)
{
    return sum_words(NULL, bytes, length);
}

AVX2 static uint64_t copy_avx2(uint8_t *to, const uint8_t *bytes, size_t length)
{
    return sum_words(to, bytes, length);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
static uint64_t sum_avx2(const uint8_t *bytes, size_t length)
{
    return sum_any(bytes, length);
}

static uint64_t copy_avx2(uint8_t *to, const uint8_t *bytes, size_t length)
{
    return copy_any(to, bytes, length);
}

static bool has_avx2(void)
{
    return false;
}
#endif

static uint16_t fold(uint64_t sum)
{
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint16_t)sum;
}

uint16_t ip_checksum_add(const void *bytes, size_t length)
{
    return fold(has_avx2() ? sum_avx2(bytes, length) : sum_any(bytes, length));
}

uint16_t ip_checksum_copy(void *to, const void *bytes, size_t length)
{
    return fold(has_avx2() ? copy_avx2(to, bytes, length) : copy_any(to, bytes, length));
}
