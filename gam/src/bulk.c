/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bulk.c - messages with a header: medium messages and pieces of transfers.
 */
#include "internal.h"

_Static_assert(sizeof(union gam_header) + GAM_MEDIUM_MAX <= GAM_BUFFER_BYTES,
               "a medium message fits into a buffer");
_Static_assert(sizeof(union gam_header) == UNET_PLACED_HEADER, "a header stays with its message");
_Static_assert(GAM_HANDLERS <= 256, "a handler index is one byte");
_Static_assert(GAM_WORDS_MAX * 8 <= UNET_INLINE_MAX, "words travel inline");

/* ---- sending ------------------------------------------------------------- */

static bool buffer_free(const struct gam_port *port, struct gam_buffer *buffer)
{
    if (buffer->busy && unet_sent(port->ep, buffer->ticket))
        buffer->busy = false;
    return !buffer->busy;
}

static void parts_copy(uint8_t *to, const struct gam_parts *data)
{
    for (uint32_t i = 0; i < data->count; to += data->part[i++].iov_len) {
        if (data->part[i].iov_len > 0)
            memcpy(to, data->part[i].iov_base, data->part[i].iov_len);
    }
}

static int bulk_send_inline(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                            const struct gam_parts *data)
{
    const size_t length = sizeof(*header) + data->length;
    uint64_t word[UNET_INLINE_MAX / 8];
    struct unet_desc *slot = unet_inline_begin(peer->ep, peer->channel);

    if (!slot)
        return -EAGAIN;
    memcpy(word, header, sizeof(*header));
    parts_copy((uint8_t *)(word + GAM_WORDS_MAX), data);
    memcpy(slot->data, word, length);
    unet_inline_end(peer->ep, peer->channel, (uint32_t)length, user | gam_credits_owed(peer));
    return 0;
}

/* Buffers are used in turn, because the send queue empties in turn. */
static int bulk_send_buffer(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                            const struct gam_parts *data)
{
    struct gam_port *port = peer->port;
    struct gam_buffer *buffer = &port->buffer[port->buffer_next];
    const struct unet_piece piece = {
        .offset = port->buffer_next * GAM_BUFFER_BYTES,
        .length = (uint32_t)(sizeof(*header) + data->length),
    };
    int rc;

    if (!buffer_free(port, buffer))
        return -EAGAIN;
    memcpy(port->ep->segment + piece.offset, header, sizeof(*header));
    parts_copy(port->ep->segment + piece.offset + sizeof(*header), data);
    rc = unet_send(port->ep, peer->channel, user | gam_credits_owed(peer), &piece, 1,
                   &buffer->ticket);
    if (rc)
        return -EAGAIN;
    buffer->busy = true;
    port->buffer_next = (port->buffer_next + 1) % GAM_SEND_BUFFERS;
    return 0;
}

/* An endpoint with packets copies the message from where it lies. */
static int bulk_send_packets(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                             const struct gam_parts *data)
{
    struct iovec iov[UNET_PIECES_MAX] = {{(void *)header, sizeof(*header)}};

    memcpy(iov + 1, data->part, data->count * sizeof(iov[0]));
    return unet_sendv(peer->ep, peer->channel, user | gam_credits_owed(peer), iov, 1 + data->count)
               ? -EAGAIN
               : 0;
}

/* The last credit is kept for replies and answers to gets.  Their credits are always returned,
 * while a request's credit may be held until its reply was sent: two ranks that spent all credits
 * on requests to each other would wait for ever. */
static uint32_t bulk_credits_reserved(uint32_t user)
{
    const uint32_t kind = gam_user_kind(user);

    return kind == GAM_MEDIUM_REQUEST || kind == GAM_STORE_DATA || kind == GAM_PLACE_DATA ||
           kind == GAM_ROWS_DATA;
}

