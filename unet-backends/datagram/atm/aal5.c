/* SPDX-License-Identifier: BSD-3-Clause
 *
 * aal5.c - segmentation and reassembly.
 */
#include "datagram/atm/aal5.h"

#include <errno.h>

/* ---- segmentation --------------------------------------------------------------- */

/* Where the next byte of a PDU goes.  The CRC-32 is computed where the bytes come from: reading
 * them in the cell, just behind the stores, would wait for those. */
struct cutter {
    uint8_t *payload; /* of the cell that is being filled */
    size_t filled;    /* bytes there, less than ATM_PAYLOAD */
    uint32_t big;     /* the header, as it lies in memory */
    uint8_t hec;
    uint32_t crc;
};

static inline void cutter_begin_cell(struct cutter *c, uint8_t *cell)
{
    memcpy(cell, &c->big, sizeof c->big);
    cell[sizeof c->big] = c->hec;
    c->payload = cell + ATM_HEADER;
    c->filled = 0;
}

/* U-Net's word in front of a message is a piece of its own. */
static inline uint32_t crc_add(uint32_t crc, const uint8_t *bytes, size_t length)
{
    uint32_t word;

    if (length != sizeof word)
        return unet_aal5_crc(crc, bytes, length);
    memcpy(&word, bytes, sizeof word);
    return unet_aal5_crc_word(crc, __builtin_bswap32(word));
}

static inline void cutter_add(struct cutter *c, const uint8_t *bytes, size_t length)
{
    const size_t room = ATM_PAYLOAD - c->filled;

    c->crc = crc_add(c->crc, bytes, length);
    if (length < room) {
        memcpy(c->payload + c->filled, bytes, length);
        c->filled += length;
        return;
    }
    memcpy(c->payload + c->filled, bytes, room);
    bytes += room, length -= room;
    cutter_begin_cell(c, c->payload + ATM_PAYLOAD);
    for (; length >= ATM_PAYLOAD; bytes += ATM_PAYLOAD, length -= ATM_PAYLOAD) {
        memcpy(c->payload, bytes, ATM_PAYLOAD);
        cutter_begin_cell(c, c->payload + ATM_PAYLOAD);
    }
    memcpy(c->payload, bytes, length);
    c->filled = length;
}

static const uint8_t zeros[ATM_PAYLOAD];

/* Zeros up to the trailer, which may need a cell of its own. */
static inline void cutter_pad(struct cutter *c)
{
    if (c->filled > AAL5_LONE_MOST)
        cutter_add(c, zeros, ATM_PAYLOAD - c->filled);
    if (c->filled < AAL5_LONE_MOST)
        cutter_add(c, zeros, AAL5_LONE_MOST - c->filled);
}

/* The header's ATM_LAST is 0 so far.  An HEC is linear, so it changes by what that bit adds. */
static inline void cutter_mark_last(const struct cutter *c)
{
    const uint32_t big = c->big | __builtin_bswap32(ATM_LAST);
    uint8_t *cell = c->payload - ATM_HEADER;

    memcpy(cell, &big, sizeof big);
    cell[sizeof big] = c->hec ^ ATM_LAST_HEC;
}

static inline void cutter_end(struct cutter *c, uint8_t uu, size_t length)
{
    const uint32_t what = (uint32_t)uu << 24 | (uint32_t)length;
    const uint32_t crc = ~unet_aal5_crc_word(c->crc, what);
    const uint64_t big = __builtin_bswap64((uint64_t)what << 32 | crc);

    memcpy(c->payload + AAL5_LONE_MOST, &big, sizeof big);
    cutter_mark_last(c);
}

size_t unet_aal5_cut(uint8_t *cells, uint32_t header, uint8_t uu, const struct iovec *iov,
                     size_t pieces, size_t length)
{
    struct cutter c = {
        .big = __builtin_bswap32(header), .hec = unet_atm_hec(header), .crc = ~UINT32_C(0)};

    cutter_begin_cell(&c, cells);
    for (size_t i = 0; i < pieces; i++)
        cutter_add(&c, iov[i].iov_base, iov[i].iov_len);
    cutter_pad(&c);
    cutter_end(&c, uu, length);
    return unet_aal5_cells(length);
}

/* ---- reassembly ------------------------------------------------------------------- */

static int pdu_check(const uint8_t *bytes, uint32_t room, struct aal5_pdu *pdu)
{
    const uint8_t *trailer = bytes + room - AAL5_TRAILER;
    const uint32_t length = (uint32_t)trailer[2] << 8 | trailer[3];

    if (unet_aal5_crc(~UINT32_C(0), bytes, room) != AAL5_RESIDUE)
        return -EBADMSG;
    if (unet_aal5_cells(length) * ATM_PAYLOAD != room)
        return -EPROTO;
    if (length == 0)
        return -ECANCELED;
    *pdu = (struct aal5_pdu){.bytes = bytes, .length = length, .uu = trailer[0]};
    return 1;
}

static int pdu_skipped(struct aal5_reassembly *in, bool last)
{
    in->skipping = !last;
    in->used = 0;
    return last ? -EMSGSIZE : 0;
}

int unet_aal5_take(struct aal5_reassembly *in, const uint8_t *payload, bool last,
                   struct aal5_pdu *pdu)
{
    uint32_t room;

    if (in->used == 0 && last && !in->skipping)
        return pdu_check(payload, ATM_PAYLOAD, pdu);
    if (in->skipping || !in->buffer || in->used == AAL5_ROOM)
        return pdu_skipped(in, last);
    memcpy(in->buffer + in->used, payload, ATM_PAYLOAD);
    in->used += ATM_PAYLOAD;
    if (!last)
        return 0;
    room = in->used;
    in->used = 0;
    return pdu_check(in->buffer, room, pdu);
}
