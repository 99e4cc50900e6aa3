/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transfer.c - stores, gets and medium messages of any size, a piece at a time.
 *
 * A transfer is a stream of pieces.  Those of stores and gets carry the address that they are for,
 * those of medium messages are messages each.  Channels keep order, so the last piece to be sent is
 * the last to arrive.  The target of a get queues it
 * and sends the data from gam_poll, never from a handler.  A get holds its request credit until its
 * last piece was sent, so at most a window of them is queued.
 */
#include "internal.h"
#include <stdlib.h>

/* ---- streams --------------------------------------------------------------- */

static size_t stream_left(const struct gam_stream *stream)
{
    return stream->place.total - stream->place.offset;
}

static bool stream_at_last_piece(const struct gam_stream *stream)
{
    return stream_left(stream) <= GAM_MEDIUM_MAX;
}

static void stream_advance(struct gam *g, struct gam_stream *stream, size_t n)
{
    stream->place.offset += n;
    stream->finished = stream_left(stream) == 0;
    if (gam_user_kind(stream->user) != GAM_MEDIUM_REQUEST)
        g->stats.bulk_bytes += n;
}

/* Send the next piece.  -EAGAIN: not now. */
static int stream_step(struct gam *g, struct gam_peer *peer, struct gam_stream *stream)
{
    const union gam_header header = {.place = stream->place};
    const size_t n = stream_at_last_piece(stream) ? stream_left(stream) : GAM_MEDIUM_MAX;
    const uint8_t *from = n > 0 ? stream->from + stream->place.offset : NULL;
    int rc = gam_bulk_send(peer, stream->user, &header, from, n);

    if (rc == 0)
        stream_advance(g, stream, n);
    return rc;
}

/* ---- the target of a get --------------------------------------------- */

void gam_get_arrived(struct gam *g, struct gam_peer *peer, uint32_t user, const uint64_t word[])
{
    const uint32_t window = peer->limit[GAM_SMALL];
    struct gam_stream *stream;

    if (peer->dead)
        return;
    if (peer->answers_count == window || !gam_range_ok(word[0], word[2])) {
        g->stats.refused++;
        return;
    }
    stream = &peer->answers[(peer->answers_first + peer->answers_count) % window];
    *stream = (struct gam_stream){
        .from = (const uint8_t *)(uintptr_t)word[0],
        .place = {.base = word[1], .total = word[2], .arg = word[3]},
        .user = gam_user(GAM_GET_DATA, gam_user_handler(user), 0),
    };
    peer->answers_count++;
    gam_list_add(g, peer, GAM_WORKING);
}

/* The last piece returns the credit of the get. */
static int answer_step(struct gam *g, struct gam_peer *peer)
{
    struct gam_stream *stream = &peer->answers[peer->answers_first];
    const bool last = stream_at_last_piece(stream);
    int rc;

    peer->owed[GAM_SMALL] += last;
    rc = stream_step(g, peer, stream);
    if (rc) {
        peer->owed[GAM_SMALL] -= last;
        return rc;
    }
    if (last) {
        peer->answers_first = (peer->answers_first + 1) % peer->limit[GAM_SMALL];
        peer->answers_count--;
    }
    return 0;
}

/* ---- stores ------------------------------------------------------------------ */

/* Those that have been sent, the first one first. */
struct sent_stores {
    struct gam_transfer *first, **end;
};

/* The first one goes no further. */
static struct gam_transfer *store_take(struct gam_peer *peer)
{
    struct gam_transfer *store = peer->stores;

    peer->stores = store->next;
    if (!peer->stores)
        peer->stores_end = &peer->stores;
    return store;
}

static void store_finish(struct gam *g, struct gam_transfer *store, int status)
{
    store->status = status;
    if (!store->async)
        return;
    g->pending--;
    if (store->done) {
        g->context = GAM_IN_REPLY;
        store->done(store->done_arg);
        g->context = GAM_MAIN;
    }
    free(store);
}

