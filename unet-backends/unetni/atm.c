/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atm.c - the wire that is a port of an ATM switch: each frame is a PDU of AAL5.
 *
 * All of a service's frames go by one virtual channel to each other node.  The switch writes into
 * each cell from which node it comes, so a place, six bytes, is the switch's number and the node's.
 * Endpoints of the backend `atm` are nodes of their own with a channel for each of theirs, and have
 * other addresses: they and services share a switch, but do not reach each other.
 */
#include "unetni/unetni.h"

#include "datagram/atm/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

enum {
    VCI_FRAMES = ATM_VCI_USER,
    UU_FRAME = 0x2f,   /* what the PDUs' byte for users says; those of `atm` say others */
    RECEIVE_MOST = 16, /* system calls that take in what arrived, at a time */
    OUT_BYTES = 512 * 1024,
    PARTS_MOST = 256,              /* nodes of which a PDU has come in part at a time */
    REFUSED_LEAST_NS = 1000000000, /* between two answers that the switch does not listen */
};

/* A node, from which a PDU may have come in part. */
struct node {
    struct aal5_reassembly in;
};

struct unetni_atm {
    struct atm_port port;
    struct atm_line line;
    struct node node[ATM_VPI_MOST + 1]; /* by VPI */
    unsigned parts;                     /* buffers that nodes have */
    uint64_t refused_ns;                /* when the switch was first said not to listen; 0: not */
    size_t out_first, out_end;          /* cells that the socket has not taken */
    uint8_t out[OUT_BYTES];
    uint8_t arrivals[LINE_ROOM];
};

/* ---- places -------------------------------------------------------------------------------- */

static void place_write(const struct unetni_atm *a, uint32_t node, uint8_t mac[6])
{
    memcpy(mac, &a->port.switch_id, 4);
    mac[4] = (uint8_t)(node >> 8);
    mac[5] = (uint8_t)node;
}

static uint32_t place_node(const uint8_t mac[6])
{
    return (uint32_t)mac[4] << 8 | mac[5];
}

static bool atm_is_place(const struct unetni_wire *wire, const uint8_t mac[6])
{
    return memcmp(mac, wire->own, 4) == 0 && place_node(mac) >= 1 &&
           place_node(mac) <= ATM_VPI_MOST;
}

static socklen_t atm_address(const struct unetni_wire *wire, const uint8_t mac[6],
                             union unetni_place *place)
{
    (void)wire;
    place->node = place_node(mac);
    return sizeof place->node;
}

/* ---- the switch ---------------------------------------------------------------------------- */

/* Its node's number may be another's by now, and the clients' addresses are nobody's. */
static void switch_is_gone(struct unetni_service *s, const char *what)
{
    if (!s->over)
        fprintf(stderr, "unetni: %s: the switch %s; the service ends\n", s->wire.interface, what);
    s->over = s->failed = true;
}

/* Anybody can forge one such message. */
static void switch_refuses(struct unetni_service *s)
{
    struct unetni_atm *a = s->wire.atm;

    if (a->refused_ns == 0)
        a->refused_ns = s->now_ns;
    else if (s->now_ns - a->refused_ns >= REFUSED_LEAST_NS)
        switch_is_gone(s, "listens no more");
}

/* ---- sending ------------------------------------------------------------------------------ */

/* A PDU of which some cells are missing would be lost, so those that the socket does not take are
 * kept.  False: some are. */
static bool atm_flush(struct unetni_atm *a)
{
    if (a->out_first < a->out_end)
        a->out_first +=
            unet_atm_line_send(&a->line, NULL, a->out + a->out_first, a->out_end - a->out_first);
    if (a->out_first < a->out_end && (errno == EAGAIN || errno == ENOBUFS))
        return false;
    a->out_first = a->out_end = 0;
    return true;
}

static bool frame_cut(struct unetni_atm *a, const struct msghdr *message)
{
    const union unetni_place *to = message->msg_name;
    size_t length = 0;

    for (size_t i = 0; i < message->msg_iovlen; i++)
        length += message->msg_iov[i].iov_len;
    if (a->out_end + unet_aal5_cells(length) * ATM_CELL > OUT_BYTES)
        return false;
    a->out_end += ATM_CELL * unet_aal5_cut(a->out + a->out_end, atm_header(to->node, VCI_FRAMES),
                                           UU_FRAME, message->msg_iov, message->msg_iovlen, length);
    return true;
}

static int atm_send(struct unetni_wire *wire, struct mmsghdr *message, unsigned count)
{
    struct unetni_atm *a = wire->atm;
    unsigned sent = 0;

    if (atm_flush(a)) {
        while (sent < count && frame_cut(a, &message[sent].msg_hdr))
            sent++;
        atm_flush(a);
    }
    if (sent > 0)
        return (int)sent;
    errno = EAGAIN;
    return -1;
}

/* ---- receiving ---------------------------------------------------------------------------- */

static void node_hold_buffer(struct unetni_atm *a, struct node *node)
{
    if (node->in.buffer || a->parts == PARTS_MOST)
        return;
    node->in.buffer = malloc(AAL5_ROOM);
    a->parts += node->in.buffer != NULL;
}

