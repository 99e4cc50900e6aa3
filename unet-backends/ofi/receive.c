/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - from the fabric to the receive rings.
 *
 * Nothing that a packet says is believed.  What cannot be is counted and dropped, and its receive
 * is posted again.
 */
#include "ofi/ofi.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <string.h>

enum {
    BATCH = 16,   /* completions read at once */
    BATCHES = 16, /* and how often in one turn, so that a flood leaves time for others */
};

/* A packet, its header copied out. */
struct packet {
    struct ofi_header header;
    const uint8_t *data;
    uint32_t bytes; /* of data */
};

/* What became of one. */
enum fate {
    WAITS, /* there is no room for it, or something has to land before it */
    TAKEN,
    WRONG, /* what it says cannot be */
};

/* ---- messages --------------------------------------------------------------------------- */

static void slot_submit(struct ofi_endpoint *oe, uint16_t n, struct unet_desc *slot,
                        const struct packet *p)
{
    struct unet_ring *in = &oe->ni.in[n];

    slot->channel = n;
    slot->length = p->header.length;
    slot->user = p->header.user;
    unet_ring_submit(in);
    unet_rx_mark_filled(&oe->ni.ep, n);
    if (slot->kind != UNET_PLACED)
        oe->link[n].unplaced = in->position;
}

static enum fate inline_deliver(struct ofi_endpoint *oe, uint16_t n, const struct packet *p)
{
    struct unet_desc *slot;

    if (p->header.length != p->bytes || p->bytes > UNET_INLINE_MAX)
        return WRONG;
    slot = unet_ring_reserve(&oe->ni.in[n]);
    if (!slot)
        return WAITS;
    slot->kind = UNET_INLINE;
    slot->pieces = 0;
    memcpy(slot->data, p->data, p->bytes);
    slot_submit(oe, n, slot, p);
    return TAKEN;
}

static enum fate put_deliver(struct ofi_endpoint *oe, uint16_t n, const struct packet *p)
{
    struct unet_desc *slot;
    struct ofi_put put;

    if (p->bytes != sizeof put)
        return WRONG;
    memcpy(&put, p->data, sizeof put);
    if (!unet_ofi_may_write(oe, n, put.place, p->header.length))
        return WRONG;
    slot = unet_ring_reserve(&oe->ni.in[n]);
    if (!slot)
        return WAITS;
    slot->kind = UNET_DIRECT;
    slot->pieces = 0;
    slot->remote = put.place;
    slot_submit(oe, n, slot, p);
    return TAKEN;
}

/* ---- messages in pieces ------------------------------------------------------------------ */

static bool fragment_fits(const struct ofi_link *link, const struct packet *p)
{
    const uint32_t at = (uint32_t)p->header.fragment * OFI_FRAGMENT, length = p->header.length;

    if (length > UNET_MESSAGE_MAX || at >= length ||
        p->bytes != (length - at < OFI_FRAGMENT ? length - at : OFI_FRAGMENT))
        return false;
    return at == 0 || (link->gathered == at && link->gathering == length);
}

/* A message must not land before the owner has read those that came before it: both may write to
 * the same memory.  Those that were placed have landed already. */
static bool may_be_placed(const struct ofi_endpoint *oe, uint16_t n, const struct packet *p)
{
    return oe->placement && p->header.length > UNET_INLINE_MAX && p->bytes == p->header.length &&
           (int32_t)(oe->ni.ep.rx[n].position - oe->link[n].unplaced) >= 0;
}

/* True: it is done with. */
static bool message_place(struct ofi_endpoint *oe, uint16_t n, struct unet_desc *slot,
                          const struct packet *p)
{
    const size_t rest = p->bytes - UNET_PLACED_HEADER;
    struct unet_place place;
    size_t room;

    if (!may_be_placed(oe, n, p))
        return false;
    memcpy(slot->data, p->data, UNET_PLACED_HEADER);
    room = oe->placement(oe->placement_arg, n, p->header.user, slot->data, &place);
    if (room == 0)
        return false;
    if (rest > room) {
        oe->ni.ep.stats.overruns++;
        return true;
    }
    unet_place_copy(&place, p->data + UNET_PLACED_HEADER, rest);
    slot->kind = UNET_PLACED;
    slot->pieces = 0;
    slot_submit(oe, n, slot, p);
    return true;
}

/* Take buffers for a message of which the first fragment has come. */
static enum fate message_begin(struct ofi_endpoint *oe, uint16_t n, const struct packet *p)
{
    struct ofi_link *link = &oe->link[n];
    const int count = unet_ni_take_buffers(&oe->ni, p->header.length, link->piece);

    if (count == -EMSGSIZE) {
        if (unet_ofi_send_refused(oe, n, p->header.user, p->header.length) == -EAGAIN)
            return WAITS;
        link->dropping = true;
    } else if (count < 0) {
        return WAITS;
    }
    link->pieces = (uint8_t)(count > 0 ? count : 0);
    link->gathered = 0;
    link->gathering = p->header.length;
    return TAKEN;
}

