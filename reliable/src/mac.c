/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mac.c - the keyed hash of a packet.
 */
#include "mac.h"

enum {
    PAIR = 16,       /* bytes that one multiplication of a short text takes */
    AUTH_SHIFT = 24, /* of the mode in the closing word, above any length */
};

typedef unsigned __int128 sum_t;

void reliable_mac_open(struct reliable_mac *mac, const uint64_t key[2], enum reliable_auth auth)
{
    const uint64_t pass[] = {0, 1}; /* of a length that nothing else under this key has, as below */

    mac->key[0] = key[0];
    mac->key[1] = key[1];
    mac->auth = auth;
    mac->variant = reliable_nh_best();
    mac->pass = unet_siphash(key, pass, sizeof(pass));
    for (uint64_t i = 0; i < sizeof(mac->nh) / sizeof(*mac->nh); i++) {
        const uint64_t input[] = {i, 0};

        mac->nh[i] = unet_siphash(key, input, sizeof(input));
    }
}

/* ---- short texts ------------------------------------------------------------------------- */

static inline uint64_t load_word(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

/* Fewer than 8 bytes, filled up with zeros. */
static inline uint64_t load_part(const uint8_t *at, size_t n)
{
    uint64_t word = 0;

    if (n > 0)
        memcpy(&word, at, n);
    return word;
}

static inline sum_t short_pair(const uint64_t *key, uint64_t one, uint64_t other)
{
    return (sum_t)(one + key[0]) * (other + key[1]);
}

/* As if filled up with zeros to whole pairs. */
static inline sum_t short_sum(const uint64_t *key, const uint8_t *at, size_t length)
{
    sum_t sum = 0;

    for (; length >= PAIR; length -= PAIR, at += PAIR, key += 2)
        sum += short_pair(key, load_word(at), load_word(at + 8));
    if (length >= 8)
        sum += short_pair(key, load_word(at), load_part(at + 8, length - 8));
    else if (length > 0)
        sum += short_pair(key, load_part(at, length), 0);
    return sum;
}

/* ---- longer ones --------------------------------------------------------------------------- */

static inline void absorb_sum(struct unet_sip *s, const uint64_t sum[2])
{
    unet_sip_absorb(s, sum[0]);
    unet_sip_absorb(s, sum[1]);
}

static inline void absorb_short(struct unet_sip *s, const struct reliable_mac *mac,
                                const uint8_t *at, size_t length)
{
    sum_t sum;

    if (length == 0)
        return;
    sum = short_sum(mac->nh, at, length);
    unet_sip_absorb(s, (uint64_t)sum);
    unet_sip_absorb(s, (uint64_t)(sum >> 64));
}

static void absorb_text(struct unet_sip *s, const struct reliable_mac *mac, const uint8_t *at,
                        size_t left)
{
    if (left <= RELIABLE_MAC_SHORT) {
        absorb_short(s, mac, at, left);
        return;
    }
    while (left > 0) {
        const size_t n = left < RELIABLE_MAC_BLOCK ? left : (size_t)RELIABLE_MAC_BLOCK;
        uint64_t sum[2] = {0, 0};

        mac->variant->hash(sum, (const uint8_t *)mac->nh, at, n);
        absorb_sum(s, sum);
        at += n;
        left -= n;
    }
}

/* ---- packets ------------------------------------------------------------------------------- */

/* How many bytes of a text are covered. */
static inline size_t covered(const struct reliable_mac *mac, size_t length)
{
    return mac->auth == RELIABLE_AUTH_FULL || length < RELIABLE_MAC_SHORT
               ? length
               : (size_t)RELIABLE_MAC_SHORT;
}

static inline void absorb_header(struct unet_sip *s, const struct reliable_packet *packet)
{
    uint64_t word[sizeof(*packet) / 8];

    memcpy(word, packet, sizeof(word));
    for (size_t i = 1; i < sizeof(word) / sizeof(*word); i++) /* word 0 is `mac` */
        unet_sip_absorb(s, word[i]);
}

/* Has room for what the packet does not say: the mode, so that ranks of different modes refuse each
 * other's packets, and what `ack` lacks. */
static inline uint64_t closing_word(const struct reliable_mac *mac, uint64_t ack, size_t length)
{
    return ack >> 32 << 32 | (uint64_t)mac->auth << AUTH_SHIFT | length;
}

/* All that is not a short text which is covered in whole. */
static __attribute__((noinline)) uint64_t mac_other(const struct reliable_mac *mac,
                                                    const struct reliable_packet *packet,
                                                    uint64_t ack, size_t length)
{
    struct unet_sip s = unet_sip_begin(mac->key);

    if (mac->auth == RELIABLE_AUTH_OFF)
        return mac->pass;
    absorb_header(&s, packet);
    absorb_text(&s, mac, (const uint8_t *)(packet + 1), covered(mac, length - sizeof(*packet)));
    return unet_sip_end(&s, closing_word(mac, ack, length));
}

uint64_t reliable_mac_packet(const struct reliable_mac *mac, const struct reliable_packet *packet,
                             uint64_t ack, size_t length)
{
    struct unet_sip s;

    if (length > sizeof(*packet) + RELIABLE_MAC_SHORT || mac->auth == RELIABLE_AUTH_OFF)
        return mac_other(mac, packet, ack, length);
    s = unet_sip_begin(mac->key);
    absorb_header(&s, packet);
    absorb_short(&s, mac, (const uint8_t *)(packet + 1), length - sizeof(*packet));
    return unet_sip_end(&s, closing_word(mac, ack, length));
}

/* ---- memory -------------------------------------------------------------------------------- */

uint64_t reliable_mac_memory(const struct reliable_mac *mac, uint64_t grant, const void *data,
                             size_t n)
{
    /* As many words as a packet has, with 0 where that has its version. */
    const uint64_t header[sizeof(struct reliable_packet) / 8 - 1] = {grant, n};
    struct unet_sip s = unet_sip_begin(mac->key);

    for (size_t i = 0; i < sizeof(header) / sizeof(*header); i++)
        unet_sip_absorb(&s, header[i]);
    absorb_text(&s, mac, data, n);
    return unet_sip_end(&s, n);
}

/* ---- records ------------------------------------------------------------------------------- */

uint64_t reliable_mac_record(const struct reliable_mac *mac, uint32_t ranks, uint64_t number,
                             uint64_t header, const void *text, size_t n)
{
    /* As many words as a packet has, with a version that none has. */
    const uint64_t word[sizeof(struct reliable_packet) / 8 - 1] = {number, header, ranks,
                                                                   UINT64_C(0xff) << 32};
    struct unet_sip s = unet_sip_begin(mac->key);

    if (mac->auth == RELIABLE_AUTH_OFF)
        return mac->pass;
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
        unet_sip_absorb(&s, word[i]);
    absorb_text(&s, mac, text, covered(mac, n));
    return unet_sip_end(&s, (uint64_t)mac->auth << AUTH_SHIFT | n);
}