/* Where the rows that are left lie, as much of them as one piece takes. */
static struct gam_parts rows_parts(const struct gam_transfer *store)
{
    const struct gam_rows *rows = &store->rows;
    const bool joined = rows->from_stride == (ptrdiff_t)rows->bytes;
    const size_t all = store->stream.place.total, bytes = joined ? all : rows->bytes;
    size_t at = store->stream.place.offset;
    struct gam_parts parts = {.count = 0};

    while (at < all && parts.length < GAM_MEDIUM_MAX && parts.count < UNET_PIECES_MAX - 1) {
        const size_t start = at % bytes, row = at / bytes, room = GAM_MEDIUM_MAX - parts.length;
        const size_t n = bytes - start < room ? bytes - start : room;
        const uint8_t *from = store->stream.from + (ptrdiff_t)row * rows->from_stride + start;

        parts.part[parts.count++] = (struct iovec){(void *)from, n};
        parts.length += n;
        at += n;
    }
    return parts;
}

static struct gam_rows_place rows_place(const struct gam_transfer *store)
{
    const struct gam_rows *rows = &store->rows;
    const struct gam_place *place = &store->stream.place;

    return (struct gam_rows_place){
        .base = place->base + place->offset / rows->bytes * (uint64_t)rows->to_stride,
        .start = (uint32_t)(place->offset % rows->bytes),
        .bytes = rows->bytes,
        .stride = (uint64_t)rows->to_stride,
        .arg = place->arg,
    };
}

/* The last piece has the handler. */
static int rows_step(struct gam *g, struct gam_peer *peer, struct gam_transfer *store)
{
    const union gam_header header = {.rows = rows_place(store)};
    const struct gam_parts parts = rows_parts(store);
    const bool last = stream_left(&store->stream) == parts.length;
    const uint32_t user = last ? store->stream.user : gam_user(GAM_ROWS_DATA, 0, 0);
    int rc = gam_bulk_send_parts(peer, user, &header, &parts);

    if (rc == 0)
        stream_advance(g, &store->stream, parts.length);
    return rc;
}

/* The next message, of the length of all but the last one. */
static int mediums_step(struct gam *g, struct gam_peer *peer, struct gam_transfer *store)
{
    struct gam_stream *stream = &store->stream;
    const size_t left = stream_left(stream), n = left < store->each ? left : store->each;
    int rc =
        gam_bulk_send(peer, stream->user, &store->header, stream->from + stream->place.offset, n);

    if (rc)
        return rc;
    stream_advance(g, stream, n);
    g->stats.mediums++;
    return 0;
}

static int transfer_step(struct gam *g, struct gam_peer *peer, struct gam_transfer *store)
{
    switch (gam_user_kind(store->stream.user)) {
    case GAM_ROWS_DATA:
        return rows_step(g, peer, store);
    case GAM_MEDIUM_REQUEST:
        return mediums_step(g, peer, store);
    default:
        return stream_step(g, peer, &store->stream);
    }
}

static int store_step(struct gam *g, struct gam_peer *peer, struct sent_stores *sent)
{
    int rc = transfer_step(g, peer, peer->stores);

    if (rc == 0 && peer->stores->stream.finished) {
        *sent->end = store_take(peer);
        sent->end = &(*sent->end)->next;
        *sent->end = NULL;
    }
    return rc;
}

static void stores_finish(struct gam *g, struct gam_transfer *store)
{
    while (store) {
        struct gam_transfer *next = store->next;

        store_finish(g, store, 0);
        store = next;
    }
}

/* Our stores and our answers take turns, so that neither starves the other. */
static int peer_work_step(struct gam *g, struct gam_peer *peer, struct sent_stores *sent)
{
    bool answer = peer->answers_count > 0 && (peer->answer_next || !peer->stores);

    peer->answer_next = !answer;
    return answer ? answer_step(g, peer) : store_step(g, peer, sent);
}

