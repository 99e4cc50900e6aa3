/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mac.c - the keyed hash of a packet.
 */
#include "mac.h"

enum { PAIR = 16 }; /* bytes that one multiplication takes */

typedef unsigned __int128 sum_t;

void reliable_mac_open(struct reliable_mac *mac, const uint64_t key[2])
{
    mac->key[0] = key[0];
    mac->key[1] = key[1];
    for (uint64_t i = 0; i < RELIABLE_MAC_BLOCK / 8; i++) {
        const uint64_t input[] = {i, 0}; /* of a length that nothing else under this key has */

        mac->nh[i] = unet_siphash(key, input, sizeof(input));
    }
}

static inline sum_t pair(const uint64_t *key, const uint8_t *at)
{
    uint64_t word[2];

    memcpy(word, at, sizeof(word));
    return (sum_t)(word[0] + key[0]) * (word[1] + key[1]);
}

/* Of at most a block, as if filled up with zeros to whole pairs. */
static sum_t nh(const uint64_t *key, const uint8_t *at, size_t length)
{
    uint8_t rest[PAIR] = {0};
    sum_t sum = 0;

    for (; length >= PAIR; length -= PAIR, at += PAIR, key += 2)
        sum += pair(key, at);
    if (length > 0) {
        memcpy(rest, at, length);
        sum += pair(key, rest);
    }
    return sum;
}

static void absorb_header(struct unet_sip *s, const struct reliable_packet *packet)
{
    uint64_t word[sizeof(*packet) / 8];

    memcpy(word, packet, sizeof(word));
    for (size_t i = 1; i < sizeof(word) / sizeof(*word); i++) /* word 0 is `mac` */
        unet_sip_absorb(s, word[i]);
}

static void absorb_text(struct unet_sip *s, const struct reliable_mac *mac, const uint8_t *at,
                        size_t left)
{
    while (left > 0) {
        const size_t n = left < RELIABLE_MAC_BLOCK ? left : RELIABLE_MAC_BLOCK;
        const sum_t sum = nh(mac->nh, at, n);

        unet_sip_absorb(s, (uint64_t)sum);
        unet_sip_absorb(s, (uint64_t)(sum >> 64));
        at += n;
        left -= n;
    }
}

/* The closing word has room for what the packet does not say. */
uint64_t reliable_mac_packet(const struct reliable_mac *mac, const struct reliable_packet *packet,
                             uint64_t ack, size_t length)
{
    struct unet_sip s = unet_sip_begin(mac->key);

    absorb_header(&s, packet);
    absorb_text(&s, mac, (const uint8_t *)(packet + 1), length - sizeof(*packet));
    return unet_sip_end(&s, ack >> 32 << 32 | length);
}

uint64_t reliable_mac_memory(const struct reliable_mac *mac, uint64_t grant, const void *data,
                             size_t n)
{
    const uint64_t header[] = {grant, n, 0, 0}; /* where a packet has its version: none's */
    struct unet_sip s = unet_sip_begin(mac->key);

    for (size_t i = 0; i < sizeof(header) / sizeof(*header); i++)
        unet_sip_absorb(&s, header[i]);
    absorb_text(&s, mac, data, n);
    return unet_sip_end(&s, n);
}
