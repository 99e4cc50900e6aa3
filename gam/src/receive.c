/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - polling: from the descriptor to the handler, and acks.
 *
 * U-Net hands out descriptors as private copies.  Their contents are checked here, and their slot
 * is released before the handler runs.
 */
#include "internal.h"

enum {
    POLL_BUDGET =
        256, /* messages per port and poll, so that a flood cannot keep the caller from its work */
    CHECK_INTERVAL = 64, /* empty polls between two checks for dead peers */
};

/* ---- returning credits ------------------------------------------------------------------ */

/* Return credits by a message of its own.  False: no slot now. */
static bool GAM_COLD credits_send(struct gam *g, struct gam_peer *peer)
{
    if (peer->dead) {
        gam_credits_paid(peer);
        return true;
    }
    if (gam_small_send(peer, gam_user(GAM_ACK, 0, 0), 0, (struct gam_words){{0}}) != 0)
        return false;
    g->stats.acks++;
    return true;
}

/* A message of this class was handled.  Half a window of credits is returned at once, before the
 * sender has to wait for them; fewer wait for a message that is sent anyway. */
static inline void credits_settle(struct gam *g, struct gam_peer *peer, enum gam_class class_)
{
    if (peer->owed[class_] == 0)
        return;
    gam_list_add(g, peer, GAM_OWING);
    if (gam_unlikely(peer->owed[class_] >= peer->limit[class_] / 2u))
        credits_send(g, peer);
}

void gam_credits_return_all(struct gam *g)
{
    struct gam_peer *peer = g->list[GAM_OWING];

    g->list[GAM_OWING] = NULL;
    while (peer) {
        struct gam_peer *next = peer->next[GAM_OWING];

        peer->on[GAM_OWING] = false;
        if (peer->owed[GAM_SMALL] + peer->owed[GAM_BULK] > 0 && !credits_send(g, peer))
            gam_list_add(g, peer, GAM_OWING);
        peer = next;
    }
}

/* ---- arrivals --------------------------------------------------------------- */

void gam_handler_run(struct gam *g, enum gam_context context, gam_handler_fn *fn,
                     const struct gam_message *m)
{
    g->context = context;
    g->replied = false;
    fn(g, m);
    g->context = GAM_MAIN;
    g->stats.handled++;
}

/* The peer returns credits.  More than it can have are refused. */
static inline void credits_take(struct gam *g, struct gam_peer *peer, uint32_t user)
{
    const uint32_t small = peer->credits[GAM_SMALL] + gam_user_credits(user, GAM_SMALL);
    const uint32_t bulk = peer->credits[GAM_BULK] + gam_user_credits(user, GAM_BULK);

    if (gam_unlikely(small > peer->limit[GAM_SMALL] || bulk > peer->limit[GAM_BULK])) {
        g->stats.refused++;
        return;
    }
    peer->credits[GAM_SMALL] = small;
    peer->credits[GAM_BULK] = bulk;
}

/* Whether the peer had a credit left for this request.  Deferred replies hold credits of both
 * classes. */
static inline bool request_admit(struct gam *g, struct gam_peer *peer, enum gam_class class_)
{
    if (gam_unlikely(peer->owed[class_] >= peer->limit[class_] ||
                     peer->deferred_count >=
                         peer->limit[GAM_SMALL] + (uint32_t)peer->limit[GAM_BULK])) {
        g->stats.refused++;
        return false;
    }
    peer->owed[class_]++;
    g->requester = peer;
    g->requester_class = class_;
    return true;
}

static inline void small_arrived(struct gam *g, struct gam_peer *peer, uint32_t user,
                                 const struct unet_desc *slot)
{
    const bool is_request = gam_user_kind(user) == GAM_REQUEST;
    const uint32_t words = gam_user_words(user);
    gam_handler_fn *fn = g->handler[gam_user_handler(user)];
    const bool ok = fn && words <= GAM_WORDS_MAX && slot->length == words * 8;
    struct gam_message m;

    m.source = peer->rank;
    m.words = (uint16_t)words;
    m.handler = (uint16_t)gam_user_handler(user);
    m.data = NULL;
    m.length = 0;
    memcpy(m.word, slot->word, sizeof(m.word));
    unet_rx_release(peer->ep);

    if (is_request && !request_admit(g, peer, GAM_SMALL))
        return;
    if (gam_likely(ok))
        gam_handler_run(g, is_request ? GAM_IN_REQUEST : GAM_IN_REPLY, fn, &m);
    else
        g->stats.refused++;
    if (is_request)
        credits_settle(g, peer, GAM_SMALL);
}