static void fragment_copy(struct ofi_endpoint *oe, struct ofi_link *link, const struct packet *p)
{
    const uint8_t *from = p->data;
    uint32_t at = link->gathered, left = p->bytes;

    for (unsigned i = 0; i < link->pieces && left > 0; i++) {
        const struct unet_piece *piece = &link->piece[i];
        const uint32_t skip = at < piece->length ? at : piece->length;
        const uint32_t rest = piece->length - skip, part = rest < left ? rest : left;

        memcpy(oe->ni.ep.segment + piece->offset + skip, from, part);
        at -= skip;
        from += part;
        left -= part;
    }
}

static enum fate fragment_add(struct ofi_endpoint *oe, uint16_t n, struct unet_desc *slot,
                              const struct packet *p)
{
    struct ofi_link *link = &oe->link[n];

    if (!link->dropping)
        fragment_copy(oe, link, p);
    link->gathered += p->bytes;
    if (link->gathered < link->gathering)
        return TAKEN;
    link->gathered = link->gathering = 0;
    if (link->dropping)
        return TAKEN;
    slot->kind = UNET_PIECES;
    slot->pieces = link->pieces;
    memcpy(slot->piece, link->piece, sizeof slot->piece);
    slot_submit(oe, n, slot, p);
    return TAKEN;
}

static enum fate pieces_deliver(struct ofi_endpoint *oe, uint16_t n, const struct packet *p)
{
    struct unet_desc *slot = unet_ring_reserve(&oe->ni.in[n]);
    enum fate fate = TAKEN;

    if (!fragment_fits(&oe->link[n], p))
        return WRONG;
    if (!slot)
        return WAITS;
    if (p->header.fragment == 0) {
        if (message_place(oe, n, slot, p))
            return TAKEN;
        oe->link[n].dropping = false;
        fate = message_begin(oe, n, p);
    }
    return fate == TAKEN ? fragment_add(oe, n, slot, p) : fate;
}

/* ---- packets in order ---------------------------------------------------------------------- */

/* Writes of the peer that were sent before the packet have to land first. */
static bool writes_have_landed(const struct ofi_link *link, const struct packet *p)
{
    return (int16_t)(link->landed - p->header.writes) >= 0;
}

static enum fate packet_deliver(struct ofi_endpoint *oe, uint16_t n, const struct packet *p)
{
    struct ofi_link *link = &oe->link[n];

    if (!writes_have_landed(link, p))
        return WAITS;
    switch (p->header.kind) {
    case OFI_INLINE:
        return inline_deliver(oe, n, p);
    case OFI_PIECES:
        return pieces_deliver(oe, n, p);
    case OFI_PUT:
        return put_deliver(oe, n, p);
    case OFI_GRANT:
        return unet_ofi_granted(link, p->data, p->bytes) ? TAKEN : WRONG;
    case OFI_REVOKE:
        return unet_ofi_revoked(link, p->data, p->bytes) ? TAKEN : WRONG;
    }
    return WRONG;
}

static struct packet packet_of(const struct ofi_op *op)
{
    struct packet p = {.data = op->bytes + sizeof p.header,
                       .bytes = op->length - (uint32_t)sizeof p.header};

    memcpy(&p.header, op->bytes, sizeof p.header);
    return p;
}

/* The receive is posted before the peer can know of its credit.  False: it waits. */
static bool op_deliver(struct ofi_endpoint *oe, uint16_t n, struct ofi_op *op)
{
    const struct packet p = packet_of(op);
    const enum fate fate = packet_deliver(oe, n, &p);

    if (fate == WAITS)
        return false;
    oe->ni.ep.stats.malformed += fate == WRONG;
    oe->link[n].done++;
    unet_ofi_post(oe, op);
    unet_ofi_needs_attention(oe, n);
    return true;
}

void unet_ofi_deliver_held(struct ofi_endpoint *oe, uint16_t n)
{
    struct ofi_list *held = &oe->link[n].held;

    while (held->first) {
        struct ofi_op *op = held->first, *next = op->next;

        if (!op_deliver(oe, n, op))
            break;
        held->first = next;
    }
}

void unet_ofi_drop_held(struct ofi_endpoint *oe, uint16_t n)
{
    struct ofi_op *op;

    while ((op = ofi_list_take(&oe->link[n].held)))
        unet_ofi_post(oe, op);
}

bool unet_ofi_acked(struct ofi_link *link, uint16_t ack)
{
    if ((uint16_t)(ack - link->acked) > (uint16_t)(link->sent - link->acked))
        return false;
    link->acked = ack;
    return true;
}

/* The channel that a packet is for, 0: none.  Whoever knows the token of this opening has told its
 * own; and what a peer sent before it died is still read. */
