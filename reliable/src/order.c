/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.c - frames of packets become messages, in order.
 *
 * Packets that came early are held until those before them are there.  A note may say that what
 * follows it waits for something else: such packets are acknowledged, and wait in a list.
 */
#include "connection.h"
#include <stdlib.h>
#include <string.h>

enum { EARLY_FEW = 64 }; /* packets in the shortest ring of those that came early */

/* ---- frames --------------------------------------------------------------------------- */

/* A note is the first frame of its packet, so that one look tells whether there is one. */
static bool frame_flags_ok(const struct reliable_frame *frame, bool first)
{
    if (frame->flags == RELIABLE_FRAME_NOTE)
        return first && frame->length <= RELIABLE_NOTE_BYTES;
    return (frame->flags & ~RELIABLE_FRAME_MORE) == 0;
}

bool reliable_order_frames_ok(const struct reliable_packet *packet)
{
    const uint8_t *at = (const uint8_t *)(packet + 1);
    size_t length = packet->length;

    for (bool first = true; length > 0; first = false) {
        struct reliable_frame frame;

        if (length < sizeof(frame))
            return false;
        memcpy(&frame, at, sizeof(frame));
        if (frame.length > length - sizeof(frame) || !frame_flags_ok(&frame, first))
            return false;
        at += sizeof(frame) + frame.length;
        length -= sizeof(frame) + frame.length;
    }
    return true;
}

static bool has_note(const struct reliable_packet *packet)
{
    struct reliable_frame frame;

    memcpy(&frame, packet + 1, sizeof(frame));
    return frame.flags & RELIABLE_FRAME_NOTE;
}

/* Delivers the messages from `at` on. */
static void deliver_frames(struct reliable_engine *engine, struct reliable_connection *conn,
                           const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        struct reliable_frame frame;
        bool more;

        memcpy(&frame, at, sizeof(frame));
        more = frame.flags & RELIABLE_FRAME_MORE;
        at += sizeof(frame);
        conn->rcv.messages += !more;
        engine->stats.messages_in += !more;
        engine->config.deliver(engine->config.arg, conn->rank, frame.user, at, frame.length, more);
        at += frame.length;
    }
}

/* The note that the packet begins with.  Returns how many bytes it takes; *pause: what follows has
 * to wait. */
static size_t deliver_note(struct reliable_engine *engine, const struct reliable_connection *conn,
                           const struct reliable_packet *packet, bool *pause)
{
    const uint8_t *at = (const uint8_t *)(packet + 1);
    struct reliable_frame frame;

    memcpy(&frame, at, sizeof(frame));
    at += sizeof(frame);
    *pause = engine->config.note &&
             engine->config.note(engine->config.arg, conn->rank, frame.user, at, frame.length);
    return sizeof(frame) + frame.length;
}

/* ---- packets that came early ------------------------------------------------------------ */

/* A place for a packet so far after rcv.nxt.  False: no memory. */
static bool early_reserve(struct reliable_connection *conn, uint64_t distance)
{
    struct reliable_buffer **ring;
    uint64_t length = EARLY_FEW;

    if (conn->rcv.early && distance <= conn->rcv.early_mask)
        return true;
    while (length <= distance)
        length *= 2;
    ring = calloc(length, sizeof(struct reliable_buffer *));
    if (!ring)
        return false;
    for (uint64_t i = 0; conn->rcv.early && i <= conn->rcv.early_mask; i++) {
        const uint64_t n = conn->rcv.nxt + i;

        ring[n & (length - 1)] = conn->rcv.early[n & conn->rcv.early_mask];
    }
    free(conn->rcv.early);
    conn->rcv.early = ring;
    conn->rcv.early_mask = (uint32_t)length - 1;
    return true;
}

/* The place of a packet that is early, or NULL. */
static struct reliable_buffer **early_place(const struct reliable_connection *conn, uint64_t number)
{
    return conn->rcv.early && number - conn->rcv.nxt <= conn->rcv.early_mask
               ? &conn->rcv.early[number & conn->rcv.early_mask]
               : NULL;
}

/* A copy of a packet.  NULL: no memory, or it is longer than any that a rank sends. */
static struct reliable_buffer *packet_copy(struct reliable_engine *engine,
                                           struct reliable_connection *conn,
                                           const struct reliable_packet *packet)
{
    const uint32_t bytes = (uint32_t)sizeof(*packet) + packet->length;
    struct reliable_buffer *buffer = bytes <= RELIABLE_PACKET_BYTES_MAX
                                         ? reliable_buffer_get(engine, &conn->rcv.slab, bytes)
                                         : NULL;

    if (!buffer)
        return NULL;
    buffer->length = bytes;
    memcpy(buffer->bytes, packet, bytes);
    return buffer;
}

