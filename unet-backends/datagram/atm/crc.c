/* SPDX-License-Identifier: BSD-3-Clause
 *
 * crc.c - CRC-32 and HEC by tables, and which CRC-32 this machine takes.
 */
#include "datagram/atm/aal5.h"

#include <pthread.h>

enum { SLICES = 8, HEC_SLICES = 4 };

static const uint32_t crc_polynomial = 0x04c11db7;
static const uint8_t hec_polynomial = 0x07;
static const uint8_t hec_coset = 0x55; /* so that a line of zeros is no line of cells */

/* [k][i]: what a byte i leaves that k zero bytes follow. */
static uint32_t crc_table[SLICES][256];
static uint8_t hec_table[HEC_SLICES][256];

static uint32_t (*crc_chosen)(uint32_t state, const void *bytes, size_t length);
static pthread_once_t initialised = PTHREAD_ONCE_INIT;

static uint32_t crc_of_byte(uint32_t byte)
{
    uint32_t crc = byte << 24;

    for (int bit = 0; bit < 8; bit++)
        crc = crc << 1 ^ (crc >> 31 ? crc_polynomial : 0);
    return crc;
}

static uint8_t hec_of_byte(uint8_t hec)
{
    for (int bit = 0; bit < 8; bit++)
        hec = (uint8_t)(hec << 1 ^ (hec >> 7 ? hec_polynomial : 0));
    return hec;
}

static void aal5_init(void)
{
    for (unsigned i = 0; i < 256; i++) {
        crc_table[0][i] = crc_of_byte(i);
        hec_table[0][i] = hec_of_byte((uint8_t)i);
    }
    for (unsigned k = 1; k < SLICES; k++)
        for (unsigned i = 0; i < 256; i++) {
            const uint32_t before = crc_table[k - 1][i];

            crc_table[k][i] = before << 8 ^ crc_table[0][before >> 24];
        }
    for (unsigned k = 1; k < HEC_SLICES; k++)
        for (unsigned i = 0; i < 256; i++)
            hec_table[k][i] = hec_table[0][hec_table[k - 1][i]];
    crc_chosen = unet_aal5_has_clmul() ? unet_aal5_crc_clmul : unet_aal5_crc_slices;
}

void unet_aal5_init(void)
{
    pthread_once(&initialised, aal5_init);
}

uint32_t unet_aal5_crc_bytes(uint32_t state, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    while (length-- > 0)
        state = state << 8 ^ crc_table[0][state >> 24 ^ *at++];
    return state;
}

static uint32_t big_endian_word(const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return __builtin_bswap32(word);
}

uint32_t unet_aal5_crc_word(uint32_t state, uint32_t word)
{
    state ^= word;
    return crc_table[3][state >> 24] ^ crc_table[2][state >> 16 & 255] ^
           crc_table[1][state >> 8 & 255] ^ crc_table[0][state & 255];
}

uint32_t unet_aal5_crc_slices(uint32_t state, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    for (; length >= SLICES; length -= SLICES, at += SLICES) {
        const uint32_t a = state ^ big_endian_word(at), b = big_endian_word(at + 4);

        state = crc_table[7][a >> 24] ^ crc_table[6][a >> 16 & 255] ^ crc_table[5][a >> 8 & 255] ^
                crc_table[4][a & 255] ^ crc_table[3][b >> 24] ^ crc_table[2][b >> 16 & 255] ^
                crc_table[1][b >> 8 & 255] ^ crc_table[0][b & 255];
    }
    if (length >= 4) {
        state = unet_aal5_crc_word(state, big_endian_word(at));
        at += 4, length -= 4;
    }
    return unet_aal5_crc_bytes(state, at, length);
}

uint32_t unet_aal5_crc(uint32_t state, const void *bytes, size_t length)
{
    return crc_chosen(state, bytes, length);
}

uint8_t unet_atm_hec(uint32_t header)
{
    return hec_coset ^ hec_table[3][header >> 24] ^ hec_table[2][header >> 16 & 255] ^
           hec_table[1][header >> 8 & 255] ^ hec_table[0][header & 255];
}
