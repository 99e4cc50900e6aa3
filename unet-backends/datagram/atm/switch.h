/* SPDX-License-Identifier: BSD-3-Clause
 *
 * switch.h - a switch of virtual paths: what comes in at port p with VPI q goes out at port q with
 * VPI p.
 *
 * Who attaches gets a port.  The switch is the only one who writes VPIs, which is all the
 * protection that nodes have from each other: cells whose sender has no port go nowhere.  It has no
 * socket and no clock; unetatm.c drives it.
 */
#ifndef UNET_ATM_SWITCH_H
#define UNET_ATM_SWITCH_H

#include "datagram/atm/cells.h"

struct atm_switch;

/* Sends cells, at most LINE_MOST bytes, to the node at that place. */
typedef void atm_switch_send_fn(void *arg, const struct datagram_place *to, const uint8_t *cells,
                                size_t length);

struct atm_switch_config {
    uint32_t loss; /* of a million cells between nodes */
    uint64_t seed; /* of the random numbers for that */
    uint64_t id;   /* random: another one for every switch */
    atm_switch_send_fn *send;
    void *arg;
};

/* Cells, but for `nodes`.  What has come in and is in none of the others was for the switch itself.
 */
struct atm_switch_counts {
    uint64_t nodes; /* that have ports now */
    uint64_t in;
    uint64_t out;         /* that were switched */
    uint64_t lost;        /* because `loss` says so */
    uint64_t unreachable; /* to a node that does not exist */
    uint64_t refused;     /* with a VCI that nodes may not use with each other */
    uint64_t foreign;     /* whose sender has no port */
    uint64_t malformed;   /* no cells: a wrong HEC, or a part of one */
};

/* Errors: -ENOMEM. */
int unet_atm_switch_open(const struct atm_switch_config *config, struct atm_switch **sw);
void unet_atm_switch_close(struct atm_switch *sw);

/* A datagram has come from there.  What it causes to be sent may wait for unet_atm_switch_flush. */
void unet_atm_switch_take(struct atm_switch *sw, const struct datagram_place *from,
                          const uint8_t *bytes, size_t length);
void unet_atm_switch_flush(struct atm_switch *sw);

/* The network says that nobody listens there any more: that node has no port from now on. */
void unet_atm_switch_refused(struct atm_switch *sw, const struct datagram_place *place);

/* Send something to every node, so that the network can say that. */
void unet_atm_switch_look(struct atm_switch *sw);

const struct atm_switch_counts *unet_atm_switch_counts(const struct atm_switch *sw);

#endif