static bool peer_work(struct gam *g, struct gam_peer *peer, struct sent_stores *sent)
{
    if (!gam_deferred_send(peer))
        return false;
    while (peer->answers_count > 0 || peer->stores) {
        if (peer_work_step(g, peer, sent) != 0)
            return false;
    }
    return true;
}

/* The length of the transfers that go on now.  It is that of the whole, so that all pieces of one
 * go the same way. */
static size_t bulk_going(const struct gam_peer *peer)
{
    size_t bytes = 0;

    if (peer->stores)
        bytes += peer->stores->stream.place.total;
    if (peer->answers_count > 0)
        bytes += peer->answers[peer->answers_first].place.total;
    return bytes;
}

/* What was sent since the cork may still be read from where it lies until the uncorking, so nobody
 * is told earlier that it was sent. */
bool gam_peer_work(struct gam *g, struct gam_peer *peer)
{
    struct sent_stores sent = {.end = &sent.first};
    bool done;

    unet_cork_bulk(peer->ep, peer->channel, bulk_going(peer));
    done = peer_work(g, peer, &sent);
    unet_uncork(peer->ep);
    stores_finish(g, sent.first);
    return done;
}

void gam_transfers_drop(struct gam *g, struct gam_peer *peer)
{
    peer->answers_count = 0;
    while (peer->stores)
        store_finish(g, store_take(peer), -EPIPE);
}

/* ---- calls -------------------------------------------------------------------- */

static bool call_ok(const struct gam *g, uint32_t dest, uint32_t handler)
{
    return dest < g->ranks && handler < GAM_HANDLERS && g->context == GAM_MAIN;
}

static bool store_ok(const struct gam *g, uint32_t dest, const void *lva, const void *rva, size_t n,
                     uint32_t handler)
{
    return call_ok(g, dest, handler) && gam_range_ok((uintptr_t)lva, n) &&
           gam_range_ok((uintptr_t)rva, n);
}

static bool rows_ok(const struct gam *g, uint32_t dest, const void *lva, const void *rva,
                    const struct gam_rows *rows, uint32_t handler)
{
    size_t all;

    return call_ok(g, dest, handler) && rows->bytes > 0 && rows->count > 0 &&
           !__builtin_mul_overflow(rows->bytes, rows->count, &all) &&
           gam_rows_range_ok((uintptr_t)lva, rows->bytes, rows->from_stride, rows->count) &&
           gam_rows_range_ok((uintptr_t)rva, rows->bytes, rows->to_stride, rows->count);
}

static struct gam_transfer store_of(const void *lva, const void *rva, size_t n, uint32_t handler,
                                    uint64_t arg)
{
    return (struct gam_transfer){
        .stream = {.from = lva,
                   .place = {.base = (uintptr_t)rva, .total = n, .arg = arg},
                   .user = gam_user(GAM_STORE_DATA, handler, 0)},
        .status = -EINPROGRESS,
    };
}

static struct gam_transfer rows_of(const void *lva, const void *rva, const struct gam_rows *rows,
                                   uint32_t handler, uint64_t arg)
{
    struct gam_transfer store = store_of(lva, rva, rows->bytes * rows->count, handler, arg);

    store.rows = *rows;
    store.stream.user = gam_user(GAM_ROWS_DATA, handler, 0);
    return store;
}

static void store_begin(struct gam *g, uint32_t dest, struct gam_transfer *store)
{
    struct gam_peer *peer = &g->peer[dest];

    *peer->stores_end = store;
    peer->stores_end = &store->next;
    g->stats.stores += gam_user_kind(store->stream.user) != GAM_MEDIUM_REQUEST;
    gam_poll_quick(g);
    if (!gam_peer_work(g, peer))
        gam_list_add(g, peer, GAM_WORKING);
}

