/* SPDX-License-Identifier: BSD-3-Clause
 *
 * life.c - the life of one end of a connection.
 */
#include "real/real.h"
#include "stream/internal.h"
#include "stream/stream.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sockets_stream *free_streams;
_Atomic uint32_t sockets_stream_count;

static struct sockets_stream *new_memory(void)
{
    struct sockets_stream *s;

    pthread_mutex_lock(&free_lock);
    s = free_streams;
    if (s)
        free_streams = s->next_free;
    pthread_mutex_unlock(&free_lock);
    return s ? s : calloc(1, sizeof(*s));
}

static void free_memory(struct sockets_stream *s)
{
    pthread_mutex_lock(&free_lock);
    s->next_free = free_streams;
    free_streams = s;
    pthread_mutex_unlock(&free_lock);
}

void sockets_stream_lock_all(void)
{
    pthread_mutex_lock(&free_lock);
}
void sockets_stream_unlock_all(void)
{
    pthread_mutex_unlock(&free_lock);
}
void sockets_stream_after_fork(void)
{
    pthread_mutex_init(&free_lock, NULL);
}

struct sockets_stream *sockets_stream_new(bool is_server, bool nonblocking)
{
    struct sockets_record *record = sockets_record_new();
    struct sockets_stream *s = record ? new_memory() : NULL;

    if (!s) {
        if (record)
            sockets_record_drop(record);
        return NULL;
    }
    atomic_fetch_add_explicit(&sockets_stream_count, 1, memory_order_relaxed);
    atomic_store(&record->nonblocking, nonblocking);
    s->is_server = is_server;
    s->rendezvous = -1;
    s->waker = -1;
    s->waking = 0;
    s->waker_user = SOCKETS_WAKER_FREE;
    s->of_our_user = false;
    s->keeper = -1;
    s->spent = -1;
    s->record = record;
    s->segment = NULL;
    s->upgraded = false;
    s->carrier = NULL;
    s->meeting = NULL;
    s->recalling = false;
    s->entries = NULL;
    atomic_store(&s->nodelay, 0);
    atomic_store(&s->withheld_since, 0);
    atomic_store(&s->together, 0);
    atomic_store(&s->fds, 0);
    atomic_store(&s->busy, 0);
    return s;
}

void sockets_stream_free(struct sockets_stream *s)
{
    struct sockets_segment *segment = atomic_load(&s->segment);

    sockets_stream_end_waker(s);
    if (s->carrier)
        s->carrier->ops->close(s->carrier);
    if (segment) {
        sockets_stream_account_growth(s->record->tx.ring.log, SOCKETS_RING_LOG_MIN);
        sockets_segment_unmap(segment);
    }
    sockets_record_drop(s->record);
    atomic_fetch_sub_explicit(&sockets_stream_count, 1, memory_order_relaxed);
    free_memory(s);
}

/* ---- how large rings are ---------------------------------------------------------- */

enum { GROWN_MOST = 256 << 20 }; /* bytes by which all rings of a process may grow */

static _Atomic int64_t grown; /* bytes by which rings have grown */

uint32_t sockets_stream_log_max(const struct sockets_stream *s)
{
    return !s->carrier && atomic_load_explicit(&grown, memory_order_relaxed) < GROWN_MOST
               ? SOCKETS_RING_LOG_MAX
               : SOCKETS_RING_LOG_MIN;
}

void sockets_stream_account_growth(uint32_t before, uint32_t after)
{
    if (before != after)
        atomic_fetch_add(&grown, ((int64_t)1 << after) - ((int64_t)1 << before));
}

/* ---- beginning and end -------------------------------------------------------------- */

void sockets_stream_attach(struct sockets_stream *s, uint64_t sent, uint64_t taken)
{
    struct sockets_segment *segment = s->segment;
    struct sockets_record *record = s->record;

    s->rx = s->is_server ? &segment->to_server : &segment->to_client;
    s->tx = s->is_server ? &segment->to_client : &segment->to_server;
    s->rx_data = segment->data[!s->is_server];
    s->tx_data = segment->data[s->is_server];
    sockets_ring_init(s->tx, &record->tx.ring);
    record->tx.sent = sent;
    sockets_stream_put_off_quiet(s);
    record->rx.taken = taken;
    atomic_store_explicit(&s->tx->sent, sent, memory_order_release);
    atomic_store_explicit(&s->rx->taken, taken, memory_order_release);
    atomic_store(&record->reason, SOCKETS_UPGRADED);
    if (!atomic_exchange(&sockets_stream_any_upgraded, 1)) /* nobody has taken note until now */
        sockets_stream_note_kernel_now(true);
    s->upgraded = true;
}

int sockets_stream_break(struct sockets_stream *s, int fd)
{
    if (atomic_exchange(&s->record->reason, SOCKETS_BROKEN) != SOCKETS_BROKEN)
        atomic_fetch_add(&sockets_counters->broken, 1);
    sockets_real.shutdown(fd, SHUT_RDWR);
    return -ECONNRESET;
}

void sockets_stream_pin(struct sockets_stream *s)
{
    if (!atomic_exchange(&s->record->pinned, 1))
        atomic_store(&s->record->reason, SOCKETS_PINNED);
    if (!s->upgraded)
        return;
    atomic_store(&s->rx->want_tcp, 1);
    sockets_stream_rouse(s); /* what others give to TCP tells nobody */
    if (s->carrier) {        /* which leaves the ring when who sleeps there has its bell */
        sockets_carrier_publish(s);
        sockets_carrier_look(s);
        return;
    }
    if (sockets_stream_lock_writer(s)) { /* else sockets_stream_send has it */
        sockets_stream_leave_ring(s);
        sockets_lock_give(&s->record->tx.lock);
    }
}

void sockets_stream_finish(struct sockets_stream *s, int fd)
{
    if (!sockets_stream_lock_writer(s))
        return;
    if (atomic_load(&s->record->tx.shut) == 0)
        atomic_store(&s->record->tx.shut, SOCKETS_SHUTTING);
    sockets_stream_stamp(s, 0);
    sockets_stream_leave_ring(s);
    if (sockets_stream_owes(s))
        sockets_stream_repay_all(s, fd);
    atomic_store(&s->tx->fin, 1);
    sockets_stream_rouse(s);
    if (s->carrier) {
        sockets_carrier_publish(s);
        sockets_stream_settle_end(s);
    }
    sockets_lock_give(&s->record->tx.lock);
}

void sockets_stream_closing(struct sockets_stream *s, int fd)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    struct sockets_record *record = s->record;
    bool stolen, is_last;

    if (!s->upgraded)
        return;
    sockets_carrier_look(s);
    if (atomic_load(&s->waker_user) == SOCKETS_WAKER_READER) /* another thread, that is to wake */
        sockets_stream_stay_awake(s);
    is_last = sockets_record_is_last(record);
    if (is_last)
        atomic_store(&s->rx->gone, 1);
    if (s->carrier && !is_last && sockets_stream_lock_writer(s))
        sockets_lock_give(&record->tx.lock); /* nobody uses the descriptor any more (net/) */
    if (sockets_lock_take(&record->rx.lock, &stolen)) {
        if (record->rx.recalled || sockets_ring_unread(s->rx, record->rx.head) == 0)
            sockets_stream_drain(s, fd); /* the kernel would take a bell for unread data */
        else if (is_last)
            sockets_real.setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        sockets_lock_give(&record->rx.lock);
    }
    if (is_last)
        sockets_stream_finish(s, fd);
    if (is_last && s->carrier)
        sockets_stream_await_bells(s, fd);
}
