/* SPDX-License-Identifier: BSD-3-Clause
 *
 * crc_clmul.c - CRC-32 by carry-less multiplication (Gopal and others, "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction", 2009).
 *
 * A block of 16 bytes is a polynomial over GF(2), its first bit the highest power.  Moving it n
 * bits ahead multiplies it by x^n; modulo P its halves may be multiplied by x^(n+64) and x^n modulo
 * P instead, which have 32 bits.  So the bytes are folded into one block, and that into 32 bits.
 */
#include "datagram/atm/aal5.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CLMUL __attribute__((target("pclmul,ssse3,sse4.1")))
#define CLMUL_INLINE CLMUL __attribute__((always_inline)) static inline

/* x^n modulo P. */
static const uint64_t x64 = 0x490d678d, x96 = 0xf200aa66, x128 = 0xe8a45605, x192 = 0xc5b9cd4c,
                      x512 = 0xe6228b11, x576 = 0x8833794c;
static const uint64_t polynomial = 0x104c11db7, inverse = 0x104d101df; /* x^64 divided by P */

enum { BLOCK = 16, AHEAD = 4 * BLOCK };

bool unet_aal5_has_clmul(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

/* The bytes of a register in the other order. */
CLMUL_INLINE __m128i block_swap(__m128i block)
{
    return _mm_shuffle_epi8(block,
                            _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

CLMUL_INLINE __m128i block_load(const uint8_t *bytes)
{
    return block_swap(_mm_loadu_si128((const __m128i *)bytes));
}

/* `powers` has x^(n+64) above x^n. */
CLMUL_INLINE __m128i block_ahead(__m128i block, __m128i powers)
{
    return _mm_xor_si128(_mm_clmulepi64_si128(block, powers, 0x11),
                         _mm_clmulepi64_si128(block, powers, 0x00));
}

/* Multiplied by x^(8 * count), beyond the block if count is negative. */
CLMUL_INLINE __m128i block_shift(__m128i block, int count)
{
    static const int8_t index[3 * BLOCK] = {
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    };

    return _mm_shuffle_epi8(block, _mm_loadu_si128((const __m128i *)(index + BLOCK - count)));
}

/* block * x^32 modulo P, the last step by Barrett's reduction. */
CLMUL_INLINE uint32_t block_reduce(__m128i block)
{
    const __m128i powers = _mm_set_epi64x((long long)x96, (long long)x64);
    const __m128i barrett = _mm_set_epi64x((long long)polynomial, (long long)inverse);
    const __m128i low = _mm_set_epi64x(0, -1);
    __m128i bits, quotient;

    bits = _mm_xor_si128(_mm_clmulepi64_si128(block, powers, 0x11),
                         _mm_slli_si128(_mm_and_si128(block, low), 4)); /* 96 */
    bits = _mm_xor_si128(_mm_clmulepi64_si128(_mm_srli_si128(bits, 8), powers, 0x00),
                         _mm_and_si128(bits, low)); /* 64 */
    quotient = _mm_clmulepi64_si128(_mm_srli_epi64(bits, 32), barrett, 0x00);
    quotient = _mm_clmulepi64_si128(_mm_srli_epi64(quotient, 32), barrett, 0x10);
    return (uint32_t)_mm_cvtsi128_si32(_mm_xor_si128(bits, quotient));
}

/* The blocks of `*bytes` up to less than AHEAD bytes, four at a time, and the one in front. */
CLMUL_INLINE __m128i fold_four(__m128i front, const uint8_t **bytes, size_t *length)
{
    const __m128i far = _mm_set_epi64x((long long)x576, (long long)x512);
    const __m128i near = _mm_set_epi64x((long long)x192, (long long)x128);
    const uint8_t *at = *bytes;
    __m128i a = front, b = block_load(at), c = block_load(at + 16), d = block_load(at + 32);
    size_t left = *length - 3 * BLOCK;

    for (at += 3 * BLOCK; left >= AHEAD; left -= AHEAD, at += AHEAD) {
        a = _mm_xor_si128(block_ahead(a, far), block_load(at));
        b = _mm_xor_si128(block_ahead(b, far), block_load(at + 16));
        c = _mm_xor_si128(block_ahead(c, far), block_load(at + 32));
        d = _mm_xor_si128(block_ahead(d, far), block_load(at + 48));
    }
    *bytes = at;
    *length = left;
    a = _mm_xor_si128(block_ahead(a, near), b);
    a = _mm_xor_si128(block_ahead(a, near), c);
    return _mm_xor_si128(block_ahead(a, near), d);
}

/* Bytes that do not fill a block come first, behind zeros, which add nothing.  The state is added
 * to the first four bytes; of those, some may be in the second block. */
CLMUL uint32_t unet_aal5_crc_clmul(uint32_t state, const void *bytes, size_t length)
{
    const __m128i near = _mm_set_epi64x((long long)x192, (long long)x128);
    const __m128i start = _mm_set_epi32((int)state, 0, 0, 0);
    const int odd = (int)(length % BLOCK);
    const uint8_t *at = bytes;
    __m128i sum, second = _mm_setzero_si128();

    if (length < BLOCK)
        return unet_aal5_crc_slices(state, bytes, length);
    sum = _mm_xor_si128(block_load(at), start);
    if (odd > 0) {
        sum = block_shift(sum, odd - BLOCK);
        second = block_shift(start, odd);
        at += odd, length -= (size_t)odd;
        sum = _mm_xor_si128(block_ahead(sum, near), _mm_xor_si128(block_load(at), second));
    }
    at += BLOCK, length -= BLOCK;
    if (length >= 3 * BLOCK + AHEAD)
        sum = fold_four(sum, &at, &length);
    for (; length >= BLOCK; length -= BLOCK, at += BLOCK)
        sum = _mm_xor_si128(block_ahead(sum, near), block_load(at));
    return block_reduce(sum);
}

#else

bool unet_aal5_has_clmul(void)
{
    return false;
}

uint32_t unet_aal5_crc_clmul(uint32_t state, const void *bytes, size_t length)
{
    return unet_aal5_crc_slices(state, bytes, length);
}

#endif
