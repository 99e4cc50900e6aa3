/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atm.h - emulated endpoints over ATM: a channel is a virtual channel each way.
 *
 * What a frame's header says (unet_frame.h) the virtual channel stands for, but for its last word,
 * the descriptor's `user`: a PDU is that and the message.  So a message of 36 bytes takes a single
 * cell.  Whether it is inline stands in the byte that AAL5 has for its user (UU).
 *
 * An opening's `life` is the VCI that its receiver has assigned in the lower 16 bits, and 16 random
 * ones above.
 *
 *   atm.c       opening an endpoint, and its entries in the engine's table
 *   channels.c  VCIs, and the buffers of reassembly
 *   out.c       frames into cells
 *   in.c        cells into frames
 *   aal5.h, cells.h
 */
#ifndef UNET_ATM_H
#define UNET_ATM_H

#include "datagram/atm/cells.h"

/* An endpoint's address, as it stands in struct unet_address. */
struct atm_address {
    uint32_t node; /* its VPI */
    uint32_t reserved;
    uint64_t switch_id; /* only nodes of one switch reach each other */
    uint64_t nonce;
};

enum {
    ATM_PDU_VERSION = 1,
    ATM_USER_BYTES = 4, /* the word in front of a message */
    ATM_MESSAGE_MOST = AAL5_MOST - ATM_USER_BYTES,
    ATM_OUT_BYTES = 2 * AAL5_CELLS_MOST * ATM_CELL,
};

/* What a UU byte says. */
static inline uint8_t atm_uu(uint8_t kind)
{
    return (uint8_t)(ATM_PDU_VERSION << 4 | kind);
}

/* Buffers for PDUs of several cells.  There are as many as PDUs have arrived in part at once. */
struct atm_buffer {
    struct atm_buffer *next;
    uint8_t bytes[AAL5_ROOM];
};

struct atm_endpoint {
    struct datagram_endpoint de; /* first */
    struct atm_address own;
    struct atm_line line; /* its descriptor is de.socket */
    uint64_t refused_us;  /* when it was first said that the switch does not listen; 0: not */

    uint16_t *channel;          /* by VCI: to which it was assigned last; 0: to none */
    uint16_t next_vci;          /* to be assigned */
    struct aal5_reassembly *in; /* by channel */
    struct atm_buffer *free;

    uint8_t *out; /* cells, ATM_OUT_BYTES */
    size_t out_first, out_end;
    uint8_t *arrivals; /* LINE_ROOM */
};

static inline struct atm_endpoint *atm_of(const struct datagram_endpoint *de)
{
    return (struct atm_endpoint *)de;
}

static inline uint16_t atm_life_vci(uint32_t life)
{
    return (uint16_t)life;
}

/* ---- channels.c ---------------------------------------------------------------------- */

/* Errors: -ENOMEM. */
int unet_atm_open_channels(struct atm_endpoint *ae);
void unet_atm_close_channels(struct atm_endpoint *ae);

/* The entry of struct datagram_transport: assign a VCI. */
int unet_atm_name_opening(struct datagram_endpoint *de, uint16_t n, struct datagram_link *link);

/* The channel for which cells come by that VPI and VCI, or 0. */
uint16_t unet_atm_find(const struct atm_endpoint *ae, uint32_t vpi, uint32_t vci);

/* Channel n's reassembly has a buffer now, if there is memory; and it needs none any more. */
void unet_atm_hold_buffer(struct atm_endpoint *ae, uint16_t n);
void unet_atm_release_buffer(struct atm_endpoint *ae, uint16_t n);

/* The peers of all channels are gone that are at that node; of node 0: of all. */
void unet_atm_node_gone(struct atm_endpoint *ae, uint32_t node);

struct datagram_place unet_atm_place(uint32_t node);

/* ---- out.c, in.c --------------------------------------------------------------------- */

/* Entries of struct datagram_transport. */
unsigned unet_atm_send(struct datagram_endpoint *de, struct datagram_batch *batch);
void unet_atm_say(struct datagram_endpoint *de, const struct datagram_place *to,
                  const struct unet_frame *frame);
int unet_atm_receive(struct datagram_endpoint *de);

/* Send what is kept.  False: some of it still is. */
bool unet_atm_flush(struct atm_endpoint *ae);

/* The socket says that the switch does not listen. */
void unet_atm_refused(struct atm_endpoint *ae);

#endif
