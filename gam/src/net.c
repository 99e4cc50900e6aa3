/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net.c - instances of the protocol: links, buffers, timers.
 *
 * Timers are lazy: a link's time in the heap is never too late, but may be too early.  When it
 * comes, the link is asked again.  So the time of a timer that is put off with every packet
 * costs a store.
 */
#include "link.h"
#include <stdlib.h>
#include <string.h>

enum {
    LINK_BITS = 3,  /* places for links at first, as a power of two */
    BURST = 16,     /* packets of a link in a row before the others' turn */
    HEARTBEATS = 4, /* in a peer timeout, when a link is idle */
    QUESTIONS = 64, /* in a peer timeout, when nobody answers */
};

/* ---- the heap of timers -------------------------------------------------------- */

static void heap_put(struct gam_net *net, struct gam_link *link, uint32_t at)
{
    net->heap[at] = link;
    link->heap_at = at;
}

static void heap_up(struct gam_net *net, struct gam_link *link)
{
    uint32_t at = link->heap_at;

    for (; at > 0 && net->heap[(at - 1) / 2]->due > link->due; at = (at - 1) / 2)
        heap_put(net, net->heap[(at - 1) / 2], at);
    heap_put(net, link, at);
}

static void heap_down(struct gam_net *net, struct gam_link *link)
{
    uint32_t at = link->heap_at;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < net->heap_count && net->heap[child + 1]->due < net->heap[child]->due)
            child++;
        if (child >= net->heap_count || net->heap[child]->due >= link->due)
            break;
        heap_put(net, net->heap[child], at);
        at = child;
    }
    heap_put(net, link, at);
}

static int heap_grow(struct gam_net *net)
{
    const uint32_t room = net->heap_room ? 2 * net->heap_room : 16;
    struct gam_link **heap;

    if (net->heap_count < net->heap_room)
        return 0;
    heap = realloc(net->heap, room * sizeof(struct gam_link *));
    if (!heap)
        return -ENOMEM;
    net->heap = heap;
    net->heap_room = room;
    return 0;
}

static void heap_remove(struct gam_net *net, struct gam_link *link)
{
    struct gam_link *last = net->heap[--net->heap_count];

    if (last == link)
        return;
    heap_put(net, last, link->heap_at);
    heap_up(net, last);
    heap_down(net, last);
}

void gam_net_due(struct gam_net *net, struct gam_link *link, uint64_t at)
{
    if (at < link->due && !link->dead) {
        link->due = at;
        heap_up(net, link);
    }
}

/* ---- parcels --------------------------------------------------------------------- */

static struct gam_parcel *parcel_new(struct gam_net *net)
{
    struct gam_parcel *parcel =
        malloc(offsetof(struct gam_parcel, bytes) + net->config.packet_bytes);

    if (parcel)
        net->stats.parcels++;
    return parcel;
}

int gam_net_stock(struct gam_net *net, uint32_t count)
{
    while (net->spares < count) {
        struct gam_parcel *parcel = parcel_new(net);

        if (!parcel)
            return -ENOMEM;
        gam_net_parcel_free(net, parcel);
    }
    return 0;
}

struct gam_parcel *gam_net_parcel(struct gam_net *net)
{
    struct gam_parcel *parcel = net->spare;

    if (!parcel)
        return parcel_new(net);
    net->spare = parcel->next;
    net->spares--;
    return parcel;
}

void gam_net_parcel_free(struct gam_net *net, struct gam_parcel *parcel)
{
    if (net->spares == GAM_NET_SPARES) {
        net->stats.parcels--;
        free(parcel);
        return;
    }
    parcel->next = net->spare;
    net->spare = parcel;
    net->spares++;
}

/* ---- links by rank ---------------------------------------------------------------- */

/* Where the link of that rank is, or would be: there is always a free place. */
static struct gam_link **place_of(const struct gam_net *net, uint32_t rank)
{
    const uint32_t mask = (1u << net->link_bits) - 1;
    uint32_t at = rank * 2654435769u >> (32 - net->link_bits);

    while (net->link[at] && net->link[at]->rank != rank)
        at = (at + 1) & mask;
    return &net->link[at];
}

struct gam_link *gam_net_find(const struct gam_net *net, uint32_t rank)
{
    return *place_of(net, rank);
}

static int make_places(struct gam_net *net, uint32_t bits)
{
    struct gam_link **before = net->link;
    const uint32_t count = before ? 1u << net->link_bits : 0;
    struct gam_link **link = calloc((size_t)1 << bits, sizeof(struct gam_link *));

    if (!link)
        return -ENOMEM;
    net->link = link;
    net->link_bits = bits;
    for (uint32_t i = 0; i < count; i++) {
        if (before[i])
            *place_of(net, before[i]->rank) = before[i];
    }
    free(before);
    return 0;
}

