/* SPDX-License-Identifier: BSD-3-Clause
 *
 * in.c - cells into frames.
 *
 * Nothing that arrives is believed but the VPI, which the switch has written: a cell that our
 * socket gets comes from the switch (the socket is connected), or from who can forge its address.
 */
#include "datagram/atm/atm.h"

#include <errno.h>

enum {
    RECEIVE_MOST = 64, /* system calls that take in what arrived, at a time */
    REFUSED_LEAST_US =
        1000000, /* between two answers that the switch does not listen, to believe */
};

/* ---- messages ------------------------------------------------------------------------ */

static void message_arrived(struct atm_endpoint *ae, uint16_t n, const struct aal5_pdu *pdu)
{
    struct unet_frame frame = {.version = UNET_FRAME_VERSION, .kind = pdu->uu & 0xf};
    bool good = pdu->length >= ATM_USER_BYTES && pdu->uu >> 4 == ATM_PDU_VERSION;

    if (good) {
        memcpy(&frame.user, pdu->bytes, ATM_USER_BYTES);
        frame.length = (uint16_t)(pdu->length - ATM_USER_BYTES);
        good = unet_datagram_well_formed(&frame, frame.length) && unet_datagram_is_message(&frame);
    }
    if (good)
        unet_datagram_take(&ae->de, n, &frame, pdu->bytes + ATM_USER_BYTES);
    else
        ae->de.ni.ep.stats.malformed++;
}

static void channel_cell(struct atm_endpoint *ae, uint16_t n, const uint8_t *cell, bool last)
{
    struct aal5_pdu pdu;
    int result;

    if (!last)
        unet_atm_hold_buffer(ae, n);
    result = unet_aal5_take(&ae->in[n], cell + ATM_HEADER, last, &pdu);
    if (result == 1)
        message_arrived(ae, n, &pdu);
    else if (result == -EMSGSIZE && !ae->in[n].buffer)
        ae->de.ni.ep.stats.overruns++;
    else if (result < 0)
        ae->de.ni.ep.stats.malformed++;
    if (last)
        unet_atm_release_buffer(ae, n);
}

/* ---- signalling ------------------------------------------------------------------------ */

static void signalling_cell(struct atm_endpoint *ae, const uint8_t *cell, uint32_t header)
{
    const struct datagram_place from = unet_atm_place(atm_vpi(header));
    struct unet_frame frame = {.version = 0};
    struct aal5_pdu pdu;

    if (unet_atm_read_lone(cell, header, &pdu) && pdu.length == sizeof frame)
        memcpy(&frame, pdu.bytes, sizeof frame);
    if (!unet_datagram_well_formed(&frame, 0) || unet_datagram_is_message(&frame) ||
        pdu.uu != atm_uu(frame.kind))
        ae->de.ni.ep.stats.malformed++;
    else
        unet_datagram_control(&ae->de, &frame, &from);
}

static void link_cell(struct atm_endpoint *ae, const uint8_t *cell, uint32_t header)
{
    struct atm_link_message message;

    if (!unet_atm_read_link(cell, header, &message))
        ae->de.ni.ep.stats.malformed++;
    else if (message.kind == ATM_LINK_DETACHED)
        unet_atm_node_gone(ae, 0); /* the switch has begun anew: our number is somebody else's */
}

/* ---- cells ------------------------------------------------------------------------------ */

static void control_cell(struct atm_endpoint *ae, const uint8_t *cell, uint32_t header)
{
    const uint32_t vpi = atm_vpi(header), vci = atm_vci(header);

    if (vpi == 0 && vci == ATM_VCI_LINK)
        link_cell(ae, cell, header);
    else if (vpi != 0 && vci == ATM_VCI_SIGNALLING)
        signalling_cell(ae, cell, header);
    else if (vpi != 0 && unet_atm_is_alarm(cell, header))
        unet_atm_node_gone(ae, vpi);
    else
        ae->de.ni.ep.stats.foreign++;
}

static void cell_arrived(struct atm_endpoint *ae, const uint8_t *cell)
{
    uint32_t header;
    uint16_t n;

    if (!unet_atm_read_header(cell, &header)) {
        ae->de.ni.ep.stats.malformed++;
        return;
    }
    if (atm_vci(header) < ATM_VCI_USER)
        control_cell(ae, cell, header);
    else if ((header & ATM_OTHER) || (n = unet_atm_find(ae, atm_vpi(header), atm_vci(header))) == 0)
        ae->de.ni.ep.stats.foreign++;
    else
        channel_cell(ae, n, cell, header & ATM_LAST);
}

/* Anybody can forge the message that the switch does not listen. */
void unet_atm_refused(struct atm_endpoint *ae)
{
    const uint64_t now = unet_now_us();

    if (ae->refused_us == 0)
        ae->refused_us = now;
    else if (now - ae->refused_us >= REFUSED_LEAST_US)
        unet_atm_node_gone(ae, 0);
}

int unet_atm_receive(struct datagram_endpoint *de)
{
    struct atm_endpoint *ae = atm_of(de);
    int count = 0;

    if (de->unsent)
        unet_atm_flush(ae);
    for (int calls = 0; calls < RECEIVE_MOST; calls++) {
        const ssize_t n = recv(de->socket, ae->arrivals, LINE_ROOM, 0);

        if (n < 0) {
            if (errno == ECONNREFUSED)
                unet_atm_refused(ae);
            break;
        }
        ae->refused_us = 0;
        if (n == 0 || n % ATM_CELL != 0)
            de->ni.ep.stats.malformed++;
        for (ssize_t at = 0; at + ATM_CELL <= n; at += ATM_CELL, count++)
            cell_arrived(ae, ae->arrivals + at);
    }
    return count;
}
