/* SPDX-License-Identifier: BSD-3-Clause
 *
 * connection.c - the engine: opening and closing, connections by rank, and who may transmit.
 */
#include "connection.h"
#include "stream.h"
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_BITS = 3,         /* size of the connection table at first, as a power of two */
    BURST = 16,             /* packets of one connection in a row before it is another's turn */
    WINDOW_BYTES = 2 << 20, /* of packets that wait for acknowledgement, if packets are short */
};

/* ---- connections by rank --------------------------------------------------------------- */

/* The place of a rank's connection in the table, which may be empty.  The table always has empty
 * places, so the search ends. */
static struct reliable_connection **table_place(const struct reliable_engine *engine, uint32_t rank)
{
    const uint32_t mask = (1u << engine->table_bits) - 1;
    uint32_t at = rank * 2654435769u >> (32 - engine->table_bits);

    while (engine->table[at] && engine->table[at]->rank != rank)
        at = (at + 1) & mask;
    return &engine->table[at];
}

struct reliable_connection *reliable_engine_find(const struct reliable_engine *engine,
                                                 uint32_t rank)
{
    return *table_place(engine, rank);
}

static int table_resize(struct reliable_engine *engine, uint32_t bits)
{
    struct reliable_connection **before = engine->table;
    const uint32_t count = before ? 1u << engine->table_bits : 0;
    struct reliable_connection **table =
        calloc((size_t)1 << bits, sizeof(struct reliable_connection *));

    if (!table)
        return -ENOMEM;
    engine->table = table;
    engine->table_bits = bits;
    for (uint32_t i = 0; i < count; i++) {
        if (before[i])
            *table_place(engine, before[i]->rank) = before[i];
    }
    free(before);
    return 0;
}

static int table_reserve(struct reliable_engine *engine)
{
    if (2 * (engine->stats.connections + 1) <= (uint64_t)1 << engine->table_bits)
        return 0;
    return table_resize(engine, engine->table_bits + 1);
}

static struct reliable_connection *connection_new(struct reliable_engine *engine, uint64_t now,
                                                  uint32_t rank)
{
    struct reliable_connection *conn = calloc(1, sizeof(*conn));

    if (!conn)
        return NULL;
    conn->rank = rank;
    reliable_rtt_open(conn);
    reliable_congestion_open(conn);
    reliable_recovery_open(conn);
    reliable_rack_open(conn);
    reliable_pmtu_open(engine, conn);
    reliable_receive_open(conn);
    reliable_send_open(conn);
    reliable_timer_insert(engine, conn);
    reliable_liveness_open(engine, conn, now);
    *table_place(engine, rank) = conn;
    engine->stats.connections++;
    return conn;
}

struct reliable_connection *reliable_engine_connection(struct reliable_engine *engine, uint64_t now,
                                                       uint32_t rank)
{
    struct reliable_connection *conn = reliable_engine_find(engine, rank);

    if (conn)
        return conn;
    if (reliable_timer_reserve(engine) != 0 || table_reserve(engine) != 0)
        return NULL;
    return connection_new(engine, now, rank);
}

static void connection_drop(struct reliable_engine *engine, struct reliable_connection *conn)
{
    reliable_send_drop(engine, conn);
    reliable_order_drop(engine, conn);
}

void reliable_engine_mark_dead(struct reliable_engine *engine, struct reliable_connection *conn)
{
    conn->dead = true;
    connection_drop(engine, conn);
    reliable_timer_remove(engine, conn);
}

void reliable_engine_abort(struct reliable_engine *engine, uint32_t rank)
{
    struct reliable_connection *conn = reliable_engine_find(engine, rank);

    if (conn && !conn->dead)
        reliable_engine_mark_dead(engine, conn);
}

/* ---- who may transmit -------------------------------------------------------------------- */

void reliable_engine_ready(struct reliable_engine *engine, struct reliable_connection *conn)
{
    if (conn->ready || conn->dead)
        return;
    conn->ready = true;
    conn->next_ready = NULL;
    if (engine->ready_first)
        engine->ready_last->next_ready = conn;
    else
        engine->ready_first = conn;
    engine->ready_last = conn;
}

static void ready_remove_first(struct reliable_engine *engine)
{
    struct reliable_connection *conn = engine->ready_first;

    engine->ready_first = conn->next_ready;
    conn->ready = false;
    engine->burst = 0;
}

/* The first ready connection has sent a packet; after a burst of them it goes to the end. */
static void ready_rotate(struct reliable_engine *engine)
{
    struct reliable_connection *conn = engine->ready_first;

    if (++engine->burst < BURST)
        return;
    ready_remove_first(engine);
    reliable_engine_ready(engine, conn);
}

void reliable_engine_push(struct reliable_engine *engine)
{
    for (struct reliable_connection *c = engine->ready_first; c; c = c->next_ready)
        c->snd.going = (uint32_t)(c->snd.end - c->snd.nxt);
}

const void *reliable_engine_transmit(struct reliable_engine *engine, uint64_t now, uint32_t *rank,
                                     size_t *length)
{
    struct reliable_connection *conn;

    reliable_timer_run(engine, now);
    while ((conn = engine->ready_first) != NULL) {
        const struct reliable_packet *packet =
            conn->dead ? NULL : reliable_send_next(engine, conn, now, length);

        if (packet) {
            *rank = conn->rank;
            ready_rotate(engine);
            return packet;
        }
        ready_remove_first(engine);
    }
    return NULL;
}

