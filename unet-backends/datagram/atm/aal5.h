/* SPDX-License-Identifier: BSD-3-Clause
 *
 * aal5.h - ATM adaptation layer 5 (ITU-T I.363.5) over ATM cells (I.361), in software.
 *
 * A cell has 5 bytes of header, the last of them the header error control (HEC, I.432.1), and 48 of
 * payload.  A PDU is the user's bytes, 0 to 47 zero bytes, and a trailer of 8 bytes, which ends
 * with its last cell:
 *
 *   byte 40     41    42 43     44 .. 47
 *        UU     CPI   length    CRC-32      (big-endian)
 *
 *   crc.c        CRC-32 and HEC by tables, and which CRC-32 this machine takes
 *   crc_clmul.c  CRC-32 by carry-less multiplication
 *   aal5.c       segmentation and reassembly
 */
#ifndef UNET_AAL5_H
#define UNET_AAL5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

enum {
    ATM_CELL = 53,
    ATM_HEADER = 5,
    ATM_PAYLOAD = 48,
    ATM_VPI_MOST = 4095, /* at a network-node interface, which has no flow control bits */
    ATM_VCI_MOST = 65535,
    ATM_VCI_USER = 32, /* the first that is not reserved */
    AAL5_TRAILER = 8,
    AAL5_LONE_MOST = ATM_PAYLOAD - AAL5_TRAILER, /* bytes in a PDU of one cell */
    AAL5_MOST = 65535,
    AAL5_CELLS_MOST = (AAL5_MOST + AAL5_TRAILER + ATM_PAYLOAD - 1) / ATM_PAYLOAD,
    ATM_PACKET_BYTES = 4160, /* where the layer above cuts: of 87 cells one is lost seldom enough */
    AAL5_ROOM = AAL5_CELLS_MOST * ATM_PAYLOAD, /* bytes of the longest PDU, with its trailer */
};

/* The first four bytes of a cell's header as one number. */
#define ATM_LAST 0x2u  /* in a cell of user data: the last one of its PDU (payload type, bit 0) */
#define ATM_OTHER 0x8u /* no cell of user data, but of operation and maintenance */
#define ATM_LAST_HEC 0x0eu /* what ATM_LAST adds to the HEC: x^8 * x modulo x^8 + x^2 + x + 1 */

/* Of cells that carry user data, not the last one of their PDU. */
static inline uint32_t atm_header(uint32_t vpi, uint32_t vci)
{
    return vpi << 20 | vci << 4;
}

static inline uint32_t atm_vpi(uint32_t header)
{
    return header >> 20;
}

static inline uint32_t atm_vci(uint32_t header)
{
    return header >> 4 & 0xffff;
}

/* ---- crc.c ---------------------------------------------------------------------- */

/* Prepare the tables and choose a CRC-32; once before any other function here, in any thread, again
 * as often as one likes. */
void unet_aal5_init(void);

/* CRC-32 of I.363.5: x^32 + x^26 + ... + 1, most significant bit first.  `state` is ~0 at the
 * beginning, and the complement of the last one is what a trailer has. */
uint32_t unet_aal5_crc(uint32_t state, const void *bytes, size_t length);

/* The same of four bytes, the first of them the highest of the word. */
uint32_t unet_aal5_crc_word(uint32_t state, uint32_t word);

/* The state after a PDU with its trailer if nothing was altered. */
#define AAL5_RESIDUE 0xc704dd7bu

/* The ways to compute it, for tests.  clmul: only if unet_aal5_has_clmul(). */
uint32_t unet_aal5_crc_bytes(uint32_t state, const void *bytes, size_t length);
uint32_t unet_aal5_crc_slices(uint32_t state, const void *bytes, size_t length);
uint32_t unet_aal5_crc_clmul(uint32_t state, const void *bytes, size_t length);
bool unet_aal5_has_clmul(void);

/* The fifth byte of a header. */
uint8_t unet_atm_hec(uint32_t header);

static inline void unet_atm_write_header(uint8_t *cell, uint32_t header)
{
    const uint32_t big = __builtin_bswap32(header);

    memcpy(cell, &big, sizeof big);
    cell[sizeof big] = unet_atm_hec(header);
}

/* The header of a cell.  False: its HEC is another. */
static inline bool unet_atm_read_header(const uint8_t *cell, uint32_t *header)
{
    uint32_t big;

    memcpy(&big, cell, sizeof big);
    *header = __builtin_bswap32(big);
    return cell[sizeof big] == unet_atm_hec(*header);
}

/* ---- aal5.c --------------------------------------------------------------------- */

static inline size_t unet_aal5_cells(size_t length)
{
    return (length + AAL5_TRAILER + ATM_PAYLOAD - 1) / ATM_PAYLOAD;
}

/* Segmentation: write the cells of a PDU of `length` (1 .. AAL5_MOST) bytes, which lie in those
 * pieces, to `cells`, one behind the other.  `header` is atm_header of its channel, `uu` travels
 * with it.  Returns the number of cells, unet_aal5_cells(length). */
size_t unet_aal5_cut(uint8_t *cells, uint32_t header, uint8_t uu, const struct iovec *iov,
                     size_t pieces, size_t length);

/* Reassembly of what comes by one channel.  Zeroed memory is one that has seen nothing. */
struct aal5_reassembly {
    uint8_t *buffer; /* of AAL5_ROOM bytes; NULL: there is none, PDUs of several cells are lost */
    uint32_t used;
    bool skipping; /* until a last cell comes */
};

struct aal5_pdu {
    const uint8_t *bytes; /* in the cell or in the buffer: until the next cell is taken */
    uint32_t length;
    uint8_t uu;
};

/* Take the payload of the next cell.  Returns 1 if a PDU is complete and as it was sent, 0 if it
 * goes on, or that a PDU has ended here which cannot be used: -EBADMSG its CRC-32 is wrong, -EPROTO
 * its length is not that of so many cells, -EMSGSIZE it is longer than any, or there is no buffer,
 * -ECANCELED its sender has given it up (length 0). */
int unet_aal5_take(struct aal5_reassembly *in, const uint8_t *payload, bool last,
                   struct aal5_pdu *pdu);

#endif
