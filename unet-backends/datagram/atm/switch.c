/* SPDX-License-Identifier: BSD-3-Clause
 *
 * switch.c - a switch of virtual paths.
 */
#include "datagram/atm/switch.h"

#include <errno.h>
#include <stdlib.h>

enum { BUCKETS = 4096, PORTS = ATM_VPI_MOST + 1 };

struct switch_port {
    struct datagram_place place;
    uint64_t cookie;
    struct switch_port *same_bucket, *next_waiting;
    uint32_t number;
    bool waiting; /* in the list of those who have cells to go out */
    size_t bytes; /* of them */
    uint8_t cells[LINE_MOST];
};

struct atm_switch {
    struct atm_switch_config config;
    struct atm_switch_counts counts;
    struct switch_port *port[PORTS]; /* by number; 0 is the switch itself */
    struct switch_port *bucket[BUCKETS];
    struct switch_port *waiting;
    uint32_t next; /* the number that is tried first for the next node */
    uint64_t random;
};

int unet_atm_switch_open(const struct atm_switch_config *config, struct atm_switch **sw)
{
    struct atm_switch *made = calloc(1, sizeof *made);

    if (!made)
        return -ENOMEM;
    unet_aal5_init();
    made->config = *config;
    made->random = config->seed;
    made->next = 1;
    *sw = made;
    return 0;
}

void unet_atm_switch_close(struct atm_switch *sw)
{
    for (uint32_t number = 1; number < PORTS; number++)
        free(sw->port[number]);
    free(sw);
}

const struct atm_switch_counts *unet_atm_switch_counts(const struct atm_switch *sw)
{
    return &sw->counts;
}

/* ---- cells out -------------------------------------------------------------------------- */

static void port_flush(struct atm_switch *sw, struct switch_port *port)
{
    if (port->bytes > 0)
        sw->config.send(sw->config.arg, &port->place, port->cells, port->bytes);
    port->bytes = 0;
}

void unet_atm_switch_flush(struct atm_switch *sw)
{
    while (sw->waiting) {
        struct switch_port *port = sw->waiting;

        sw->waiting = port->next_waiting;
        port->waiting = false;
        port_flush(sw, port);
    }
}

/* Room for the next cell. */
static uint8_t *port_cell(struct atm_switch *sw, struct switch_port *port)
{
    uint8_t *cell;

    if (port->bytes == sizeof port->cells)
        port_flush(sw, port);
    if (!port->waiting) {
        port->waiting = true;
        port->next_waiting = sw->waiting;
        sw->waiting = port;
    }
    cell = port->cells + port->bytes;
    port->bytes += ATM_CELL;
    return cell;
}

static void say_to(struct atm_switch *sw, const struct datagram_place *to, enum atm_link_kind kind,
                   uint32_t node, uint64_t cookie)
{
    const struct atm_link_message message = {.version = ATM_LINK_VERSION,
                                             .kind = (uint8_t)kind,
                                             .node = (uint16_t)node,
                                             .cookie = cookie,
                                             .switch_id = sw->config.id};
    uint8_t cell[ATM_CELL];

    unet_atm_write_link(cell, &message);
    sw->config.send(sw->config.arg, to, cell, sizeof cell);
}

/* ---- ports ------------------------------------------------------------------------------ */

static struct switch_port **bucket_of(struct atm_switch *sw, const struct datagram_place *place)
{
    const uint8_t *byte = (const uint8_t *)place;
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof *place; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return &sw->bucket[hash >> 20 & (BUCKETS - 1)];
}

static struct switch_port *port_at(struct atm_switch *sw, const struct datagram_place *place)
{
    struct switch_port *port = *bucket_of(sw, place);

    while (port && !unet_datagram_same(&port->place, place))
        port = port->same_bucket;
    return port;
}

static void port_free(struct atm_switch *sw, struct switch_port *port)
{
    struct switch_port **at = bucket_of(sw, &port->place);

    while (*at != port)
        at = &(*at)->same_bucket;
    *at = port->same_bucket;
    for (at = &sw->waiting; *at && *at != port;)
        at = &(*at)->next_waiting;
    if (*at)
        *at = port->next_waiting;
    sw->port[port->number] = NULL;
    sw->counts.nodes--;
    free(port);
}

/* Numbers go round, so that what was meant for a node finds no other under its number for long. */
static uint32_t free_number(struct atm_switch *sw)
{
    for (uint32_t tries = 1; tries < PORTS; tries++) {
        const uint32_t number = sw->next;

        sw->next = number == PORTS - 1 ? 1 : number + 1;
        if (!sw->port[number])
            return number;
    }
    return 0;
}

