/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - the send window: messages into packets, and which packet goes next.
 *
 * The packets in flight are limited by the smaller of snd.rwnd, which the receiver advertises (an
 * equal part, for each active sender, of what can wait for it), and cc.cwnd (congestion.c).
 */
#include "connection.h"
#include <stdlib.h>
#include <string.h>

enum {
    RWND_INITIAL = 8,
    FULL_BYTES = 64, /* a packet with less room than that counts as full */
};

void reliable_send_open(struct reliable_connection *conn)
{
    conn->snd.una = conn->snd.nxt = conn->snd.end = 1;
    conn->snd.rwnd = RWND_INITIAL;
    conn->snd.buffer = conn->snd.few;
    conn->snd.mask = RELIABLE_SENT_FEW - 1;
}

static void send_ring_free(struct reliable_send *snd)
{
    if (snd->buffer != snd->few)
        free(snd->buffer);
    snd->buffer = snd->few;
    snd->mask = RELIABLE_SENT_FEW - 1;
}

void reliable_send_trim(struct reliable_connection *conn)
{
    if (conn->snd.una == conn->snd.end)
        send_ring_free(&conn->snd);
}

/* Of `count` packets at least.  -ENOMEM. */
static __attribute__((noinline)) int send_ring_grow(struct reliable_connection *conn,
                                                    uint64_t count)
{
    struct reliable_send *snd = &conn->snd;
    uint64_t length = 2 * ((uint64_t)snd->mask + 1);
    struct reliable_buffer **ring;

    while (length < count)
        length *= 2;
    ring = calloc(length, sizeof(struct reliable_buffer *));
    if (!ring)
        return -ENOMEM;
    for (uint64_t n = snd->una; n < snd->end; n++)
        ring[n & (length - 1)] = *reliable_sent(conn, n);
    send_ring_free(snd);
    snd->buffer = ring;
    snd->mask = (uint32_t)length - 1;
    return 0;
}

void reliable_send_drop(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_send *snd = &conn->snd;

    for (uint64_t n = snd->una; n < snd->end; n++) {
        if (*reliable_sent(conn, n))
            reliable_buffer_put(engine, &snd->slab, *reliable_sent(conn, n));
    }
    send_ring_free(snd);
    snd->una = snd->nxt = snd->end;
    snd->lost = snd->retransmitted = snd->in_flight = snd->going = 0;
}

/* ---- messages into packets -------------------------------------------------------- */

/* The rest of a message that is gathered from several parts. */
struct gather {
    const struct iovec *iov;
    size_t offset; /* of the next byte in *iov */
    size_t left;   /* bytes */
};

/* Copies from one part after the other; as a rule one is all. */
static inline void gather_copy(struct gather *from, uint8_t *to, size_t length)
{
    from->left -= length;
    while (length > from->iov->iov_len - from->offset) {
        const size_t n = from->iov->iov_len - from->offset;

        memcpy(to, (const uint8_t *)from->iov->iov_base + from->offset, n);
        to += n;
        length -= n;
        from->iov++;
        from->offset = 0;
    }
    if (length > 0)
        memcpy(to, (const uint8_t *)from->iov->iov_base + from->offset, length);
    from->offset += length;
}

static uint32_t frame_data_max(const struct reliable_connection *conn)
{
    return conn->pmtu.bytes -
           (uint32_t)(sizeof(struct reliable_packet) + sizeof(struct reliable_frame));
}

/* The last packet, if it has not been sent and can take more messages; or NULL. */
static struct reliable_buffer *open_buffer(const struct reliable_connection *conn)
{
    const struct reliable_send *snd = &conn->snd;

    return snd->end > snd->nxt ? *reliable_sent(conn, snd->end - 1) : NULL;
}

static uint32_t room_in(const struct reliable_buffer *buffer)
{
    return buffer ? buffer->size - buffer->length : 0;
}

static struct reliable_buffer *append_buffer(struct reliable_engine *engine,
                                             struct reliable_connection *conn)
{
    struct reliable_buffer *buffer = reliable_buffer_get(engine, &conn->snd.slab, conn->pmtu.bytes);

    buffer->length = sizeof(struct reliable_packet);
    buffer->lost = buffer->retransmitted = false;
    *reliable_sent(conn, conn->snd.end++) = buffer;
    return buffer;
}

static void add_frame(struct reliable_buffer *buffer, uint32_t user, struct gather *from,
                      size_t length, uint16_t flags)
{
    const struct reliable_frame frame = {
        .user = user,
        .length = (uint16_t)length,
        .flags = flags,
    };

    memcpy(buffer->bytes + buffer->length, &frame, sizeof(frame));
    buffer->length += sizeof(frame);
    gather_copy(from, buffer->bytes + buffer->length, length);
    buffer->length += (uint32_t)length;
}