uint64_t reliable_engine_deadline(const struct reliable_engine *engine)
{
    if (engine->ready_first || engine->waiting_first)
        return 0;
    return engine->heap_count > 0 ? engine->heap[0]->timer.due : RELIABLE_NEVER;
}

/* ---- opening and closing ----------------------------------------------------------------- */

static bool config_ok(const struct reliable_engine_config *config)
{
    return config->ranks >= 1 && config->ranks <= 65536 && config->rank < config->ranks &&
           config->packet_bytes >= RELIABLE_PACKET_BYTES_MIN &&
           config->packet_bytes <= RELIABLE_PACKET_BYTES_MAX && config->backlog > 0 &&
           (unsigned)config->auth <= RELIABLE_AUTH_OFF && config->deliver;
}

/* Packets may be long: their bytes are bounded, too. */
static uint32_t engine_window(uint32_t packet_bytes)
{
    const uint32_t count = WINDOW_BYTES / packet_bytes;

    return count < RELIABLE_WINDOW_MIN ? (uint32_t)RELIABLE_WINDOW_MIN
                                       : (uint32_t)reliable_min(count, RELIABLE_WINDOW);
}

int reliable_engine_open(const struct reliable_engine_config *config, struct reliable_engine **out)
{
    struct reliable_engine *engine;

    if (!config_ok(config))
        return -EINVAL;
    engine = calloc(1, sizeof(*engine));
    if (!engine)
        return -ENOMEM;
    if (table_resize(engine, TABLE_BITS) != 0) {
        free(engine);
        return -ENOMEM;
    }
    engine->config = *config;
    engine->window = engine_window(config->packet_bytes);
    reliable_mac_open(&engine->mac, config->key, config->auth);
    engine->random = config->seed | 1;
    reliable_receive_start(engine);
    *out = engine;
    return 0;
}

void reliable_engine_close(struct reliable_engine *engine)
{
    if (!engine)
        return;
    for (uint32_t i = 0; i < 1u << engine->table_bits; i++) {
        if (engine->table[i])
            connection_drop(engine, engine->table[i]);
        free(engine->table[i]);
    }
    free(engine->probe);
    reliable_buffer_free_spares(engine);
    free(engine->heap);
    free(engine->table);
    free(engine);
}

/* ---- looking at one ------------------------------------------------------------------------ */

uint64_t reliable_engine_accepted(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return conn ? conn->snd.messages : 0;
}

uint64_t reliable_engine_delivered(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return conn ? conn->rcv.messages : 0;
}

bool reliable_engine_answers(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return conn && conn->life.answers;
}

bool reliable_engine_reaches(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return !conn || !conn->life.unreached;
}

bool reliable_engine_acked(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return !conn || conn->dead || conn->snd.una == conn->snd.end;
}

void reliable_engine_push_one(struct reliable_engine *engine, uint32_t rank)
{
    struct reliable_connection *conn = reliable_engine_find(engine, rank);

    if (!conn || conn->dead || conn->snd.nxt == conn->snd.end)
        return;
    conn->snd.going = (uint32_t)(conn->snd.end - conn->snd.nxt);
    reliable_engine_ready(engine, conn);
}

uint32_t reliable_engine_unsent(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return !conn || conn->dead ? 0 : (uint32_t)(conn->snd.end - conn->snd.nxt);
}

bool reliable_engine_aborted(const struct reliable_engine *engine, uint32_t rank)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, rank);

    return conn && conn->dead;
}

uint64_t reliable_engine_mac(const struct reliable_engine *engine, uint64_t grant, const void *data,
                             size_t n)
{
    return reliable_mac_memory(&engine->mac, grant, data, n);
}

uint64_t reliable_engine_mac_record(const struct reliable_engine *engine, uint32_t source,
                                    uint32_t dest, uint64_t number,
                                    const struct reliable_record *record, const void *message)
{
    uint64_t header;

    memcpy(&header, &record->user, sizeof(header));
    return reliable_mac_record(&engine->mac, source << 16 | dest, number, header, message,
                               record->length);
}

uint64_t reliable_engine_grace(const struct reliable_engine *engine)
{
    return engine->grace;
}

bool reliable_engine_idle(const struct reliable_engine *engine)
{
    for (uint32_t i = 0; i < engine->heap_count; i++) {
        if (engine->heap[i]->snd.una != engine->heap[i]->snd.end)
            return false;
    }
    return true;
}

void reliable_engine_stats(const struct reliable_engine *engine,
                           struct reliable_engine_stats *stats)
{
    *stats = engine->stats;
}

size_t reliable_engine_connection_bytes(void)
{
    return sizeof(struct reliable_connection);
}

size_t reliable_engine_connection_bytes_max(const struct reliable_engine *engine)
{
    return sizeof(struct reliable_connection) +
           2 * RELIABLE_WINDOW * sizeof(struct reliable_buffer *) +
           reliable_buffer_bytes_of(engine, RELIABLE_WINDOW) +
           reliable_buffer_bytes_of(engine, engine->window);
}

/* xorshift64* */
uint64_t reliable_engine_random(struct reliable_engine *engine, uint64_t below)
{
    engine->random ^= engine->random >> 12;
    engine->random ^= engine->random << 25;
    engine->random ^= engine->random >> 27;
    return ((engine->random * 0x2545f4914f6cdd1du) >> 32) % below;
}
