/* SPDX-License-Identifier: BSD-3-Clause
 *
 * look.c - what is to be seen of a stream without taking anything, and who waits for it.
 */
#include "stream/internal.h"

bool sockets_stream_has_data(const struct sockets_stream *s)
{
    if (__builtin_expect(s->carrier != NULL, 0)) {
        if (sockets_carrier_is_resting(s))
            return false;
        if (sockets_stream_streak(s) > SOCKETS_STREAK)
            sockets_carrier_glance(s);
        else
            sockets_carrier_look(s);
    }
    return atomic_load_explicit(&s->rx->tail, memory_order_acquire) != sockets_stream_head(s) &&
           !atomic_load_explicit(&s->rx->recall, memory_order_relaxed);
}

bool sockets_stream_hint(const struct sockets_stream *s)
{
    const struct sockets_direction *dir = s->rx;
    const uint64_t sent = atomic_load_explicit(&dir->sent, memory_order_relaxed);
    const uint64_t taken = atomic_load_explicit(&dir->taken, memory_order_relaxed);

    /* Data may be taken before its sender gets to count it. */
    return sockets_stream_has_data(s) || (sent != SOCKETS_UNKNOWN && (int64_t)(sent - taken) > 0) ||
           atomic_load_explicit(&dir->fin, memory_order_relaxed);
}

bool sockets_stream_is_tcp_empty(const struct sockets_stream *s)
{
    const struct sockets_direction *dir = s->rx;
    const uint64_t sent = atomic_load_explicit(&dir->sent, memory_order_relaxed);
    const uint64_t taken = atomic_load_explicit(&dir->taken, memory_order_relaxed);

    return sent != SOCKETS_UNKNOWN && (int64_t)(sent - taken) <= 0 &&
           !atomic_load_explicit(&dir->sending, memory_order_relaxed) &&
           !atomic_load_explicit(&dir->fin, memory_order_relaxed) &&
           !atomic_load_explicit(&s->record->rx.eof, memory_order_relaxed) &&
           !sockets_stream_bell_is_due(s);
}

int sockets_stream_unread(struct sockets_stream *s, int tcp)
{
    const struct sockets_record *record = s->record;
    ssize_t ring;
    uint32_t bells;

    sockets_carrier_look(s);
    ring = record->rx.recalled ? 0 : sockets_ring_unread(s->rx, record->rx.head);
    bells = atomic_load_explicit(&s->rx->bells, memory_order_relaxed) - record->rx.drained;
    /* Bytes of which the carrier is still to tell are withheld from readers, too. */
    if (s->carrier && !atomic_load(&s->carrier->lost) &&
        sockets_phase_is_ring(sockets_stream_senders_phase(s)))
        tcp = 0;
    if (bells <= SOCKETS_MOST_BELLS)
        tcp -= (int)bells <= tcp ? (int)bells : tcp;
    return tcp + (ring > 0 ? (int)ring : 0);
}

uint64_t sockets_stream_arrived(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->tail, memory_order_acquire);
}

uint64_t sockets_stream_since(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->since, memory_order_relaxed);
}

uint64_t sockets_stream_kernel_at(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->kernel_at, memory_order_relaxed);
}

uint64_t sockets_stream_other_at(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->other_at, memory_order_relaxed);
}

void sockets_stream_arm(struct sockets_stream *s)
{
    if (atomic_fetch_add(&s->rx->armed, 1) == 0)
        sockets_carrier_sleeps(s);
}

void sockets_stream_disarm(struct sockets_stream *s)
{
    if (atomic_fetch_sub(&s->rx->armed, 1) == 1)
        sockets_carrier_wakes(s);
}

void (*sockets_stream_on_taken)(struct sockets_stream *s);

void sockets_stream_sleep_together(struct sockets_stream *s, uint64_t value)
{
    atomic_store_explicit(&s->together, value != 0, memory_order_relaxed);
    if (value != 0 || atomic_load_explicit(&s->rx->waiter, memory_order_relaxed) != 0)
        atomic_store(&s->rx->waiter, value);
}

void sockets_stream_expect_bell(struct sockets_stream *s, int fd)
{
    bool stolen;

    if (!sockets_stream_bell_is_due(s) || !sockets_stream_has_data(s) || s->record->rx.recalled ||
        !sockets_lock_take(&s->record->rx.lock, &stolen))
        return;
    /* Data in the ring means that the sender is in it, which a receiver that has read nothing since
     * may not have seen. */
    if (!sockets_phase_is_ring(s->record->rx.phase) && sockets_stream_sender_moved_on(s))
        sockets_stream_to_ring_phase(s);
    /* One stays, so that the kernel's poll finds the connection readable all the time. */
    if (atomic_load(&s->rx->bells) - s->record->rx.drained < SOCKETS_MOST_BELLS)
        sockets_stream_let_bell(s);
    else if (sockets_phase_is_ring(s->record->rx.phase))
        sockets_stream_take_bell(s, fd);
    sockets_lock_give(&s->record->rx.lock);
}
