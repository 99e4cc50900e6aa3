/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nh.c - NH in plain C, and which variant is the best.
 */
#include "nh.h"
#include <string.h>

static inline uint64_t nh_pair(uint64_t m, uint64_t k)
{
    return (uint64_t)(uint32_t)((uint32_t)m + (uint32_t)k) *
           (uint32_t)((uint32_t)(m >> 32) + (uint32_t)(k >> 32));
}

static inline void nh_unit(uint64_t sum[2], const uint8_t *key, const uint64_t m[2])
{
    uint64_t k[4];

    memcpy(k, key, sizeof(k));
    sum[0] += nh_pair(m[0], k[0]) + nh_pair(m[1], k[1]);
    sum[1] += nh_pair(m[0], k[2]) + nh_pair(m[1], k[3]);
}

static void nh_plain_hash(uint64_t sum[2], const uint8_t *key, const uint8_t *at, size_t n)
{
    uint64_t m[2];

    for (; n >= sizeof(m); n -= sizeof(m), key += sizeof(m), at += sizeof(m)) {
        memcpy(m, at, sizeof(m));
        nh_unit(sum, key, m);
    }
    if (n > 0) {
        reliable_nh_last(m, at, n);
        nh_unit(sum, key, m);
    }
}

static bool nh_runs_everywhere(void)
{
    return true;
}

static const struct reliable_nh nh_plain = {
    .name = "plain",
    .runs_here = nh_runs_everywhere,
    .hash = nh_plain_hash,
};

const struct reliable_nh *const reliable_nh_variants[] = {
#if defined(__x86_64__)
    &reliable_nh_avx2,
#elif defined(__aarch64__)
    &reliable_nh_neon,
#endif
    &nh_plain,
    NULL,
};

const struct reliable_nh *reliable_nh_best(void)
{
    const struct reliable_nh *const *variant = reliable_nh_variants;

    while (!(*variant)->runs_here())
        variant++;
    return *variant;
}