static int places_grow(struct gam_net *net)
{
    if (2 * (net->stats.links + 1) <= (uint64_t)1 << net->link_bits)
        return 0;
    return make_places(net, net->link_bits + 1);
}

/* ---- links ------------------------------------------------------------------------ */

struct gam_link *gam_net_link(struct gam_net *net, uint64_t now, uint32_t rank)
{
    struct gam_link *link = gam_net_find(net, rank);

    if (link)
        return link;
    link = heap_grow(net) == 0 && places_grow(net) == 0 ? calloc(1, sizeof(*link)) : NULL;
    if (!link)
        return NULL;
    link->rank = rank;
    link->heard = now;
    link->spoke = now;
    link->waiting = GAM_NET_NEVER;
    link->due = GAM_NET_NEVER;
    gam_link_outbound_open(link);
    gam_link_inbound_open(link);
    gam_path_open(net, link);
    heap_put(net, link, net->heap_count++);
    if (net->config.peer_timeout_us)
        gam_net_due(net, link, now + net->config.peer_timeout_us / HEARTBEATS);
    *place_of(net, rank) = link;
    net->stats.links++;
    return link;
}

static void drop_parcels(struct gam_net *net, struct gam_link *link)
{
    for (uint64_t n = link->first; n < link->end; n++) {
        if (link->out[gam_link_at(n)])
            gam_net_parcel_free(net, link->out[gam_link_at(n)]);
    }
    for (uint64_t n = 0; link->early && n < GAM_NET_WINDOW; n++) {
        if (link->early[n])
            gam_net_parcel_free(net, link->early[n]);
    }
    free(link->early);
    link->early = NULL;
    link->first = link->next = link->end;
    link->lost = link->beyond = link->resent = link->held = link->in_flight = 0;
}

static void bury(struct gam_net *net, struct gam_link *link)
{
    link->dead = true;
    drop_parcels(net, link);
    heap_remove(net, link);
}

bool gam_net_answers(const struct gam_net *net, uint32_t rank)
{
    const struct gam_link *link = gam_net_find(net, rank);

    return link && link->answers;
}

bool gam_net_reaches(const struct gam_net *net, uint32_t rank)
{
    const struct gam_link *link = gam_net_find(net, rank);

    return !link || !link->unreached;
}

void gam_net_give_up(struct gam_net *net, uint32_t rank)
{
    struct gam_link *link = gam_net_find(net, rank);

    if (link && !link->dead)
        bury(net, link);
}

/* ---- who may send ------------------------------------------------------------------- */

void gam_net_ready(struct gam_net *net, struct gam_link *link)
{
    if (link->ready || link->dead)
        return;
    link->ready = true;
    link->next_ready = NULL;
    if (net->ready_first)
        net->ready_last->next_ready = link;
    else
        net->ready_first = link;
    net->ready_last = link;
}

static void first_unready(struct gam_net *net)
{
    struct gam_link *link = net->ready_first;

    net->ready_first = link->next_ready;
    link->ready = false;
    net->burst = 0;
}

static void take_turns(struct gam_net *net)
{
    struct gam_link *link = net->ready_first;

    if (++net->burst < BURST)
        return;
    first_unready(net);
    gam_net_ready(net, link);
}

/* ---- timers --------------------------------------------------------------------------- */

/* Whose question was not answered asks more often: a bad line loses a few, not all. */
static uint64_t heartbeat_at(const struct gam_net *net, const struct gam_link *link)
{
    const uint64_t last = link->heard > link->spoke ? link->heard : link->spoke;

    if (!net->config.peer_timeout_us)
        return GAM_NET_NEVER;
    if (link->waiting != GAM_NET_NEVER)
        return link->spoke + net->config.peer_timeout_us / QUESTIONS;
    return last + net->config.peer_timeout_us / HEARTBEATS;
}

static uint64_t death_at(const struct gam_net *net, const struct gam_link *link)
{
    const uint64_t since = link->waiting > net->grace ? link->waiting : net->grace;

    if (!net->config.peer_timeout_us || link->waiting == GAM_NET_NEVER)
        return GAM_NET_NEVER;
    return since + net->config.peer_timeout_us;
}

static uint64_t first_time(const struct gam_net *net, const struct gam_link *link)
{
    const uint64_t packets = gam_min(gam_min(link->timeout_at, link->ack_at), link->probe_at);

    return gam_min(packets, gam_min(heartbeat_at(net, link), death_at(net, link)));
}