int gam_transfer_run(struct gam *g, uint32_t dest, struct gam_transfer *store)
{
    struct gam_peer *peer = &g->peer[dest];
    uint32_t rounds = 0;

    if (peer->dead)
        return -EPIPE;
    store_begin(g, dest, store);
    g->stats.stalls += store->status == -EINPROGRESS;
    /* A peer found dead ends the store too, so it is never left behind. */
    while (store->status == -EINPROGRESS)
        gam_wait_step(g, peer, &rounds);
    if (store->stream.place.total > GAM_MEDIUM_MAX)
        gam_push(g, dest);
    return store->status;
}

static int transfer_start(struct gam *g, uint32_t dest, const struct gam_transfer *transfer,
                          gam_done_fn *done, void *done_arg)
{
    struct gam_transfer *store;

    if (g->peer[dest].dead)
        return -EPIPE;
    store = malloc(sizeof(*store));
    if (!store)
        return -ENOMEM;
    *store = *transfer;
    store->async = true;
    store->done = done;
    store->done_arg = done_arg;
    g->pending++;
    store_begin(g, dest, store);
    return 0;
}

int gam_store(struct gam *g, uint32_t dest, const void *lva, void *rva, size_t n, uint32_t handler,
              uint64_t arg)
{
    struct gam_transfer store = store_of(lva, rva, n, handler, arg);

    return store_ok(g, dest, lva, rva, n, handler) ? gam_transfer_run(g, dest, &store)
                                                   : gam_call_refuse(g);
}

int gam_store_async(struct gam *g, uint32_t dest, const void *lva, void *rva, size_t n,
                    uint32_t handler, uint64_t arg, gam_done_fn *done, void *done_arg)
{
    const struct gam_transfer store = store_of(lva, rva, n, handler, arg);

    return store_ok(g, dest, lva, rva, n, handler) ? transfer_start(g, dest, &store, done, done_arg)
                                                   : gam_call_refuse(g);
}

int gam_store_rows(struct gam *g, uint32_t dest, const void *lva, void *rva,
                   const struct gam_rows *rows, uint32_t handler, uint64_t arg)
{
    struct gam_transfer store = rows_of(lva, rva, rows, handler, arg);

    return rows_ok(g, dest, lva, rva, rows, handler) ? gam_transfer_run(g, dest, &store)
                                                     : gam_call_refuse(g);
}

int gam_store_rows_async(struct gam *g, uint32_t dest, const void *lva, void *rva,
                         const struct gam_rows *rows, uint32_t handler, uint64_t arg,
                         gam_done_fn *done, void *done_arg)
{
    const struct gam_transfer store = rows_of(lva, rva, rows, handler, arg);

    return rows_ok(g, dest, lva, rva, rows, handler)
               ? transfer_start(g, dest, &store, done, done_arg)
               : gam_call_refuse(g);
}

int gam_request_mediums(struct gam *g, uint32_t dest, uint32_t handler, const void *data,
                        size_t length, uint32_t words, const uint64_t word[])
{
    const size_t messages = length / GAM_MEDIUM_MAX + (length % GAM_MEDIUM_MAX > 0);
    struct gam_transfer mediums = {
        .stream = {.from = data,
                   .place = {.total = length},
                   .user = gam_user(GAM_MEDIUM_REQUEST, handler, words)},
        .status = -EINPROGRESS,
    };

    if (length <= GAM_MEDIUM_MAX)
        return gam_request_medium(g, dest, handler, data, length, words, word);
    if (!call_ok(g, dest, handler) || !gam_handler_ok(handler) || words > GAM_WORDS_MAX ||
        !gam_range_ok((uintptr_t)data, length))
        return gam_call_refuse(g);
    if (words > 0)
        memcpy(mediums.header.word, word, words * sizeof(word[0]));
    mediums.each = (length + messages - 1) / messages;
    return gam_transfer_run(g, dest, &mediums);
}
