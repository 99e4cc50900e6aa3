/* SPDX-License-Identifier: BSD-3-Clause
 *
 * attach.c - the port of the switch.
 */
#include "datagram/atm/cells.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { ASK_MS = 50, ASK_TIMES = 40 };

static const char cells_carrier[] = "cells:";

static int carrier_switch(const char *carrier, struct datagram_place *place)
{
    const size_t prefix = sizeof cells_carrier - 1;

    if (!carrier || !*carrier)
        return -EDESTADDRREQ;
    if (strncmp(carrier, cells_carrier, prefix) != 0)
        return -EINVAL;
    return unet_atm_line_place(carrier + prefix, place);
}

static void attach_say(const struct atm_port *port, struct atm_line *line, enum atm_link_kind kind)
{
    const struct atm_link_message message = {
        .version = ATM_LINK_VERSION, .kind = (uint8_t)kind, .cookie = port->cookie};
    uint8_t cell[ATM_CELL];

    unet_atm_write_link(cell, &message);
    unet_atm_line_send(line, NULL, cell, sizeof cell);
}

/* What the switch says of our cookie: 0, -EUSERS, or -EAGAIN it says something else. */
static int attach_answered(struct atm_port *port, const uint8_t *cell, ssize_t length)
{
    struct atm_link_message message;
    uint32_t header;

    if (length != ATM_CELL || !unet_atm_read_header(cell, &header) ||
        header != (atm_header(0, ATM_VCI_LINK) | ATM_LAST) ||
        !unet_atm_read_link(cell, header, &message) || message.cookie != port->cookie)
        return -EAGAIN;
    if (message.kind == ATM_LINK_FULL)
        return -EUSERS;
    if (message.kind != ATM_LINK_ATTACHED || message.node == 0 || message.node > ATM_VPI_MOST)
        return -EAGAIN;
    port->node = message.node;
    port->switch_id = message.switch_id;
    return 0;
}

/* Wait for the answer a while.  What is longer than a cell is no answer. */
static int attach_await(struct atm_port *port, const struct atm_line *line)
{
    struct pollfd fd = {.fd = line->fd, .events = POLLIN};
    uint8_t cell[ATM_CELL + 1];
    int error = -EAGAIN;

    while (error == -EAGAIN && poll(&fd, 1, ASK_MS) > 0) {
        const ssize_t n = recv(line->fd, cell, sizeof cell, 0);

        if (n < 0 && errno == EAGAIN)
            break;
        error = n < 0 ? -errno : attach_answered(port, cell, n);
    }
    return error;
}

static int attach_ask(struct atm_port *port, struct atm_line *line)
{
    int error = -EAGAIN;

    for (int times = 0; times < ASK_TIMES && error == -EAGAIN; times++) {
        attach_say(port, line, ATM_LINK_ATTACH);
        error = attach_await(port, line);
    }
    return error == -EAGAIN ? -ETIMEDOUT : error;
}

int unet_atm_attach(struct atm_port *port, struct atm_line *line, const char *carrier)
{
    struct datagram_place place;
    int error = carrier_switch(carrier, &place);

    if (error)
        return error;
    error = unet_atm_line_open(line, place.any.sa_family);
    if (error)
        return error;
    if (connect(line->fd, &place.any, place.length) < 0)
        return -errno;
    return attach_ask(port, line);
}

void unet_atm_detach(const struct atm_port *port, struct atm_line *line)
{
    if (port->node != 0)
        attach_say(port, line, ATM_LINK_DETACH);
    if (line->fd >= 0)
        close(line->fd);
    line->fd = -1;
}