int gam_bulk_send_parts(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                        const struct gam_parts *data)
{
    int rc;

    if (peer->credits[GAM_BULK] <= bulk_credits_reserved(user))
        return -EAGAIN;
    if (data->length <= GAM_INLINE_BYTES)
        rc = bulk_send_inline(peer, user, header, data);
    else if (peer->ep->ops->packets)
        rc = bulk_send_packets(peer, user, header, data);
    else
        rc = bulk_send_buffer(peer, user, header, data);
    if (rc)
        return rc;
    gam_credits_paid(peer);
    peer->credits[GAM_BULK]--;
    return 0;
}

int gam_bulk_send(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                  const void *data, size_t length)
{
    const struct gam_parts one = {.part = {{(void *)data, length}}, .count = 1, .length = length};

    return gam_bulk_send_parts(peer, user, header, &one);
}

static int medium_try(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                      const void *data, size_t length)
{
    if (peer->deferred)
        return -EAGAIN;
    return gam_bulk_send(peer, user, header, data, length);
}

int gam_request_medium(struct gam *g, uint32_t dest, uint32_t handler, const void *data,
                       size_t length, uint32_t words, const uint64_t word[])
{
    const uint32_t user = gam_user(GAM_MEDIUM_REQUEST, handler, words);
    union gam_header header = {0};
    uint32_t rounds = 0;

    if (dest >= g->ranks || !gam_handler_ok(handler) || words > GAM_WORDS_MAX ||
        g->context != GAM_MAIN)
        return gam_call_refuse(g);
    if (length > GAM_MEDIUM_MAX)
        return -EMSGSIZE;
    if (words > 0)
        memcpy(header.word, word, words * sizeof(word[0]));

    gam_poll_quick(g);
    while (medium_try(&g->peer[dest], user, &header, data, length) != 0) {
        int rc = gam_wait_step(g, &g->peer[dest], &rounds);

        if (rc)
            return rc;
    }
    g->stats.stalls += rounds > 0;
    g->stats.mediums++;
    return 0;
}

/* ---- receiving ------------------------------------------------------------ */

static void medium_arrived(struct gam *g, enum gam_context context, const struct gam_bulk *bulk)
{
    gam_handler_fn *fn = g->handler[gam_user_handler(bulk->user)];
    struct gam_message m = {
        .source = bulk->peer->rank,
        .words = gam_user_words(bulk->user),
        .handler = gam_user_handler(bulk->user),
        .data = bulk->data,
        .length = bulk->length,
    };

    if (!fn || m.words > GAM_WORDS_MAX) {
        g->stats.refused++;
        return;
    }
    memcpy(m.word, bulk->header.word, sizeof(m.word));
    gam_handler_run(g, context, fn, &m);
}

static bool place_ok(const struct gam_place *place, size_t length)
{
    return place->offset <= place->total && length <= place->total - place->offset &&
           (length > 0 || place->total == 0) && gam_range_ok(place->base, place->total);
}

/* How many rows a piece of so many bytes, at least one, reaches into. */
static uint64_t rows_reached(const struct gam_rows_place *place, size_t length)
{
    return (place->start + (uint64_t)length - 1) / place->bytes + 1;
}

static bool rows_place_ok(const struct gam_rows_place *place, size_t length)
{
    return length > 0 && place->start < place->bytes &&
           gam_rows_range_ok(place->base, place->bytes, (int64_t)place->stride,
                             rows_reached(place, length));
}

static struct unet_place rows_at(const struct gam_rows_place *rows)
{
    return (struct unet_place){.to = (uint8_t *)(uintptr_t)(rows->base + rows->start),
                               .left = rows->bytes - rows->start,
                               .bytes = rows->bytes,
                               .stride = rows->stride};
}

/* Rows that the piece might reach into have to be there, too; else it goes into a buffer. */
static size_t rows_place(const struct gam_rows_place *rows, struct unet_place *place)
{
    *place = rows_at(rows);
    return rows_place_ok(rows, GAM_MEDIUM_MAX) ? GAM_MEDIUM_MAX : 0;
}