/* Into `count` new packets. */
static void add_parts(struct reliable_engine *engine, struct reliable_connection *conn,
                      uint32_t user, struct gather *from, uint64_t count)
{
    for (; count > 0; count--) {
        const size_t n = reliable_min(from->left, frame_data_max(conn));

        add_frame(append_buffer(engine, conn), user, from, n, count > 1 ? RELIABLE_FRAME_MORE : 0);
    }
}

/* Whether there is room for `count` new packets now. */
static int check_room(struct reliable_engine *engine, struct reliable_connection *conn,
                      uint64_t count)
{
    const uint64_t all = conn->snd.end - conn->snd.una + count;

    if (all > engine->window)
        return count > engine->window ? -EMSGSIZE : -EAGAIN;
    if (all > (uint64_t)conn->snd.mask + 1 && send_ring_grow(conn, all) != 0)
        return -ENOMEM;
    return reliable_buffer_reserve(engine, (uint32_t)count, conn->pmtu.bytes);
}

/* A message that does not fit into the open packet begins there all the same, unless that packet
 * counts as full: streams then travel in full packets. */
static int add_message(struct reliable_engine *engine, struct reliable_connection *conn,
                       uint64_t now, uint32_t user, struct gather from)
{
    struct reliable_buffer *last = open_buffer(conn);
    const uint32_t room = room_in(last), most = frame_data_max(conn);
    const size_t length = from.left;
    const size_t first = room >= FULL_BYTES ? room - sizeof(struct reliable_frame) : 0;
    uint64_t count;
    int rc;

    if (room >= sizeof(struct reliable_frame) + length) {
        add_frame(last, user, &from, length, 0);
        return 0;
    }
    if (last || length > most)
        reliable_pmtu_want(engine, conn, now);
    count = length > 0 ? (length - first + most - 1) / most : 1;
    rc = check_room(engine, conn, count);
    if (rc)
        return rc;
    if (first > 0)
        add_frame(last, user, &from, first, RELIABLE_FRAME_MORE);
    add_parts(engine, conn, user, &from, count);
    return 0;
}

static inline __attribute__((always_inline)) int send_gathered(struct reliable_engine *engine,
                                                               uint64_t now, uint32_t rank,
                                                               uint32_t user, struct gather from)
{
    struct reliable_connection *conn = reliable_engine_connection(engine, now, rank);
    int rc;

    if (!conn)
        return -ENOMEM;
    if (conn->dead)
        return -EPIPE;
    rc = add_message(engine, conn, now, user, from);
    if (rc)
        return rc;
    conn->snd.messages++;
    engine->stats.messages_out++;
    reliable_engine_ready(engine, conn);
    return 0;
}

static inline struct gather gather_all(const struct iovec *iov, uint32_t count)
{
    struct gather from = {.iov = iov};

    for (uint32_t i = 0; i < count; i++)
        from.left += iov[i].iov_len;
    return from;
}

int reliable_engine_sendv(struct reliable_engine *engine, uint64_t now, uint32_t rank,
                          uint32_t user, const struct iovec *iov, uint32_t count)
{
    return send_gathered(engine, now, rank, user, gather_all(iov, count));
}

int reliable_engine_send(struct reliable_engine *engine, uint64_t now, uint32_t rank, uint32_t user,
                         const void *data, size_t length)
{
    const struct iovec iov = {.iov_base = (void *)data, .iov_len = length};

    return send_gathered(engine, now, rank, user, (struct gather){.iov = &iov, .left = length});
}

/* ---- notes --------------------------------------------------------------------------- */

/* At the beginning of a packet, where the receiver looks for one. */
static int add_note(struct reliable_engine *engine, struct reliable_connection *conn, uint32_t kind,
                    struct gather from)
{
    const size_t length = from.left;
    int rc = check_room(engine, conn, 1);

    if (rc == 0)
        add_frame(append_buffer(engine, conn), kind, &from, length, RELIABLE_FRAME_NOTE);
    return rc;
}

int reliable_engine_note(struct reliable_engine *engine, uint64_t now, uint32_t rank, uint32_t kind,
                         const void *data, size_t length)
{
    struct reliable_connection *conn = reliable_engine_connection(engine, now, rank);
    const struct iovec iov = {.iov_base = (void *)data, .iov_len = length};
    int rc;

    if (!conn)
        return -ENOMEM;
    if (conn->dead)
        return -EPIPE;
    rc = add_note(engine, conn, kind, (struct gather){.iov = &iov, .left = length});
    if (rc == 0)
        reliable_engine_ready(engine, conn);
    return rc;
}

/* ---- packets to be sent -------------------------------------------------------------- */

