/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ring.c - a byte stream in memory that two processes share.
 */
#include "ring/ring.h"
#include <errno.h>
#include <string.h>

enum {
    PIECE = 16 << 10, /* a long copy is published in pieces, so that both ends copy at once */
    LONG = 256 << 10, /* a core's own cache has no room for such a call's buffers and its source */
    REWIND = 8 << 10, /* an empty ring starts anew here: short messages stay in the cache */
};

/* ---- cursors ---------------------------------------------------------------------- */

size_t sockets_cursor_left(const struct sockets_cursor *cursor)
{
    size_t left = 0;

    for (size_t i = 0; i < cursor->count; i++)
        left += cursor->iov[i].iov_len;
    return left - cursor->offset;
}

void sockets_cursor_advance(struct sockets_cursor *cursor, size_t bytes)
{
    bytes += cursor->offset;
    while (cursor->count > 0 && bytes >= cursor->iov->iov_len) {
        bytes -= cursor->iov->iov_len;
        cursor->iov++;
        cursor->count--;
    }
    cursor->offset = bytes;
}

/* The next piece of the buffers, at most `most` bytes; advances. */
static size_t cursor_piece(struct sockets_cursor *cursor, size_t most, char **piece)
{
    size_t bytes;

    while (cursor->count > 0 && cursor->offset == cursor->iov->iov_len)
        sockets_cursor_advance(cursor, 0);
    if (cursor->count == 0)
        return 0;
    *piece = (char *)cursor->iov->iov_base + cursor->offset;
    bytes = cursor->iov->iov_len - cursor->offset;
    if (bytes > most)
        bytes = most;
    sockets_cursor_advance(cursor, bytes);
    return bytes;
}

/* ---- the writer ------------------------------------------------------------------- */

void sockets_ring_init(struct sockets_direction *dir, struct sockets_writer *w)
{
    *w = (struct sockets_writer){.log = SOCKETS_RING_LOG_MIN};
    atomic_store_explicit(&dir->log, w->log, memory_order_relaxed);
}

ssize_t sockets_ring_unsent(const struct sockets_direction *dir, const struct sockets_writer *w)
{
    const uint64_t unsent = w->tail - atomic_load_explicit(&dir->head, memory_order_acquire);

    return unsent > (uint64_t)1 << w->log ? -EPROTO : (ssize_t)unsent;
}

/* Nobody reads an empty ring, so its layout may change before the tail is published again. */
static void change_layout(struct sockets_direction *dir, struct sockets_writer *w, uint32_t log_max)
{
    if (w->full >= 2 && w->log < log_max && w->log < SOCKETS_RING_LOG_MAX) {
        w->full = 0;
        atomic_store_explicit(&dir->log, ++w->log, memory_order_relaxed);
    } else if (w->tail - w->base < REWIND) {
        return;
    }
    w->base = w->tail;
    atomic_store_explicit(&dir->base, w->base, memory_order_relaxed);
}

ssize_t sockets_ring_reserve(struct sockets_direction *dir, struct sockets_writer *w, char *data,
                             uint32_t log_max, char **piece)
{
    const ssize_t unsent = sockets_ring_unsent(dir, w);
    size_t size, offset, space;

    if (unsent < 0)
        return unsent;
    w->unread = (uint32_t)unsent;
    if (unsent == 0)
        change_layout(dir, w, log_max);
    size = (size_t)1 << w->log;
    offset = (w->tail - w->base) & (size - 1);
    space = size - (size_t)unsent;
    if (space == 0)
        w->full++;
    *piece = data + offset;
    return (ssize_t)(space < size - offset ? space : size - offset);
}

void sockets_ring_commit(struct sockets_direction *dir, struct sockets_writer *w, size_t bytes)
{
    w->tail += bytes;
    atomic_store_explicit(&dir->tail, w->tail, memory_order_release);
}