/* ---- uncommon arrivals ------------------------------------------------ */

static void bulk_arrived(struct gam *g, struct gam_peer *peer, uint32_t user, uint8_t *bytes,
                         size_t length)
{
    struct gam_bulk bulk = {.peer = peer, .user = user};

    if (!request_admit(g, peer, GAM_BULK))
        return;
    if (length >= sizeof(bulk.header) && length <= sizeof(bulk.header) + GAM_MEDIUM_MAX) {
        memcpy(&bulk.header, bytes, sizeof(bulk.header));
        bulk.data = bytes + sizeof(bulk.header);
        bulk.length = length - sizeof(bulk.header);
        gam_bulk_arrived(g, &bulk);
    } else {
        g->stats.refused++;
    }
    credits_settle(g, peer, GAM_BULK);
}

static bool is_bulk(uint32_t user)
{
    const uint32_t kind = gam_user_kind(user);

    return kind >= GAM_MEDIUM_REQUEST && kind <= GAM_ROWS_DATA;
}

static bool is_receive_buffer(const struct gam_port *port, uint32_t offset)
{
    return offset >= GAM_RECEIVE_BASE && offset < port->receive_end &&
           (offset - GAM_RECEIVE_BASE) % GAM_BUFFER_BYTES == 0;
}

static void place_small_arrived(struct gam *g, struct gam_peer *peer, struct unet_desc *desc)
{
    if (!request_admit(g, peer, GAM_SMALL))
        return;
    if (desc->length >= sizeof(struct gam_place_header) && desc->length <= UNET_INLINE_MAX)
        gam_place_small_arrived(g, peer, desc);
    else
        g->stats.refused++;
    credits_settle(g, peer, GAM_SMALL);
}

static void inline_arrived(struct gam *g, struct gam_peer *peer, struct unet_desc *desc)
{
    const uint32_t kind = gam_user_kind(desc->user);

    if (kind == GAM_GET && desc->length == 4 * sizeof(uint64_t))
        gam_get_arrived(g, peer, desc->user, desc->word);
    else if (is_bulk(desc->user) && desc->length <= UNET_INLINE_MAX)
        bulk_arrived(g, peer, desc->user, desc->data, desc->length);
    else if (kind == GAM_PLACE_SMALL)
        place_small_arrived(g, peer, desc);
    else if (kind != GAM_ACK)
        g->stats.refused++;
}

static void give_buffers_back(const struct gam_port *port, const struct unet_desc *desc)
{
    for (uint32_t i = 0; i < desc->pieces && i < UNET_PIECES_MAX; i++) {
        if (is_receive_buffer(port, desc->piece[i].offset))
            unet_free_put(port->ep, desc->piece[i].offset, GAM_BUFFER_BYTES);
    }
}

/* The credit may be returned while the handler still uses the buffer; therefore there is one
 * buffer more than credits. */
static void pieces_arrived(struct gam *g, struct gam_peer *peer, const struct unet_desc *desc)
{
    const uint32_t offset = desc->piece[0].offset;

    if (is_bulk(desc->user) && desc->pieces == 1 && desc->length <= GAM_BUFFER_BYTES &&
        is_receive_buffer(peer->port, offset))
        bulk_arrived(g, peer, desc->user, peer->ep->segment + offset, desc->length);
    else
        g->stats.refused++;
    give_buffers_back(peer->port, desc);
}

/* A piece of a transfer is at its place already: gam_bulk_place. */
static void placed_arrived(struct gam *g, struct gam_peer *peer, const struct unet_desc *desc)
{
    struct gam_bulk bulk = {.peer = peer, .user = desc->user};

    if (!request_admit(g, peer, GAM_BULK))
        return;
    memcpy(&bulk.header, desc->data, sizeof(bulk.header));
    bulk.length = desc->length - sizeof(bulk.header);
    gam_bulk_arrived(g, &bulk);
    credits_settle(g, peer, GAM_BULK);
}

