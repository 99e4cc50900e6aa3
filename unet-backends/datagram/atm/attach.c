/* SPDX-License-Identifier: BSD-3-Clause
 *
 * attach.c - UNET_ATM_CARRIER, and the port of the switch.
 */
#include "datagram/atm/atm.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { ASK_MS = 50, ASK_TIMES = 40 };

static const char cells_carrier[] = "cells:";

static int carrier_switch(struct datagram_place *place)
{
    const char *carrier = getenv("UNET_ATM_CARRIER");
    const size_t prefix = sizeof cells_carrier - 1;

    if (!carrier || !*carrier)
        return -EDESTADDRREQ;
    if (strncmp(carrier, cells_carrier, prefix) != 0)
        return -EINVAL;
    return unet_atm_line_place(carrier + prefix, place);
}

static void attach_say(struct atm_endpoint *ae, enum atm_link_kind kind)
{
    const struct atm_link_message message = {
        .version = ATM_LINK_VERSION, .kind = (uint8_t)kind, .cookie = ae->own.nonce};
    uint8_t cell[ATM_CELL];

    unet_atm_write_link(cell, &message);
    unet_atm_line_send(&ae->line, NULL, cell, sizeof cell);
}

/* What the switch says of our cookie: 0, -EUSERS, or -EAGAIN it says something else. */
static int attach_answered(struct atm_endpoint *ae, ssize_t length)
{
    struct atm_link_message message;
    uint32_t header;

    if (length != ATM_CELL || !unet_atm_read_header(ae->arrivals, &header) ||
        header != (atm_header(0, ATM_VCI_LINK) | ATM_LAST) ||
        !unet_atm_read_link(ae->arrivals, header, &message) || message.cookie != ae->own.nonce)
        return -EAGAIN;
    if (message.kind == ATM_LINK_FULL)
        return -EUSERS;
    if (message.kind != ATM_LINK_ATTACHED || message.node == 0 || message.node > ATM_VPI_MOST)
        return -EAGAIN;
    ae->own.node = message.node;
    ae->own.switch_id = message.switch_id;
    return 0;
}

/* Wait for the answer a while. */
static int attach_await(struct atm_endpoint *ae)
{
    struct pollfd fd = {.fd = ae->line.fd, .events = POLLIN};
    int error = -EAGAIN;

    while (error == -EAGAIN && poll(&fd, 1, ASK_MS) > 0) {
        const ssize_t n = recv(ae->line.fd, ae->arrivals, LINE_ROOM, 0);

        if (n < 0 && errno == EAGAIN)
            break;
        error = n < 0 ? -errno : attach_answered(ae, n);
    }
    return error;
}

static int attach_ask(struct atm_endpoint *ae)
{
    int error = -EAGAIN;

    for (int times = 0; times < ASK_TIMES && error == -EAGAIN; times++) {
        attach_say(ae, ATM_LINK_ATTACH);
        error = attach_await(ae);
    }
    return error == -EAGAIN ? -ETIMEDOUT : error;
}

int unet_atm_attach(struct atm_endpoint *ae)
{
    struct datagram_place place;
    int error = carrier_switch(&place);

    if (error)
        return error;
    error = unet_atm_line_open(&ae->line, place.any.sa_family);
    if (ae->line.fd >= 0)
        ae->de.socket = ae->line.fd;
    if (error)
        return error;
    ae->own.nonce = ae->de.nonce;
    if (connect(ae->line.fd, &place.any, place.length) < 0)
        return -errno;
    return attach_ask(ae);
}

void unet_atm_detach(struct atm_endpoint *ae)
{
    if (ae->own.node != 0)
        attach_say(ae, ATM_LINK_DETACH);
    if (ae->de.socket >= 0)
        close(ae->de.socket);
}