static size_t piece_place(const struct gam_place *piece, struct unet_place *place)
{
    size_t length = piece->total - piece->offset; /* nonsense if it is beyond, and then not ok */

    length = length < GAM_MEDIUM_MAX ? length : GAM_MEDIUM_MAX;
    if (!place_ok(piece, length))
        return 0;
    *place = (struct unet_place){.to = (uint8_t *)(uintptr_t)(piece->base + piece->offset),
                                 .left = length};
    return length;
}

/* unet_placement_fn: pieces of transfers go straight to their address.  A piece without a place is
 * put into a buffer, and refused when it is read.  Who sends more pieces than it has credits, or
 * names no handler, has its bytes placed, where it could have put them in order, and is refused
 * afterwards. */
size_t gam_bulk_place(void *arg, uint16_t channel, uint32_t user, const void *header,
                      struct unet_place *place)
{
    const struct gam_port *port = arg;
    const struct gam_peer *peer = port->by_channel[channel];
    const uint32_t kind = gam_user_kind(user);
    union gam_header piece;

    memcpy(&piece, header, sizeof(piece));
    if (!peer)
        return 0;
    if (kind == GAM_ROWS_DATA)
        return rows_place(&piece.rows, place);
    if (kind == GAM_STORE_DATA || (kind == GAM_GET_DATA && peer->gets > 0))
        return piece_place(&piece.place, place);
    return 0;
}

/* A piece of a transfer is copied to its address, unless it is there; the last one runs the
 * handler. */
static void piece_arrived(struct gam *g, enum gam_context context, const struct gam_bulk *bulk)
{
    const struct gam_place *place = &bulk->header.place;
    const uint32_t index = gam_user_handler(bulk->user);
    const bool asked_for = context == GAM_IN_REQUEST || bulk->peer->gets > 0;
    uint8_t *to = (uint8_t *)(uintptr_t)place->base;

    if (!asked_for || !place_ok(place, bulk->length) || (index != 0 && !g->handler[index])) {
        g->stats.refused++;
        return;
    }
    if (bulk->data && bulk->length > 0)
        memcpy(to + place->offset, bulk->data, bulk->length);
    if (place->offset + bulk->length < place->total)
        return;
    if (context == GAM_IN_REPLY) {
        bulk->peer->gets--;
        g->pending--;
    }
    if (index != 0) {
        const struct gam_message m = {.source = bulk->peer->rank,
                                      .words = 1,
                                      .handler = index,
                                      .word = {place->arg},
                                      .data = to,
                                      .length = place->total};

        gam_handler_run(g, context, g->handler[index], &m);
    }
}

static void rows_arrived(struct gam *g, const struct gam_bulk *bulk)
{
    const struct gam_rows_place *rows = &bulk->header.rows;
    const uint32_t index = gam_user_handler(bulk->user);
    struct unet_place place;

    if (!rows_place_ok(rows, bulk->length) || (index != 0 && !g->handler[index])) {
        g->stats.refused++;
        return;
    }
    place = rows_at(rows);
    if (bulk->data)
        unet_place_copy(&place, bulk->data, bulk->length);
    if (index != 0) {
        const struct gam_message m = {.source = bulk->peer->rank,
                                      .words = 1,
                                      .handler = (uint16_t)index,
                                      .word = {rows->arg}};

        gam_handler_run(g, GAM_IN_REQUEST, g->handler[index], &m);
    }
}

void gam_bulk_arrived(struct gam *g, const struct gam_bulk *bulk)
{
    switch (gam_user_kind(bulk->user)) {
    case GAM_MEDIUM_REQUEST:
        medium_arrived(g, GAM_IN_REQUEST, bulk);
        break;
    case GAM_MEDIUM_REPLY:
        medium_arrived(g, GAM_IN_REPLY, bulk);
        break;
    case GAM_STORE_DATA:
        piece_arrived(g, GAM_IN_REQUEST, bulk);
        break;
    case GAM_GET_DATA:
        piece_arrived(g, GAM_IN_REPLY, bulk);
        break;
    case GAM_PLACE_DATA:
        gam_place_arrived(g, bulk);
        break;
    case GAM_ROWS_DATA:
        rows_arrived(g, bulk);
        break;
    }
}
