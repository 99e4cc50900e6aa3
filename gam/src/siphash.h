/* SPDX-License-Identifier: BSD-3-Clause
 *
 * siphash.h - SipHash-2-4, a keyed hash of 64 bits (Aumasson and Bernstein, 2012).
 *
 * Who does not know the key cannot make the hash of a message other than by guessing,
 * once in 2^64 tries.
 */
#ifndef GAM_SIPHASH_H
#define GAM_SIPHASH_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gam_sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t gam_sip_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void gam_sip_round(struct gam_sip *s)
{
    s->v0 += s->v1;
    s->v1 = gam_sip_rotate(s->v1, 13) ^ s->v0;
    s->v0 = gam_sip_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = gam_sip_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = gam_sip_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = gam_sip_rotate(s->v1, 17) ^ s->v2;
    s->v2 = gam_sip_rotate(s->v2, 32);
}

static inline void gam_sip_absorb(struct gam_sip *s, uint64_t word)
{
    s->v3 ^= word;
    gam_sip_round(s);
    gam_sip_round(s);
    s->v0 ^= word;
}

/* The n & 7 bytes left over, and in the top byte n itself. */
static inline uint64_t gam_sip_last(const uint8_t *rest, size_t n)
{
    uint8_t bytes[8] = {0};
    uint64_t word;

    memcpy(bytes, rest, n & 7);
    bytes[7] = (uint8_t)n;
    memcpy(&word, bytes, sizeof(word));
    return le64toh(word);
}

static inline struct gam_sip gam_sip_begin(const uint64_t key[2])
{
    return (struct gam_sip){
        key[0] ^ 0x736f6d6570736575u,
        key[1] ^ 0x646f72616e646f6du,
        key[0] ^ 0x6c7967656e657261u,
        key[1] ^ 0x7465646279746573u,
    };
}

/* `last` has what gam_sip_last makes. */
static inline uint64_t gam_sip_end(struct gam_sip *s, uint64_t last)
{
    gam_sip_absorb(s, last);
    s->v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        gam_sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline uint64_t gam_siphash(const uint64_t key[2], const void *data, size_t n)
{
    const uint8_t *at = (const uint8_t *)data;
    const uint8_t *const rest = at + (n & ~(size_t)7);
    struct gam_sip s = gam_sip_begin(key);

    for (; at < rest; at += 8) {
        uint64_t word;

        memcpy(&word, at, sizeof(word));
        gam_sip_absorb(&s, le64toh(word));
    }
    return gam_sip_end(&s, gam_sip_last(rest, n));
}

#endif