bool reliable_order_is_held(const struct reliable_connection *conn, uint64_t number)
{
    struct reliable_buffer **place = early_place(conn, number);

    return place && *place;
}

void reliable_order_hold(struct reliable_engine *engine, struct reliable_connection *conn,
                         const struct reliable_packet *packet)
{
    struct reliable_buffer *buffer = early_reserve(conn, packet->number - conn->rcv.nxt)
                                         ? packet_copy(engine, conn, packet)
                                         : NULL;

    if (!buffer) {
        engine->stats.refused[RELIABLE_REFUSED_NO_MEMORY]++;
        return;
    }
    *early_place(conn, packet->number) = buffer;
    conn->rcv.held++;
}

/* ---- what waits in order, since a note said so ---------------------------------------- */

static void paused_add(struct reliable_connection *conn, struct reliable_buffer *buffer)
{
    buffer->next = NULL;
    if (conn->rcv.paused_first)
        conn->rcv.paused_last->next = buffer;
    else
        conn->rcv.paused_first = buffer;
    conn->rcv.paused_last = buffer;
    conn->rcv.paused_count++;
}

static void paused_drop_first(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_buffer *first = conn->rcv.paused_first;

    conn->rcv.paused_first = first->next;
    conn->rcv.paused_count--;
    reliable_buffer_put(engine, &conn->rcv.slab, first);
}

/* Up to a note that says that the rest has to wait: what follows that in its packet is delivered
 * when it need not. */
static void deliver_paused(struct reliable_engine *engine, struct reliable_connection *conn)
{
    while (!conn->rcv.paused && conn->rcv.paused_first) {
        const struct reliable_packet *packet = conn->rcv.paused_first->packet;
        const uint8_t *const frames = (const uint8_t *)(packet + 1);

        if (has_note(packet) && conn->rcv.paused_note == 0) {
            conn->rcv.paused_note = (uint32_t)deliver_note(engine, conn, packet, &conn->rcv.paused);
            continue;
        }
        deliver_frames(engine, conn, frames + conn->rcv.paused_note, frames + packet->length);
        conn->rcv.paused_note = 0;
        paused_drop_first(engine, conn);
    }
}

void reliable_engine_resume(struct reliable_engine *engine, uint32_t rank)
{
    struct reliable_connection *conn = reliable_engine_find(engine, rank);

    if (!conn || !conn->rcv.paused)
        return;
    conn->rcv.paused = false;
    deliver_paused(engine, conn);
}

/* The next packet in order, which is copied if it waits or has a note.  False: there is no room for
 * that, so it counts as lost. */
static bool deliver_packet(struct reliable_engine *engine, struct reliable_connection *conn,
                           const struct reliable_packet *packet)
{
    const uint8_t *const frames = (const uint8_t *)(packet + 1);
    struct reliable_buffer *copy;

    if (!conn->rcv.paused_first && !has_note(packet)) {
        conn->rcv.nxt++;
        deliver_frames(engine, conn, frames, frames + packet->length);
        return true;
    }
    copy = conn->rcv.paused_count < RELIABLE_WINDOW ? packet_copy(engine, conn, packet) : NULL;
    if (!copy) {
        engine->stats.refused[RELIABLE_REFUSED_NO_MEMORY]++;
        return false;
    }
    conn->rcv.nxt++;
    paused_add(conn, copy);
    deliver_paused(engine, conn);
    return true;
}

/* Delivers the held packets that are in order now. */
static void deliver_held(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_buffer **place, *buffer;

    while (conn->rcv.held > 0 && (buffer = *(place = early_place(conn, conn->rcv.nxt))) != NULL) {
        *place = NULL;
        conn->rcv.held--;
        conn->rcv.nxt++;
        paused_add(conn, buffer);
        deliver_paused(engine, conn);
    }
    if (conn->rcv.held == 0 && conn->rcv.early) {
        free(conn->rcv.early);
        conn->rcv.early = NULL;
    }
}

bool reliable_order_take(struct reliable_engine *engine, struct reliable_connection *conn,
                         const struct reliable_packet *packet)
{
    if (!deliver_packet(engine, conn, packet))
        return false;
    deliver_held(engine, conn);
    return true;
}

void reliable_order_drop(struct reliable_engine *engine, struct reliable_connection *conn)
{
    for (uint64_t n = 0; conn->rcv.early && n <= conn->rcv.early_mask; n++) {
        if (conn->rcv.early[n])
            reliable_buffer_put(engine, &conn->rcv.slab, conn->rcv.early[n]);
    }
    free(conn->rcv.early);
    conn->rcv.early = NULL;
    conn->rcv.held = 0;
    while (conn->rcv.paused_first)
        paused_drop_first(engine, conn);
}
