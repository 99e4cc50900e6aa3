/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transfer.c - stores and gets of any size, a piece at a time.
 *
 * A transfer is a stream of pieces, each of which carries the address that it is for.  Channels
 * keep order, so the last piece to be sent is the last to arrive.  The target of a get queues it
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

/* Send the next piece.  -EAGAIN: not now. */
static int stream_step(struct gam *g, struct gam_peer *peer, struct gam_stream *stream)
{
    const union gam_header header = {.place = stream->place};
    const bool last = stream_at_last_piece(stream);
    const size_t n = last ? stream->place.total - stream->place.offset : GAM_MEDIUM_MAX;
    const uint8_t *from = n > 0 ? stream->from + stream->place.offset : NULL;
    int rc = gam_bulk_send(peer, stream->user, &header, from, n);

    if (rc)
        return rc;
    stream->place.offset += n;
    stream->finished = last;
    g->stats.bulk_bytes += n;
    return 0;
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

static int store_step(struct gam *g, struct gam_peer *peer, struct sent_stores *sent)
{
    int rc = stream_step(g, peer, &peer->stores->stream);

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

static bool store_ok(const struct gam *g, uint32_t dest, const void *lva, const void *rva, size_t n,
                     uint32_t handler)
{
    return dest < g->ranks && handler < GAM_HANDLERS && g->context == GAM_MAIN &&
           gam_range_ok((uintptr_t)lva, n) && gam_range_ok((uintptr_t)rva, n);
}

static void store_begin(struct gam *g, uint32_t dest, struct gam_transfer *store)
{
    struct gam_peer *peer = &g->peer[dest];

    *peer->stores_end = store;
    peer->stores_end = &store->next;
    g->stats.stores++;
    gam_poll_quick(g);
    if (!gam_peer_work(g, peer))
        gam_list_add(g, peer, GAM_WORKING);
}

int gam_transfer_run(struct gam *g, uint32_t dest, struct gam_transfer *store)
{
    uint32_t rounds = 0;

    store_begin(g, dest, store);
    g->stats.stalls += store->status == -EINPROGRESS;
    /* A peer found dead ends the store too, so it is never left behind. */
    while (store->status == -EINPROGRESS)
        gam_wait_step(g, &g->peer[dest], &rounds);
    return store->status;
}

int gam_store(struct gam *g, uint32_t dest, const void *lva, void *rva, size_t n, uint32_t handler,
              uint64_t arg)
{
    struct gam_transfer store = {
        .stream = {.from = lva,
                   .place = {.base = (uintptr_t)rva, .total = n, .arg = arg},
                   .user = gam_user(GAM_STORE_DATA, handler, 0)},
        .status = -EINPROGRESS,
    };

    if (!store_ok(g, dest, lva, rva, n, handler))
        return gam_call_refuse(g);
    if (g->peer[dest].dead)
        return -EPIPE;
    return gam_transfer_run(g, dest, &store);
}

int gam_store_async(struct gam *g, uint32_t dest, const void *lva, void *rva, size_t n,
                    uint32_t handler, uint64_t arg, gam_done_fn *done, void *done_arg)
{
    struct gam_transfer *store;

    if (!store_ok(g, dest, lva, rva, n, handler))
        return gam_call_refuse(g);
    if (g->peer[dest].dead)
        return -EPIPE;
    store = malloc(sizeof(*store));
    if (!store)
        return -ENOMEM;
    *store = (struct gam_transfer){
        .stream = {.from = lva,
                   .place = {.base = (uintptr_t)rva, .total = n, .arg = arg},
                   .user = gam_user(GAM_STORE_DATA, handler, 0)},
        .status = -EINPROGRESS,
        .async = true,
        .done = done,
        .done_arg = done_arg,
    };
    g->pending++;
    store_begin(g, dest, store);
    return 0;
}