static void node_release_buffer(struct unetni_atm *a, struct node *node)
{
    a->parts -= node->in.buffer != NULL;
    free(node->in.buffer);
    node->in.buffer = NULL;
}

/* A buffer is kept by its node until as many others want one as there are. */
static void frame_cell(struct unetni_service *s, const uint8_t *cell, uint32_t header)
{
    struct unetni_atm *a = s->wire.atm;
    struct node *node = &a->node[atm_vpi(header)];
    const bool last = header & ATM_LAST;
    struct aal5_pdu pdu;
    uint8_t mac[6];
    int result;

    if (!last)
        node_hold_buffer(a, node);
    result = unet_aal5_take(&node->in, cell + ATM_HEADER, last, &pdu);
    if (result == 1 && pdu.uu == UU_FRAME) {
        place_write(a, atm_vpi(header), mac);
        unetni_receive(s, pdu.bytes, pdu.length, mac);
    } else if (result != 0) {
        s->malformed++;
    }
    if (last && a->parts > PARTS_MOST / 2)
        node_release_buffer(a, node);
}

static void link_cell(struct unetni_service *s, const uint8_t *cell, uint32_t header)
{
    struct atm_link_message message;

    if (!unet_atm_read_link(cell, header, &message))
        s->malformed++;
    else if (message.kind == ATM_LINK_DETACHED)
        switch_is_gone(s, "has begun anew");
}

static void cell_arrived(struct unetni_service *s, const uint8_t *cell)
{
    uint8_t mac[6];
    uint32_t header;

    if (!unet_atm_read_header(cell, &header)) {
        s->malformed++;
    } else if (atm_vpi(header) == 0) {
        if (atm_vci(header) == ATM_VCI_LINK)
            link_cell(s, cell, header);
    } else if (atm_vci(header) == VCI_FRAMES && !(header & ATM_OTHER)) {
        frame_cell(s, cell, header);
    } else if (unet_atm_is_alarm(cell, header)) {
        place_write(s->wire.atm, atm_vpi(header), mac);
        unetni_channels_lose(s, mac);
    }
}

static unsigned atm_receive(struct unetni_service *s)
{
    struct unetni_atm *a = s->wire.atm;
    unsigned count = atm_flush(a) ? 0 : 1; /* what is left to be sent is something to do */

    for (int calls = 0; calls < RECEIVE_MOST; calls++) {
        const ssize_t n = recv(a->line.fd, a->arrivals, LINE_ROOM, MSG_DONTWAIT);

        if (n < 0) {
            if (errno == ECONNREFUSED)
                switch_refuses(s);
            break;
        }
        a->refused_ns = 0;
        if (n == 0 || n % ATM_CELL != 0)
            s->malformed++;
        for (ssize_t at = 0; at + ATM_CELL <= n; at += ATM_CELL, count++)
            cell_arrived(s, a->arrivals + at);
    }
    return count;
}

/* ---- opening ------------------------------------------------------------------------------ */

static const char *why_not_attached(int error)
{
    switch (error) {
    case -EDESTADDRREQ:
    case -EINVAL:
        return "--carrier, or UNET_ATM_CARRIER, has to name a switch, cells:ADDRESS:PORT";
    case -EUSERS:
        return "all 4095 ports of the switch have nodes";
    default:
        return "no switch answers at the carrier: start unetatm there";
    }
}

static int atm_open(struct unetni_wire *wire)
{
    struct unetni_atm *a = calloc(1, sizeof *a);
    int error;

    if (!a)
        return unetni_wire_fail(wire, "no memory for cells");
    wire->atm = a;
    a->line.fd = -1;
    if (getrandom(&a->port.cookie, sizeof a->port.cookie, 0) != sizeof a->port.cookie)
        return unetni_wire_fail(wire, "no random numbers");
    unet_aal5_init();
    error = unet_atm_attach(&a->port, &a->line,
                            wire->carrier ? wire->carrier : getenv("UNET_ATM_CARRIER"));
    if (error) {
        errno = -error;
        return unetni_wire_fail(wire, why_not_attached(error));
    }
    wire->socket = a->line.fd;
    wire->message_most = ATM_PACKET_BYTES;
    place_write(a, a->port.node, wire->own);
    return 0;
}

static void atm_close(struct unetni_wire *wire)
{
    struct unetni_atm *a = wire->atm;

    if (!a)
        return;
    atm_flush(a);
    unet_atm_detach(&a->port, &a->line);
    for (unsigned i = 0; i <= ATM_VPI_MOST; i++)
        free(a->node[i].in.buffer);
    free(a);
}

const struct unetni_wire_ops unetni_atm_wire = {
    .name = "atm",
    .open = atm_open,
    .close = atm_close,
    .is_place = atm_is_place,
    .address = atm_address,
    .take_port = unetni_wire_take_port,
    .give_port = unetni_wire_give_port,
    .nobody_has = unetni_wire_nobody_has,
    .send = atm_send,
    .receive = atm_receive,
};
