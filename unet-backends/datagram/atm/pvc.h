/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pvc.h - emulated endpoints over the kernel's own ATM: permanent virtual channels.
 *
 * A socket of PF_ATMPVC is bound to one interface, VPI and VCI, for both directions.  So there is a
 * virtual channel (VC) for every pair of endpoints, whose VPI is the peer's node and whose VCI
 * follows from the ports of both: nobody has to be asked for it.  The kernel gives a VC to one
 * socket at a time.  An endpoint owns its port by the VC that leads from its node to itself.
 *
 * Of a frame's header (unet_frame.h) a PDU has the descriptor's `user`, and one byte, the tag:
 *
 *   0                  the rest is a whole frame: opening and closing channels
 *   1 .. 127           a message in pieces, for the channel to which its receiver gave that number
 *   the same + 128     a message inline
 *
 * The lower 7 bits of an opening's `life` are that number.  Where the adapter cuts PDUs (AAL5), the
 * tag is the first byte: sockets do not show the byte that AAL5 has for its user (UU).  Where we
 * cut (AAL0), it is the UU byte.  A message of 35 bytes, or of 36, takes a single cell.
 *
 *   pvc.c         opening an endpoint, and its entries in the engine's table
 *   pvc_kernel.c  UNET_ATM_CARRIER and UNET_ATM_NODE, and the kernel's sockets
 *   pvc_vc.c      VCs, and the numbers of channels
 *   pvc_out.c     frames into PDUs or cells
 *   pvc_in.c      and back
 */
#ifndef UNET_PVC_H
#define UNET_PVC_H

#include "datagram/atm/aal5.h"
#include "datagram/datagram.h"

enum {
    PVC_NODE_MOST = 255, /* a user-network interface has 8 bits of VPI */
    PVC_PORTS = 255,     /* VCIs of a pair of ports: 0 .. PVC_PORTS - 1 */
    PVC_PLACES = (PVC_NODE_MOST + 1) * 256,
    PVC_NUMBERS = 128, /* 0 is for frames without a message */
    PVC_INLINE = 0x80,
    PVC_SDU_MOST = 9188, /* which every adapter takes (RFC 2225) */
    PVC_MESSAGE_MOST = PVC_SDU_MOST - 8,
    PVC_CELL = 52, /* of a socket with raw cells: the HEC is the adapter's */
    PVC_CELLS_MOST = (PVC_SDU_MOST + AAL5_TRAILER + ATM_PAYLOAD - 1) / ATM_PAYLOAD,
    PVC_ARRIVALS = 32, /* cells or PDUs that are taken in at once */
};

/* What UNET_ATM_CARRIER and UNET_ATM_NODE say. */
struct pvc_settings {
    int itf;
    uint32_t node; /* ours */
    bool raw;      /* cells rather than PDUs */
};

/* An endpoint's address, as it stands in struct unet_address. */
struct pvc_address {
    uint32_t node;
    uint32_t port;
    uint64_t carrier; /* only endpoints with PDUs of the same form reach each other */
    uint64_t nonce;
};

struct pvc_vc {
    struct datagram_place place;
    int fd;                        /* -1: the adapter has ended it */
    bool waits;                    /* its socket took no more */
    uint8_t next;                  /* number to be assigned */
    uint16_t channel[PVC_NUMBERS]; /* to which a number was assigned last; 0: to none */
    struct aal5_reassembly in;     /* of raw cells */
};

struct pvc_endpoint {
    struct datagram_endpoint de; /* first; its socket is an epoll set of all VCs' */
    struct pvc_settings settings;
    int claim;                /* the VC to ourselves */
    struct pvc_vc **by_place; /* PVC_PLACES */
    struct pvc_vc *only;      /* if there is just one */
    unsigned vcs;
    struct pvc_vc *out_to; /* whose cells are kept, of a PDU that has begun to go */
    uint32_t out_first, out_end;
    uint8_t *out;      /* cells of ATM_CELL, of which the last PVC_CELL bytes go */
    uint8_t *arrivals; /* PVC_ARRIVALS * PVC_SDU_MOST */
};

static inline struct pvc_endpoint *pvc_of(const struct datagram_endpoint *de)
{
    return (struct pvc_endpoint *)de;
}

/* The entries of the backend atm for endpoints over PVCs. */
extern const struct datagram_transport unet_pvc_transport;

/* ---- pvc_kernel.c ---------------------------------------------------------------------- */

/* Whether UNET_ATM_CARRIER names the kernel's ATM. */
bool unet_pvc_is_carrier(void);

/* Errors: -EINVAL the carrier is not pvc:ITF or pvc:ITF,aal0; -ENXIO UNET_ATM_NODE does not say
 * which node this is; -EAFNOSUPPORT the kernel has no ATM now; -ENODEV no such interface;
 * -EOPNOTSUPP it is one of atmtcp, which never finishes to connect. */
int unet_pvc_settings(struct pvc_settings *settings);

/* Where tests put another kernel. */
struct pvc_kernel {
    const char *devices; /* the file that lists interfaces */

    /* A socket for that VC, which does not block.  Errors: -EADDRINUSE the VC is somebody's,
     * -EPROTONOSUPPORT the adapter does not take raw cells; those of the system calls. */
    int (*open)(const struct pvc_settings *settings, uint32_t vpi, uint32_t vci);
};
extern const struct pvc_kernel *unet_pvc_kernel;

/* ---- pvc_vc.c -------------------------------------------------------------------------- */

static inline struct datagram_place unet_pvc_place(uint32_t node, uint32_t port)
{
    struct datagram_place place;

    memset(&place, 0, sizeof place); /* the holes, too */
    place.number = node << 8 | port;
    place.length = sizeof place.number;
    return place;
}

/* The VCI between two endpoints, the same at both. */
uint32_t unet_pvc_vci(uint32_t node, uint32_t port, uint32_t peer_node, uint32_t peer_port);

/* Take a port that nobody has.  Errors: -EADDRNOTAVAIL all are taken; those of the kernel. */
int unet_pvc_claim(struct pvc_endpoint *pe);

/* The entry `name_opening`: open the VC to the link's peer, if need be, and assign a number. */
int unet_pvc_name_opening(struct datagram_endpoint *de, uint16_t n, struct datagram_link *link);

/* The VC to that place, or NULL. */
struct pvc_vc *unet_pvc_find(const struct pvc_endpoint *pe, const struct datagram_place *place);

/* The channel that the VC's peer means by that number, or 0. */
uint16_t unet_pvc_channel(const struct pvc_endpoint *pe, const struct pvc_vc *vc, unsigned number);

/* The set of sockets also waits, or waits no more, until that one takes something. */
void unet_pvc_await_room(struct pvc_endpoint *pe, struct pvc_vc *vc, bool waits);

/* The adapter has ended the VC: the peers of its channels are lost. */
void unet_pvc_end(struct pvc_endpoint *pe, struct pvc_vc *vc);

void unet_pvc_close_all(struct pvc_endpoint *pe);

/* ---- pvc_out.c, pvc_in.c: entries of struct datagram_transport --------------------------- */

unsigned unet_pvc_send(struct datagram_endpoint *de, struct datagram_batch *batch);
void unet_pvc_say(struct datagram_endpoint *de, const struct datagram_place *to,
                  const struct unet_frame *frame);
int unet_pvc_receive(struct datagram_endpoint *de);

/* Send what is kept.  False: some of it still is. */
bool unet_pvc_flush(struct pvc_endpoint *pe);

#endif
