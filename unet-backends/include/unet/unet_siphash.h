/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_siphash.h - SipHash-2-4, a keyed hash of 64 bits (Aumasson and Bernstein, 2012).
 *
 * Who does not know the key cannot make the hash of a message other than by guessing,
 * once in 2^64 tries.  Words are read as they lie in memory, which unet_abi.h knows to be
 * little-endian.
 */
#ifndef UNET_SIPHASH_H
#define UNET_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unet/unet_abi.h>

struct unet_sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t unet_sip_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void unet_sip_round(struct unet_sip *s)
{
    s->v0 += s->v1;
    s->v1 = unet_sip_rotate(s->v1, 13) ^ s->v0;
    s->v0 = unet_sip_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = unet_sip_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = unet_sip_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = unet_sip_rotate(s->v1, 17) ^ s->v2;
    s->v2 = unet_sip_rotate(s->v2, 32);
}

static inline void unet_sip_absorb(struct unet_sip *s, uint64_t word)
{
    s->v3 ^= word;
    unet_sip_round(s);
    unet_sip_round(s);
    s->v0 ^= word;
}

/* The n & 7 bytes left over, and in the top byte n itself. */
static inline uint64_t unet_sip_last(const uint8_t *rest, size_t n)
{
    uint8_t bytes[8] = {0};
    uint64_t word;

    memcpy(bytes, rest, n & 7);
    bytes[7] = (uint8_t)n;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static inline struct unet_sip unet_sip_begin(const uint64_t key[2])
{
    return (struct unet_sip){
        key[0] ^ 0x736f6d6570736575u,
        key[1] ^ 0x646f72616e646f6du,
        key[0] ^ 0x6c7967656e657261u,
        key[1] ^ 0x7465646279746573u,
    };
}

/* `last` has what unet_sip_last makes. */
static inline uint64_t unet_sip_end(struct unet_sip *s, uint64_t last)
{
    unet_sip_absorb(s, last);
    s->v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        unet_sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline uint64_t unet_siphash(const uint64_t key[2], const void *data, size_t n)
{
    const uint8_t *at = (const uint8_t *)data;
    const uint8_t *const rest = at + (n & ~(size_t)7);
    struct unet_sip s = unet_sip_begin(key);

    for (; at < rest; at += 8) {
        uint64_t word;

        memcpy(&word, at, sizeof(word));
        unet_sip_absorb(&s, word);
    }
    return unet_sip_end(&s, unet_sip_last(rest, n));
}

#endif