static uint8_t flags_of(const struct reliable_connection *conn)
{
    unsigned flags = conn->pmtu.to_confirm ? RELIABLE_PACKET_CONFIRM : 0;

    if (conn->snd.ping || conn->life.heartbeat)
        flags |= RELIABLE_PACKET_PING | (unsigned)conn->rto.question << RELIABLE_PACKET_ASKED;
    if (conn->rcv.pinged)
        flags |= RELIABLE_PACKET_ANSWER | (unsigned)conn->rcv.answer << RELIABLE_PACKET_ANSWERED;
    return (uint8_t)flags;
}

void reliable_send_seal(struct reliable_engine *engine, struct reliable_connection *conn,
                        struct reliable_packet *packet, size_t length)
{
    packet->source = (uint16_t)engine->config.rank;
    packet->dest = (uint16_t)conn->rank;
    packet->length = (uint16_t)(length - sizeof(*packet));
    packet->version = RELIABLE_PACKET_VERSION;
    packet->flags |= flags_of(conn);
    packet->confirmed =
        (uint16_t)(conn->pmtu.to_confirm ? conn->pmtu.to_confirm : reliable_rtt_told(&conn->rtt));
    conn->pmtu.to_confirm = 0;
    reliable_receive_acknowledge(engine, conn, packet);
    packet->mac = reliable_mac_packet(&engine->mac, packet, conn->rcv.nxt, length);
    engine->stats.pings += conn->snd.ping || conn->life.heartbeat;
    conn->rcv.pinged = false;
    if (conn->life.heartbeat)
        conn->life.heartbeat = false;
    else
        conn->snd.ping = false;
    engine->stats.sent++;
}

static const struct reliable_packet *send_packet(struct reliable_engine *engine,
                                                 struct reliable_connection *conn, uint64_t now,
                                                 uint64_t number, size_t *length)
{
    struct reliable_buffer *buffer = *reliable_sent(conn, number);

    buffer->sent_at = now;
    conn->snd.transmissions++;
    /* During backoff an acknowledgement may be for the first transmission of a retransmitted
     * packet, so that keeps its count. */
    if (!buffer->retransmitted || conn->rto.backoff == 0)
        buffer->transmission = conn->snd.transmissions;
    conn->snd.in_flight++;
    conn->life.spoke = now;
    if (conn->rto.deadline == RELIABLE_NEVER)
        reliable_recovery_start_timer(engine, conn, now);
    reliable_liveness_await(engine, conn, now);
    buffer->packet->number = number;
    buffer->packet->flags = 0;
    reliable_send_seal(engine, conn, buffer->packet, buffer->length);
    *length = buffer->length;
    return buffer->packet;
}

static const struct reliable_packet *send_lost(struct reliable_engine *engine,
                                               struct reliable_connection *conn, uint64_t now,
                                               size_t *length)
{
    uint64_t number = conn->snd.first_lost > conn->snd.una ? conn->snd.first_lost : conn->snd.una;
    struct reliable_buffer *buffer;

    while (!(buffer = *reliable_sent(conn, number)) || !buffer->lost)
        number++;
    conn->snd.first_lost = number + 1;
    conn->snd.lost--;
    conn->rto.tries += number == conn->snd.una;
    conn->snd.retransmitted += !buffer->retransmitted;
    buffer->lost = false;
    buffer->retransmitted = true;
    engine->stats.sent_again++;
    return send_packet(engine, conn, now, number, length);
}

/* A packet without frames: an acknowledgement, a question, an answer. */
static const struct reliable_packet *send_bare(struct reliable_engine *engine,
                                               struct reliable_connection *conn, uint64_t now,
                                               size_t *length)
{
    struct reliable_bare *bare = &engine->bare[engine->bare_next++ % RELIABLE_BATCH];

    conn->life.spoke = now;
    engine->stats.acks++;
    if (conn->snd.ping || conn->life.heartbeat)
        reliable_liveness_await(engine, conn, now);
    bare->packet.number = 0;
    bare->packet.flags = 0;
    *length = sizeof(bare->packet) + reliable_receive_select_more(conn, bare->more);
    reliable_send_seal(engine, conn, &bare->packet, *length);
    conn->rcv.ack_now = false;
    return &bare->packet;
}

static bool is_full(const struct reliable_buffer *buffer)
{
    return room_in(buffer) < FULL_BYTES;
}

/* Of `count` packets, which are worth a system call, those that go now: trains of as many as the
 * kernel takes at once.  Where the receiver's window has room for two such trains, and less than
 * one is left of it, they wait, since acknowledgements that make room are on their way: else each
 * would let go as few packets as it told of, and trains would never become long again
 * (tcp_tso_should_defer of Linux).  Who competes for the network takes all the room that there is,
 * as others would take what is left. */
