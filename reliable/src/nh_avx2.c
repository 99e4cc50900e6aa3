/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nh_avx2.c - NH with AVX2.
 */
#include "nh.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

enum { VECTOR = 32, STEP = 64 }; /* bytes */

static inline AVX2 __m256i nh_load(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline AVX2 __m256i nh_pairs(__m256i sum, __m256i m, const uint8_t *key)
{
    const __m256i s = _mm256_add_epi32(m, nh_load(key));

    return _mm256_add_epi64(sum, _mm256_mul_epu32(s, _mm256_srli_epi64(s, 32)));
}

static inline AVX2 uint64_t nh_add_up(__m256i sum)
{
    const __m128i half =
        _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));

    return (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
}

static inline AVX2 __m256i nh_unit_pairs(__m256i sum, __m256i m, const uint8_t *key)
{
    const __m256i k = _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)key));
    const __m256i s = _mm256_add_epi32(m, k);

    return _mm256_add_epi64(sum, _mm256_mul_epu32(s, _mm256_srli_epi64(s, 32)));
}

/* The unit at the end that may not be whole. */
static inline AVX2 __m256i nh_load_unit(const uint8_t *at, size_t n)
{
    uint64_t word[2];

    if (n >= RELIABLE_NH_UNIT)
        return _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)at));
    reliable_nh_last(word, at, n);
    return _mm256_set_epi64x(0, 0, (int64_t)word[1], (int64_t)word[0]);
}

static AVX2 void nh_avx2_hash(uint64_t sum[2], const uint8_t *key, const uint8_t *at, size_t n)
{
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;

    for (; n >= STEP; n -= STEP, at += STEP, key += STEP) {
        const __m256i x = nh_load(at), y = nh_load(at + VECTOR);

        a = nh_pairs(a, x, key);
        b = nh_pairs(b, x, key + RELIABLE_NH_UNIT);
        c = nh_pairs(c, y, key + VECTOR);
        d = nh_pairs(d, y, key + VECTOR + RELIABLE_NH_UNIT);
    }
    while (n > 0) {
        const size_t bytes = n < RELIABLE_NH_UNIT ? n : (size_t)RELIABLE_NH_UNIT;
        const __m256i x = nh_load_unit(at, n);

        a = nh_unit_pairs(a, x, key);
        b = nh_unit_pairs(b, x, key + RELIABLE_NH_UNIT);
        at += bytes;
        key += bytes;
        n -= bytes;
    }
    sum[0] += nh_add_up(_mm256_add_epi64(a, c));
    sum[1] += nh_add_up(_mm256_add_epi64(b, d));
}

static bool nh_avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct reliable_nh reliable_nh_avx2 = {
    .name = "avx2",
    .runs_here = nh_avx2_runs_here,
    .hash = nh_avx2_hash,
};
#endif
