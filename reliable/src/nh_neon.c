/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nh_neon.c - NH with NEON, which every AArch64 has.
 */
#include "nh.h"

#if defined(__aarch64__)
#include <arm_neon.h>

enum { STEP = 2 * RELIABLE_NH_UNIT }; /* bytes */

static inline uint64x2_t nh_pairs(uint64x2_t sum, uint8x16_t m, const uint8_t *key)
{
    const uint64x2_t s = vreinterpretq_u64_u32(
        vaddq_u32(vreinterpretq_u32_u8(m), vreinterpretq_u32_u8(vld1q_u8(key))));

    return vmlal_u32(sum, vmovn_u64(s), vshrn_n_u64(s, 32));
}

/* The unit at the end that may not be whole. */
static inline uint8x16_t nh_load_unit(const uint8_t *at, size_t n)
{
    uint64_t word[2];

    if (n >= RELIABLE_NH_UNIT)
        return vld1q_u8(at);
    reliable_nh_last(word, at, n);
    return vreinterpretq_u8_u64(vld1q_u64(word));
}

static void nh_neon_hash(uint64_t sum[2], const uint8_t *key, const uint8_t *at, size_t n)
{
    uint64x2_t a = vdupq_n_u64(0), b = a, c = a, d = a;

    for (; n >= STEP; n -= STEP, at += STEP, key += STEP) {
        const uint8x16_t x = vld1q_u8(at), y = vld1q_u8(at + RELIABLE_NH_UNIT);

        a = nh_pairs(a, x, key);
        b = nh_pairs(b, x, key + RELIABLE_NH_UNIT);
        c = nh_pairs(c, y, key + RELIABLE_NH_UNIT);
        d = nh_pairs(d, y, key + STEP);
    }
    while (n > 0) {
        const size_t bytes = n < RELIABLE_NH_UNIT ? n : (size_t)RELIABLE_NH_UNIT;
        const uint8x16_t x = nh_load_unit(at, n);

        a = nh_pairs(a, x, key);
        b = nh_pairs(b, x, key + RELIABLE_NH_UNIT);
        at += bytes;
        key += bytes;
        n -= bytes;
    }
    sum[0] += vaddvq_u64(vaddq_u64(a, c));
    sum[1] += vaddvq_u64(vaddq_u64(b, d));
}

static bool nh_neon_runs_here(void)
{
    return true;
}

const struct reliable_nh reliable_nh_neon = {
    .name = "neon",
    .runs_here = nh_neon_runs_here,
    .hash = nh_neon_hash,
};
#endif