/* Bytes that the peer has put where it was allowed to (unet_put): a message behind them says what
 * they are for. */
static bool is_put(const struct unet_desc *desc)
{
    return desc->kind == UNET_DIRECT && desc->pieces == 0;
}

static void GAM_COLD uncommon_arrived(struct gam *g, const struct gam_port *port,
                                      struct gam_peer *peer, const struct unet_desc *slot)
{
    struct unet_desc desc = *slot;

    unet_rx_release(port->ep);
    if (!peer) { /* ring 0: the network interface has refused a send of ours */
        if (desc.channel <= port->ep->config.channels && port->by_channel[desc.channel])
            gam_peer_check(g, port->by_channel[desc.channel]);
        return;
    }
    credits_take(g, peer, desc.user);
    if (desc.kind == UNET_INLINE)
        inline_arrived(g, peer, &desc);
    else if (desc.kind == UNET_PIECES)
        pieces_arrived(g, peer, &desc);
    else if (desc.kind == UNET_PLACED)
        placed_arrived(g, peer, &desc);
    else if (!is_put(&desc))
        g->stats.refused++;
}

/* ---- polling -------------------------------------------------------------------- */

static inline bool is_small(uint32_t user)
{
    return gam_user_kind(user) - GAM_REQUEST <= GAM_REPLY - GAM_REQUEST;
}

/* Ring n has the messages of channel n; ring 0, which belongs to no peer, has errors. */
static inline void message_arrived(struct gam *g, const struct gam_port *port,
                                   const struct unet_desc *slot)
{
    const uint32_t user = slot->user;
    struct gam_peer *peer = port->by_channel[port->ep->rx_next];

    g->serving = peer;
    if (gam_unlikely(!peer || slot->kind != UNET_INLINE || !is_small(user))) {
        uncommon_arrived(g, port, peer, slot);
        return;
    }
    credits_take(g, peer, user);
    small_arrived(g, peer, user, slot);
}

static void peers_work(struct gam *g)
{
    struct gam_peer *peer = g->list[GAM_WORKING];

    g->list[GAM_WORKING] = NULL;
    while (peer) {
        struct gam_peer *next = peer->next[GAM_WORKING];

        peer->on[GAM_WORKING] = false;
        g->serving = peer;
        if (!gam_peer_work(g, peer))
            gam_list_add(g, peer, GAM_WORKING);
        peer = next;
    }
}

/* Nothing has arrived, so there is time for what can wait.  Over a network a message of its own for
 * credits costs more than many polls, and a message that is sent anyway may return them soon. */
static void poll_idle(struct gam *g)
{
    g->stats.empty_polls++;
    if (g->list[GAM_OWING] && ++g->quiet_polls > g->quiet_before_ack)
        gam_credits_return_all(g);
    if (++g->idle_polls % CHECK_INTERVAL == 0)
        gam_peers_check(g);
}

/* The budget keeps a flood at one port from delaying the other.  The replies of one poll share
 * packets. */
static inline int port_handle(struct gam *g, const struct gam_port *port)
{
    const struct unet_desc *slot;
    int handled = 0;

    while (handled < POLL_BUDGET && (slot = unet_rx_peek(port->ep)) != NULL) {
        if (handled++ == 0)
            unet_cork(port->ep);
        message_arrived(g, port, slot);
    }
    if (handled > 0)
        unet_uncork(port->ep);
    return handled;
}

/* Messages that the endpoint takes in only now are handled now, because the caller may be about to
 * sleep. */
static inline int port_drain(struct gam *g, const struct gam_port *port)
{
    const int handled = port_handle(g, port);

    return handled == 0 && unet_progress(port->ep) > 0 ? port_handle(g, port) : handled;
}

int gam_poll(struct gam *g)
{
    int handled = 0;

    if (gam_unlikely(g->context != GAM_MAIN))
        return 0;
    g->stats.polls++;
    for (uint32_t i = 0; i < g->ports; i++)
        handled += port_drain(g, &g->port[i]);
    if (g->list[GAM_WORKING])
        peers_work(g);
    g->serving = NULL;
    if (handled == 0)
        poll_idle(g);
    else
        g->quiet_polls = 0;
    return handled;
}