static uint16_t packet_channel(struct ofi_endpoint *oe, const struct ofi_header *header)
{
    const uint16_t n = header->channel;

    if (!unet_is_channel(&oe->ni.ep, n) || oe->ni.ep.channel[n].state == UNET_CLOSED ||
        oe->link[n].peer_channel == 0 || !ofi_same_token(oe->link[n].token, header->token))
        return 0;
    if (oe->ni.ep.channel[n].state == UNET_CONNECTING)
        unet_ni_set_state(&oe->ni, n, UNET_OPEN);
    return n;
}

/* A fabric that brings packets of one peer out of order, or loses one, is none that this backend
 * can use; most likely it is the peer that is wrong.  Returns false if the receive is free again.
 */
static bool sequenced_arrived(struct ofi_endpoint *oe, const struct packet *p, struct ofi_op *op)
{
    const uint16_t n = packet_channel(oe, &p->header);
    struct ofi_link *link = &oe->link[n];

    if (n == 0) {
        oe->ni.ep.stats.foreign++;
        return false;
    }
    if (p->header.seq != link->expected || (uint16_t)(link->expected - link->done) >= oe->window ||
        !unet_ofi_acked(link, p->header.ack)) {
        oe->ni.ep.stats.malformed++;
        unet_ofi_gone(oe, n);
        return false;
    }
    link->expected++;
    link->common.heard = true;
    link->ask_pause_us = 0;
    if (link->held.first || !op_deliver(oe, n, op)) {
        ofi_list_add(&link->held, op);
        unet_ofi_needs_attention(oe, n);
    }
    return true;
}

static void packet_arrived(struct ofi_endpoint *oe, struct ofi_op *op, size_t bytes)
{
    struct packet p;

    op->length = (uint32_t)bytes;
    if (bytes >= sizeof p.header && bytes <= OFI_PACKET) {
        p = packet_of(op);
        if (p.header.version == OFI_VERSION && p.header.kind >= OFI_INLINE &&
            p.header.kind <= OFI_SEQUENCED) {
            if (sequenced_arrived(oe, &p, op))
                return;
        } else {
            unet_ofi_control(oe, &p.header, p.data, p.bytes);
        }
    } else {
        oe->ni.ep.stats.malformed++;
    }
    unet_ofi_post(oe, op);
}

/* ---- completions ---------------------------------------------------------------------------- */

/* The data of a write is the channel's number and the half of its token. */
static void write_landed(struct ofi_endpoint *oe, uint64_t data)
{
    const uint16_t n = (uint16_t)(data >> 16);

    if (!unet_is_channel(&oe->ni.ep, n) || oe->ni.ep.channel[n].state < UNET_OPEN ||
        (oe->link[n].token[0] & 0xffff) != (data & 0xffff)) {
        oe->ni.ep.stats.foreign++;
        return;
    }
    oe->link[n].landed++;
    oe->link[n].common.heard = true;
    unet_ofi_needs_attention(oe, n);
}

static void op_finished(struct ofi_endpoint *oe, struct ofi_op *op)
{
    if (op->what == OFI_IS_WRITE)
        unet_ofi_written(oe, op->position);
    oe->under_way--;
    ofi_list_add(&oe->free_sends, op);
}

/* Of a write that has landed, not all providers say FI_RMA; messages that bring data, which ours do
 * not, are messages all the same. */
static void completed(struct ofi_endpoint *oe, const struct fi_cq_data_entry *entry)
{
    struct ofi_op *op = entry->op_context;

    if (entry->flags & FI_REMOTE_CQ_DATA && !(entry->flags & FI_MSG))
        write_landed(oe, entry->data);
    else if (entry->flags & FI_RECV)
        packet_arrived(oe, op, entry->len);
    else if (op)
        op_finished(oe, op);
}

/* A receive that failed is posted again: what came was too long for it, or a connection broke. */
static void failed(struct ofi_endpoint *oe)
{
    struct fi_cq_err_entry entry = {0};
    struct ofi_op *op;

    if (fi_cq_readerr(oe->fabric.cq, &entry, 0) != 1)
        return;
    op = entry.op_context;
    if (!unet_ofi_is_op(oe, op))
        return;
    if (op->what == OFI_IS_RECEIVE) {
        oe->ni.ep.stats.malformed += entry.err == FI_ETRUNC;
        unet_ofi_post(oe, op);
        return;
    }
    if (oe->link[op->channel].token[0] == op->token)
        unet_ofi_gone(oe, op->channel);
    op_finished(oe, op);
}

int unet_ofi_receive(struct ofi_endpoint *oe)
{
    struct fi_cq_data_entry entry[BATCH];
    int count = 0;

    for (int i = 0; i < BATCHES; i++) {
        const ssize_t n = fi_cq_read(oe->fabric.cq, entry, BATCH);

        if (n == -FI_EAVAIL)
            failed(oe);
        else if (n <= 0)
            break;
        for (ssize_t k = 0; k < n; k++)
            completed(oe, &entry[k]);
        count += n > 0 ? (int)n : 1;
        if (n < BATCH && n > 0)
            break;
    }
    if (oe->unposted.first)
        unet_ofi_post_again(oe);
    if (oe->attention)
        unet_ofi_attend(oe);
    return count;
}
