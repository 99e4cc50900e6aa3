/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cells.h - cells in datagrams: what endpoints and the switch say to each other.
 *
 * A UDP datagram has cells, one behind the other.  An endpoint is a node of its own, at a port of
 * the switch, whose number is its VPI for others: a cell that node p sends with VPI q leaves the
 * switch at port q with VPI p.  So a receiver knows by the VPI who has sent a cell, whatever that
 * one says.
 *
 *   VPI   VCI    carries
 *   0     16     struct atm_link_message, between a node and the switch (as ILMI does)
 *   node  4      from the switch: no such node any more (I.610: VP-AIS, an alarm, F4 end-to-end)
 *   node  5      struct unet_frame without a message: opening and closing channels (signalling)
 *   node  32..   messages of the channel for which the receiver has assigned that VCI
 *
 * All of these but the last are PDUs of one cell; so is every alarm, which is no PDU.
 */
#ifndef UNET_ATM_CELLS_H
#define UNET_ATM_CELLS_H

#include "datagram/atm/aal5.h"
#include "datagram/datagram.h"

enum {
    ATM_VCI_ALARM = 4,
    ATM_VCI_SIGNALLING = 5,
    ATM_VCI_LINK = 16,

    CELLS_A_DATAGRAM = 27, /* a datagram that every Ethernet carries in one piece */
    DATAGRAM_CELL_BYTES = CELLS_A_DATAGRAM * ATM_CELL,
    LINE_MOST = 45 * DATAGRAM_CELL_BYTES, /* bytes that the kernel takes at once, and cuts */
    LINE_ROOM = 65536,                    /* for what it hands over at once */
};

/* ---- link.c: PDUs of one cell, and alarms ------------------------------------------- */

enum { ATM_LINK_VERSION = 1 };

enum atm_link_kind {
    ATM_LINK_ATTACH = 1,   /* a node wants a port; asked again until it is answered */
    ATM_LINK_ATTACHED = 2, /* it has `node` */
    ATM_LINK_FULL = 3,     /* all ports are taken */
    ATM_LINK_DETACH = 4,   /* a node gives up its port; not answered */
    ATM_LINK_DETACHED = 5, /* to who sends cells and has no port (any more) */
    ATM_LINK_LOOK = 6,     /* to a node: not answered; if nobody listens, the network tells */
};

/* Little-endian. */
struct atm_link_message {
    uint8_t version;
    uint8_t kind; /* enum atm_link_kind */
    uint16_t node;
    uint32_t reserved;
    uint64_t cookie;    /* ATTACH, DETACH: the node's, a random number; an answer repeats it */
    uint64_t switch_id; /* from the switch: a random number */
};

/* Write the PDU of a single cell that has those bytes, at most AAL5_LONE_MOST. */
void unet_atm_write_lone(uint8_t *cell, uint32_t vpi, uint32_t vci, uint8_t uu, const void *bytes,
                         size_t length);

/* The PDU of that cell, if it is one of its own; its bytes lie in the cell. */
bool unet_atm_read_lone(const uint8_t *cell, uint32_t header, struct aal5_pdu *pdu);

void unet_atm_write_link(uint8_t *cell, const struct atm_link_message *message);
bool unet_atm_read_link(const uint8_t *cell, uint32_t header, struct atm_link_message *message);

/* The alarm that the path to a node is interrupted. */
void unet_atm_write_alarm(uint8_t *cell, uint32_t vpi);
bool unet_atm_is_alarm(const uint8_t *cell, uint32_t header);

/* CRC-10 of I.610, of cells of operation and maintenance. */
uint16_t unet_atm_crc10(const uint8_t *bytes, size_t length);

/* ---- line.c: cells over a UDP socket ------------------------------------------------ */

struct atm_line {
    int fd;
    bool whole; /* the kernel takes many datagrams as one, and cuts it (UDP_SEGMENT) */
};

/* "ADDRESS:PORT", an IPv4 address or an IPv6 one in brackets.  Errors: -EINVAL it is none. */
int unet_atm_line_place(const char *text, struct datagram_place *place);

/* A UDP socket for that family, which neither blocks nor is bound.  Errors: of the system calls. */
int unet_atm_line_open(struct atm_line *line, int family);

/* Send the cells from the first on, to that place or, if it is NULL, where the socket is connected.
 * Returns how many bytes the kernel has taken; less than `length`: it takes no more now, and errno
 * says why. */
size_t unet_atm_line_send(struct atm_line *line, const struct datagram_place *to,
                          const uint8_t *cells, size_t length);

/* ---- attach.c: a node's port of the switch ------------------------------------------ */

struct atm_port {
    uint64_t cookie; /* a random number of the node's */
    uint64_t switch_id;
    uint32_t node; /* its VPI for others; 0: it has none */
};

/* Open the carrier, "cells:ADDRESS:PORT", and get a node's number.  Waits for the switch, two
 * seconds at most.  Errors: -EDESTADDRREQ there is no text, -EINVAL it names no such carrier,
 * -ECONNREFUSED, -ETIMEDOUT there is no switch, -EUSERS all its ports are taken. */
int unet_atm_attach(struct atm_port *port, struct atm_line *line, const char *carrier);

/* Undo it, also if it has failed; then `line->fd` is -1 if there was none. */
void unet_atm_detach(const struct atm_port *port, struct atm_line *line);

#endif
