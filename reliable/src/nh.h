/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nh.h - NH, the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz and Rogaway, 1999), on
 * 32-bit words and in two passes, as Adiantum has it in four.
 *
 * A unit of 16 bytes has the words m0 .. m3.  With the key's words k0 .. k3 at the same distance
 * from its beginning, a pass adds (m0 + k0)(m1 + k1) + (m2 + k2)(m3 + k3) to its 64-bit sum, where
 * the sums in brackets are mod 2^32.  The second pass does the same with the key's words one unit
 * further on (Toeplitz).  Two texts of one length collide in one pass with a chance of 2^-32 and in
 * both with 2^-64.
 *
 * Every variant computes the same sums; a processor runs some of them.
 */
#ifndef RELIABLE_NH_H
#define RELIABLE_NH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RELIABLE_NH_UNIT = 16 }; /* bytes */

/* `hash` adds to `sum` what the two passes make of n bytes, as if these were filled up with
 * zeros to whole units; the key has to have one unit more than that. */
struct reliable_nh {
    const char *name;
    bool (*runs_here)(void);
    void (*hash)(uint64_t sum[2], const uint8_t *key, const uint8_t *at, size_t n);
};

/* For variants: the 64-bit words of a last unit of n bytes, 0 < n < 16. */
static inline void reliable_nh_last(uint64_t word[2], const uint8_t *at, size_t n)
{
    word[0] = word[1] = 0;
    if (n < 8) {
        memcpy(word, at, n);
        return;
    }
    memcpy(word, at, 8);
    if (n > 8)
        memcpy(word + 1, at + 8, n - 8);
}

/* All variants that were compiled in, the fastest first and plain C, which runs everywhere, last;
 * NULL behind it. */
extern const struct reliable_nh *const reliable_nh_variants[];

/* The first of them that this processor runs. */
const struct reliable_nh *reliable_nh_best(void);

#if defined(__x86_64__)
extern const struct reliable_nh reliable_nh_avx2;
#elif defined(__aarch64__)
extern const struct reliable_nh reliable_nh_neon;
#endif

#ifdef __cplusplus
}
#endif
#endif