static void fire(struct gam_net *net, struct gam_link *link, uint64_t now)
{
    if (link->timeout_at <= now)
        gam_link_timeout(net, link, now);
    if (link->ack_at <= now)
        link->ack_now = true;
    if (heartbeat_at(net, link) <= now)
        link->beat = true;
    gam_net_ready(net, link);
}

/* Afterwards nothing is due: what fired waits for its packet to go. */
static void look_at_first(struct gam_net *net, uint64_t now)
{
    struct gam_link *link = net->heap[0];

    if (link->unreached || death_at(net, link) <= now) {
        bury(net, link);
        if (net->config.died)
            net->config.died(net->config.arg, link->rank);
        return;
    }
    if (first_time(net, link) <= now)
        fire(net, link, now);
    link->due = first_time(net, link);
    if (link->due <= now)
        link->due = now + 1;
    heap_down(net, link);
}

/* Who has been away from its packets, stopped or computing, cannot say who was silent. */
static void run_timers(struct gam_net *net, uint64_t now)
{
    if (now - net->ticked > net->config.peer_timeout_us / HEARTBEATS)
        net->grace = now;
    net->ticked = now;
    while (net->heap_count > 0 && net->heap[0]->due <= now)
        look_at_first(net, now);
}

const void *gam_net_transmit(struct gam_net *net, uint64_t now, uint32_t *rank, size_t *length)
{
    struct gam_link *link;

    run_timers(net, now);
    while ((link = net->ready_first) != NULL) {
        const struct gam_packet *packet =
            link->dead ? NULL : gam_link_transmit(net, link, now, length);

        if (packet) {
            *rank = link->rank;
            take_turns(net);
            return packet;
        }
        first_unready(net);
    }
    return NULL;
}

uint64_t gam_net_deadline(const struct gam_net *net)
{
    if (net->ready_first)
        return 0;
    return net->heap_count > 0 ? net->heap[0]->due : GAM_NET_NEVER;
}

/* ---- instances --------------------------------------------------------------------------- */

static bool config_ok(const struct gam_net_config *config)
{
    return config->ranks >= 1 && config->ranks <= 65536 && config->rank < config->ranks &&
           config->packet_bytes >= GAM_NET_PACKET_MIN &&
           config->packet_bytes <= GAM_NET_PACKET_MAX && config->backlog > 0 && config->deliver;
}

int gam_net_open(const struct gam_net_config *config, struct gam_net **out)
{
    struct gam_net *net;

    if (!config_ok(config))
        return -EINVAL;
    net = calloc(1, sizeof(*net));
    if (!net)
        return -ENOMEM;
    if (make_places(net, LINK_BITS) != 0) {
        free(net);
        return -ENOMEM;
    }
    net->config = *config;
    gam_mac_open(&net->mac, config->key);
    net->random = config->seed | 1;
    *out = net;
    return 0;
}

void gam_net_close(struct gam_net *net)
{
    if (!net)
        return;
    for (uint32_t i = 0; i < 1u << net->link_bits; i++) {
        if (net->link[i])
            drop_parcels(net, net->link[i]);
        free(net->link[i]);
    }
    free(net->probe);
    while (net->spare)
        free(gam_net_parcel(net));
    free(net->heap);
    free(net->link);
    free(net);
}

/* ---- looking at one ------------------------------------------------------------------------ */

uint64_t gam_net_sum(const struct gam_net *net, uint64_t grant, const void *data, size_t n)
{
    return gam_memory_mac(&net->mac, grant, data, n);
}

uint64_t gam_net_grace(const struct gam_net *net)
{
    return net->grace;
}

bool gam_net_idle(const struct gam_net *net)
{
    for (uint32_t i = 0; i < net->heap_count; i++) {
        if (net->heap[i]->first != net->heap[i]->end)
            return false;
    }
    return true;
}

void gam_net_stats(const struct gam_net *net, struct gam_net_stats *stats)
{
    *stats = net->stats;
}

size_t gam_net_link_bytes(void)
{
    return sizeof(struct gam_link);
}

size_t gam_net_link_bytes_max(const struct gam_net *net)
{
    return sizeof(struct gam_link) + GAM_NET_WINDOW * sizeof(struct gam_parcel *) +
           2 * GAM_NET_WINDOW * (offsetof(struct gam_parcel, bytes) + net->config.packet_bytes);
}

/* xorshift64* */
uint64_t gam_net_random(struct gam_net *net, uint64_t below)
{
    net->random ^= net->random >> 12;
    net->random ^= net->random << 25;
    net->random ^= net->random >> 27;
    return ((net->random * 0x2545f4914f6cdd1du) >> 32) % below;
}