static uint32_t trains_of(const struct reliable_connection *conn, uint32_t count, uint32_t window)
{
    const uint32_t most = RELIABLE_TRAIN_BYTES / (conn->pmtu.bytes + RELIABLE_HEADROOM);
    const uint32_t room = window - conn->snd.in_flight;
    const uint32_t going = count < room ? count : room;

    if (window < 2 * most || !reliable_congestion_is_quiet(conn))
        return going;
    if (going < count && going < most)
        return 0;
    return going > most ? going / most * most : going;
}

/* Whether an acknowledgement goes soon, alone if nothing else does. */
static bool acknowledgement_is_due(const struct reliable_connection *conn)
{
    return conn->rcv.ack_now || (conn->rcv.ack_waits && conn->rcv.unacked > 0);
}

/* How many packets may go for the first time.
 *  - With few packets in flight all may go: the end of a message does not wait until its beginning
 *    is acknowledged.
 *  - Otherwise a packet that is not full waits for more messages while another such packet is in
 *    flight (Minshall's variant of Nagle's rule); but it goes where an acknowledgement is due, as
 *    that would cost as much in a packet of its own.
 *  - Full packets wait until they are worth a system call; or, when an acknowledgement has come,
 *    until they are as many as are still in flight, because trains that each acknowledgement
 *    released would be as short as what it acknowledged. */
static uint32_t new_going(const struct reliable_engine *engine,
                          const struct reliable_connection *conn, uint32_t window)
{
    const struct reliable_send *snd = &conn->snd;
    const uint32_t count = (uint32_t)(snd->end - snd->nxt);

    if (count == 0 || snd->in_flight < RELIABLE_FEW)
        return count;
    if (count == 1 && !is_full(open_buffer(conn)))
        return snd->sml <= snd->una || acknowledgement_is_due(conn);
    if ((snd->acked && count >= snd->in_flight) || count * conn->pmtu.bytes >= engine->config.batch)
        return trains_of(conn, count, window);
    return 0;
}

/* As new_going would find for the open packet with a frame more. */
static bool goes_on_waiting(const struct reliable_connection *conn, size_t length)
{
    const struct reliable_send *snd = &conn->snd;

    return snd->end - snd->nxt == 1 && snd->going == 0 && snd->in_flight >= RELIABLE_FEW &&
           room_in(open_buffer(conn)) >= sizeof(struct reliable_frame) + length + FULL_BYTES &&
           snd->sml > snd->una && snd->lost == 0 && !acknowledgement_is_due(conn);
}

bool reliable_engine_append(struct reliable_engine *engine, uint32_t rank, uint32_t user,
                            const struct iovec *iov, uint32_t count)
{
    struct reliable_connection *conn = reliable_engine_find(engine, rank);
    struct gather from = gather_all(iov, count);

    if (!conn || conn->dead || !goes_on_waiting(conn, from.left))
        return false;
    add_frame(open_buffer(conn), user, &from, from.left, 0);
    conn->snd.messages++;
    engine->stats.messages_out++;
    return true;
}

static const struct reliable_packet *send_new(struct reliable_engine *engine,
                                              struct reliable_connection *conn, uint64_t now,
                                              size_t *length)
{
    const uint64_t number = conn->snd.nxt++;
    struct reliable_buffer *buffer = *reliable_sent(conn, number);

    conn->snd.going--;
    if (!is_full(buffer))
        conn->snd.sml = number + 1;
    reliable_buffer_trim(buffer);
    return send_packet(engine, conn, now, number, length);
}

/* The packet that a time-out sends again goes whatever the windows say. */
static bool asks_after_timeout(const struct reliable_connection *conn)
{
    return conn->snd.ping && conn->rto.backoff > 0;
}

const struct reliable_packet *reliable_send_next(struct reliable_engine *engine,
                                                 struct reliable_connection *conn, uint64_t now,
                                                 size_t *length)
{
    const uint32_t window = (uint32_t)reliable_min(conn->snd.rwnd, conn->cc.cwnd);
    const bool room = conn->snd.in_flight < window;

    if (conn->life.heartbeat)
        return send_bare(engine, conn, now, length);
    if (conn->snd.lost > 0 && (room || asks_after_timeout(conn)))
        return send_lost(engine, conn, now, length);
    if (room && conn->snd.going == 0)
        conn->snd.going = new_going(engine, conn, window);
    if (room && conn->snd.going > 0)
        return send_new(engine, conn, now, length);
    conn->snd.acked = false;
    conn->snd.going = 0;
    if (conn->rcv.ack_now || conn->snd.ping)
        return send_bare(engine, conn, now, length);
    return reliable_pmtu_probe(engine, conn, now, length);
}
