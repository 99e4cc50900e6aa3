/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.c - PDUs of one cell, and alarms.
 */
#include "datagram/atm/cells.h"

enum {
    OAM_AIS = 0x10,   /* fault management, alarm indication */
    OAM_BLANK = 0x6a, /* in what is not used */
    CRC10_POLYNOMIAL = 0x233,
};

void unet_atm_write_lone(uint8_t *cell, uint32_t vpi, uint32_t vci, uint8_t uu, const void *bytes,
                         size_t length)
{
    const struct iovec iov = {(void *)bytes, length};

    unet_aal5_cut(cell, atm_header(vpi, vci), uu, &iov, 1, length);
}

bool unet_atm_read_lone(const uint8_t *cell, uint32_t header, struct aal5_pdu *pdu)
{
    struct aal5_reassembly in = {0};

    return (header & ATM_LAST) && !(header & ATM_OTHER) &&
           unet_aal5_take(&in, cell + ATM_HEADER, true, pdu) == 1;
}

void unet_atm_write_link(uint8_t *cell, const struct atm_link_message *message)
{
    unet_atm_write_lone(cell, 0, ATM_VCI_LINK, 0, message, sizeof *message);
}

bool unet_atm_read_link(const uint8_t *cell, uint32_t header, struct atm_link_message *message)
{
    struct aal5_pdu pdu;

    if (!unet_atm_read_lone(cell, header, &pdu) || pdu.length != sizeof *message)
        return false;
    memcpy(message, pdu.bytes, sizeof *message);
    return message->version == ATM_LINK_VERSION;
}

uint16_t unet_atm_crc10(const uint8_t *bytes, size_t length)
{
    uint32_t crc = 0;

    for (; length > 0; length--) {
        crc ^= (uint32_t)*bytes++ << 2;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x200 ? CRC10_POLYNOMIAL : 0)) & 0x3ff;
    }
    return (uint16_t)crc;
}

/* The CRC-10 is computed as if its own bits were zero. */
static uint16_t oam_crc(const uint8_t *payload)
{
    uint8_t copy[ATM_PAYLOAD];

    memcpy(copy, payload, sizeof copy);
    copy[ATM_PAYLOAD - 2] &= 0xfc;
    copy[ATM_PAYLOAD - 1] = 0;
    return unet_atm_crc10(copy, sizeof copy);
}

void unet_atm_write_alarm(uint8_t *cell, uint32_t vpi)
{
    uint8_t *payload = cell + ATM_HEADER;
    uint16_t crc;

    unet_atm_write_header(cell, atm_header(vpi, ATM_VCI_ALARM));
    memset(payload, OAM_BLANK, ATM_PAYLOAD);
    payload[0] = OAM_AIS;
    payload[ATM_PAYLOAD - 2] = 0;
    payload[ATM_PAYLOAD - 1] = 0;
    crc = oam_crc(payload);
    payload[ATM_PAYLOAD - 2] = (uint8_t)(crc >> 8);
    payload[ATM_PAYLOAD - 1] = (uint8_t)crc;
}

bool unet_atm_is_alarm(const uint8_t *cell, uint32_t header)
{
    const uint8_t *payload = cell + ATM_HEADER;
    const unsigned crc = (payload[ATM_PAYLOAD - 2] & 3u) << 8 | payload[ATM_PAYLOAD - 1];

    return atm_vci(header) == ATM_VCI_ALARM && payload[0] == OAM_AIS && oam_crc(payload) == crc;
}
