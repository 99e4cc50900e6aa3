/* SPDX-License-Identifier: BSD-3-Clause
 *
 * place.c - stores to buffers: the receiver's hook says where each piece lies, or refuses it.
 *
 * Pieces are copied from the receive buffer by the poll that reads them, never on arrival: a
 * message that several packets make up would still be written after the hook's owner has taken its
 * memory back.
 */
#include "internal.h"

_Static_assert(sizeof(struct gam_place_header) + GAM_PLACE_SMALL_MAX <= UNET_INLINE_MAX,
               "a small store to a buffer travels inline");

/* ---- sending ------------------------------------------------------------- */

static int place_small_try(struct gam_peer *peer, uint32_t user,
                           const struct gam_place_header *header, const void *from, size_t n)
{
    struct unet_desc *slot;

    if (peer->credits[GAM_SMALL] == 0 || peer->deferred)
        return -EAGAIN;
    slot = unet_inline_begin(peer->ep, peer->channel);
    if (!slot)
        return -EAGAIN;
    memcpy(slot->data, header, sizeof(*header));
    if (n > 0)
        memcpy(slot->data + sizeof(*header), from, n);
    unet_inline_end(peer->ep, peer->channel, (uint32_t)(sizeof(*header) + n),
                    user | gam_credits_owed(peer));
    gam_credits_paid(peer);
    peer->credits[GAM_SMALL]--;
    return 0;
}

static int place_small(struct gam *g, uint32_t dest, uint32_t user,
                       const struct gam_place_header *header, const void *from, size_t n)
{
    struct gam_peer *peer = &g->peer[dest];
    uint32_t rounds = 0;

    gam_poll_quick(g);
    while (place_small_try(peer, user, header, from, n) != 0) {
        int rc = gam_wait_step(g, peer, &rounds);

        if (rc)
            return rc;
    }
    g->stats.stalls += rounds > 0;
    g->stats.stores++;
    g->stats.bulk_bytes += n;
    return 0;
}

static int place_large(struct gam *g, uint32_t dest, uint32_t handler,
                       const struct gam_place_header *header, const void *from, size_t n)
{
    struct gam_transfer store = {
        .stream = {.from = from,
                   .place = {.base = header->offset,
                             .total = n,
                             .arg = (uint64_t)header->buffer << 32 | header->arg},
                   .user = gam_user(GAM_PLACE_DATA, handler, 0)},
        .status = -EINPROGRESS,
    };

    return gam_transfer_run(g, dest, &store);
}

int gam_place_store(struct gam *g, uint32_t dest, const void *lva, size_t n, uint32_t buffer,
                    uint64_t offset, uint32_t handler, uint32_t arg)
{
    const struct gam_place_header header = {.offset = offset, .buffer = buffer, .arg = arg};

    if (dest >= g->ranks || handler >= GAM_HANDLERS || g->context != GAM_MAIN ||
        !gam_range_ok((uintptr_t)lva, n) || offset + n < offset)
        return gam_call_refuse(g);
    if (g->peer[dest].dead)
        return -EPIPE;
    if (n <= GAM_PLACE_SMALL_MAX)
        return place_small(g, dest, gam_user(GAM_PLACE_SMALL, handler, 0), &header, lva, n);
    return place_large(g, dest, handler, &header, lva, n);
}

/* ---- receiving ------------------------------------------------------------ */

int gam_set_placement(struct gam *g, gam_placement_fn *fn, void *arg)
{
    if (fn && g->place)
        return -EBUSY;
    g->place = fn;
    g->place_arg = arg;
    return 0;
}

void *gam_placement_arg(const struct gam *g)
{
    return g->place ? g->place_arg : NULL;
}

/* The hook is asked once for what has no bytes, too: its handler needs the owner's leave. */
static bool piece_place(const struct gam *g, struct gam_piece piece, const uint8_t *bytes)
{
    do {
        size_t n = piece.length;
        void *to = g->place(g->place_arg, &piece, &n);

        if (!to || n > piece.length || (n == 0 && piece.length > 0))
            return false;
        if (n == 0)
            return true;
        memcpy(to, bytes, n);
        bytes += n;
        piece.offset += n;
        piece.length -= n;
    } while (piece.length > 0);
    return true;
}

static void place_handler_run(struct gam *g, const struct gam_peer *peer, uint32_t index,
                              const struct gam_place_header *header, size_t n)
{
    const struct gam_message m = {.source = peer->rank,
                                  .words = 3,
                                  .handler = (uint16_t)index,
                                  .word = {header->arg, header->buffer, header->offset},
                                  .length = n};

    gam_handler_run(g, GAM_IN_REQUEST, g->handler[index], &m);
}

/* Bytes `done`.. of a store of `total` have come. */
static void place_piece(struct gam *g, const struct gam_bulk *bulk,
                        const struct gam_place_header *header, uint64_t done, uint64_t total)
{
    const uint32_t index = gam_user_handler(bulk->user);
    const struct gam_piece piece = {.source = bulk->peer->rank,
                                    .buffer = header->buffer,
                                    .offset = header->offset + done,
                                    .length = bulk->length};
    const bool wraps = header->offset + total < header->offset;

    if (!g->place || wraps || (index != 0 && !g->handler[index]) ||
        !piece_place(g, piece, bulk->data)) {
        g->stats.refused++;
        return;
    }
    if (index != 0 && done + bulk->length == total)
        place_handler_run(g, bulk->peer, index, header, total);
}

void gam_place_arrived(struct gam *g, const struct gam_bulk *bulk)
{
    const struct gam_place *place = &bulk->header.place;
    const struct gam_place_header header = {
        .offset = place->base, .buffer = (uint32_t)(place->arg >> 32), .arg = (uint32_t)place->arg};

    if (!bulk->data || place->offset > place->total ||
        bulk->length > place->total - place->offset || (bulk->length == 0 && place->total > 0)) {
        g->stats.refused++;
        return;
    }
    place_piece(g, bulk, &header, place->offset, place->total);
}

void gam_place_small_arrived(struct gam *g, struct gam_peer *peer, struct unet_desc *desc)
{
    struct gam_place_header header;
    const struct gam_bulk bulk = {.peer = peer,
                                  .user = desc->user,
                                  .length = desc->length - sizeof(header),
                                  .data = desc->data + sizeof(header)};

    memcpy(&header, desc->data, sizeof(header));
    place_piece(g, &bulk, &header, 0, bulk.length);
}