static struct switch_port *port_make(struct atm_switch *sw, const struct datagram_place *place,
                                     uint64_t cookie)
{
    const uint32_t number = free_number(sw);
    struct switch_port **bucket = bucket_of(sw, place), *port;

    if (number == 0)
        return NULL;
    port = malloc(sizeof *port);
    if (!port)
        return NULL;
    port->place = *place;
    port->cookie = cookie;
    port->number = number;
    port->waiting = false;
    port->bytes = 0;
    port->same_bucket = *bucket;
    *bucket = port;
    sw->port[number] = port;
    sw->counts.nodes++;
    return port;
}

/* A node whose answer was lost asks again by the same cookie.  Another cookie is another node,
 * whose socket has got the number of one that is gone. */
static void attach(struct atm_switch *sw, const struct datagram_place *from, uint64_t cookie)
{
    struct switch_port *port = port_at(sw, from);

    if (port && port->cookie != cookie) {
        port_free(sw, port);
        port = NULL;
    }
    if (!port)
        port = port_make(sw, from, cookie);
    if (port)
        say_to(sw, from, ATM_LINK_ATTACHED, port->number, cookie);
    else
        say_to(sw, from, ATM_LINK_FULL, 0, cookie);
}

static void detach(struct atm_switch *sw, const struct datagram_place *from, uint64_t cookie)
{
    struct switch_port *port = port_at(sw, from);

    if (port && port->cookie == cookie)
        port_free(sw, port);
}

void unet_atm_switch_refused(struct atm_switch *sw, const struct datagram_place *place)
{
    struct switch_port *port = port_at(sw, place);

    if (port)
        port_free(sw, port);
}

void unet_atm_switch_look(struct atm_switch *sw)
{
    for (uint32_t number = 1; number < PORTS; number++)
        if (sw->port[number])
            say_to(sw, &sw->port[number]->place, ATM_LINK_LOOK, number, 0);
}

/* ---- cells in ----------------------------------------------------------------------------- */

/* True: the cell, of which that is the header, was for the switch. */
static bool take_own(struct atm_switch *sw, const struct datagram_place *from, const uint8_t *cell,
                     uint32_t header)
{
    struct atm_link_message message;

    if (atm_vpi(header) != 0 || atm_vci(header) != ATM_VCI_LINK)
        return false;
    if (!unet_atm_read_link(cell, header, &message))
        sw->counts.malformed++;
    else if (message.kind == ATM_LINK_ATTACH)
        attach(sw, from, message.cookie);
    else if (message.kind == ATM_LINK_DETACH)
        detach(sw, from, message.cookie);
    return true;
}

static bool is_lost(struct atm_switch *sw)
{
    if (sw->config.loss == 0)
        return false;
    sw->random += 0x9e3779b97f4a7c15u;
    return (unet_mix(sw->random) >> 32) * 1000000 >> 32 < sw->config.loss;
}

/* Alarms are the switch's, and what else has a low VCI is none of the nodes'. */
static bool may_pass(uint32_t header)
{
    const uint32_t vci = atm_vci(header);

    return !(header & ATM_OTHER) && (vci >= ATM_VCI_USER || vci == ATM_VCI_SIGNALLING);
}

/* There is no such node.  Once for each PDU, its sender is told. */
static void unreachable(struct atm_switch *sw, struct switch_port *from, uint32_t header)
{
    sw->counts.unreachable++;
    if ((header & ATM_LAST) && atm_vpi(header) != 0)
        unet_atm_write_alarm(port_cell(sw, from), atm_vpi(header));
}

static void forward(struct atm_switch *sw, struct switch_port *from, const uint8_t *cell,
                    uint32_t header)
{
    struct switch_port *to = sw->port[atm_vpi(header)];
    uint8_t *copy;

    if (!may_pass(header)) {
        sw->counts.refused++;
    } else if (!to) {
        unreachable(sw, from, header);
    } else if (is_lost(sw)) {
        sw->counts.lost++;
    } else {
        copy = port_cell(sw, to);
        memcpy(copy + ATM_HEADER, cell + ATM_HEADER, ATM_PAYLOAD);
        unet_atm_write_header(copy, (header & 0xfffff) | from->number << 20);
        sw->counts.out++;
    }
}

/* `from` is looked up anew behind a cell for the switch, which may have made or freed its port. */
void unet_atm_switch_take(struct atm_switch *sw, const struct datagram_place *from,
                          const uint8_t *bytes, size_t length)
{
    struct switch_port *port = port_at(sw, from);
    bool told = false;

    if (length % ATM_CELL != 0)
        sw->counts.malformed++;
    for (; length >= ATM_CELL; bytes += ATM_CELL, length -= ATM_CELL) {
        uint32_t header;

        sw->counts.in++;
        if (!unet_atm_read_header(bytes, &header)) {
            sw->counts.malformed++;
        } else if (take_own(sw, from, bytes, header)) {
            port = port_at(sw, from);
        } else if (port) {
            forward(sw, port, bytes, header);
        } else {
            sw->counts.foreign++;
            if (!told)
                say_to(sw, from, ATM_LINK_DETACHED, 0, 0);
            told = true;
        }
    }
}