size_t sockets_ring_written(const struct sockets_writer *w, const char *data, uint64_t from,
                            uint64_t to, const char **piece)
{
    const size_t size = (size_t)1 << w->log, offset = (from - w->base) & (size - 1);

    *piece = data + offset;
    return to - from < size - offset ? (size_t)(to - from) : size - offset;
}

ssize_t sockets_ring_write(struct sockets_direction *dir, struct sockets_writer *w, char *data,
                           struct sockets_cursor *cursor, uint32_t log_max)
{
    char *to, *from;
    size_t put = 0, bytes;

    for (;;) {
        ssize_t space = sockets_ring_reserve(dir, w, data, log_max, &to);
        size_t piece = 0;

        if (space < 0)
            return put ? (ssize_t)put : space;
        if (space > PIECE)
            space = PIECE;
        while (piece < (size_t)space &&
               (bytes = cursor_piece(cursor, (size_t)space - piece, &from)) > 0) {
            sockets_copier_copy(&w->copier, to + piece, from, bytes, w->unread + piece);
            piece += bytes;
        }
        if (piece == 0)
            return (ssize_t)put;
        sockets_ring_commit(dir, w, piece);
        put += piece;
        if (cursor->count == 0)
            return (ssize_t)put;
    }
}

/* ---- the reader ------------------------------------------------------------------- */

ssize_t sockets_ring_unread(const struct sockets_direction *dir, uint64_t head)
{
    const uint64_t unread = atomic_load_explicit(&dir->tail, memory_order_acquire) - head;

    return unread > (uint64_t)1 << SOCKETS_RING_LOG_MAX ? -EPROTO : (ssize_t)unread;
}

/* The bytes from `at` on that lie in one piece, at most `most`.  The base is the peer's, but the
 * mask keeps the address within the segment whatever it is. */
static size_t ring_piece(const struct sockets_direction *dir, uint64_t at, uint32_t log,
                         const char *data, size_t most, const char **piece)
{
    const size_t size = (size_t)1 << log;
    const size_t offset =
        (at - atomic_load_explicit(&dir->base, memory_order_relaxed)) & (size - 1);

    if (most > size - offset)
        most = size - offset;
    *piece = data + offset;
    return most;
}

static size_t copy_out(struct sockets_cursor *cursor, const char *from, size_t most,
                       enum sockets_take how, bool is_long)
{
    size_t copied = 0, bytes;
    char *to;

    while (copied < most && (bytes = cursor_piece(cursor, most - copied, &to)) > 0) {
        if (how != SOCKETS_DISCARD && is_long)
            sockets_copy_to_memory(to, from + copied, bytes);
        else if (how != SOCKETS_DISCARD)
            memcpy(to, from + copied, bytes);
        copied += bytes;
    }
    return copied;
}

ssize_t sockets_ring_read(struct sockets_direction *dir, uint64_t *head, const char *data,
                          struct sockets_cursor *cursor, enum sockets_take how)
{
    const bool is_long = sockets_cursor_left(cursor) >= LONG;
    uint64_t at = *head;
    size_t got = 0;

    for (;;) {
        const ssize_t unread = sockets_ring_unread(dir, at);
        const uint32_t log = atomic_load_explicit(&dir->log, memory_order_relaxed);
        const char *from;
        size_t bytes;

        if (unread <= 0 || log < SOCKETS_RING_LOG_MIN || log > SOCKETS_RING_LOG_MAX ||
            (uint64_t)unread > (uint64_t)1 << log)
            return got || unread == 0 ? (ssize_t)got : -EPROTO;
        bytes = ring_piece(dir, at, log, data, unread < PIECE ? (size_t)unread : PIECE, &from);
        bytes = copy_out(cursor, from, bytes, how, is_long);
        at += bytes;
        got += bytes;
        if (bytes > 0 && how != SOCKETS_PEEK) {
            __atomic_store_n(head, at, __ATOMIC_RELAXED);
            atomic_store_explicit(&dir->head, at, memory_order_release);
        }
        if (cursor->count == 0 || bytes == 0)
            return (ssize_t)got;
    }
}
