/* SPDX-License-Identifier: BSD-3-Clause
 *
 * call.h - what the functions have in common that stand in front of libc's.
 *
 * Each enters the descriptor's stream, if it has one, and then either does the call itself or
 * leaves it to the kernel.  As long as a call is with the kernel its stream is not upgraded.
 */
#ifndef SOCKETS_CALL_H
#define SOCKETS_CALL_H

#include "real/real.h"
#include "stream/stream.h"
#include "table/table.h"
#include "upgrade/upgrade.h"
#include <errno.h>

#define SOCKETS_EXPORT __attribute__((visibility("default")))

extern bool sockets_process_ready;

/* Before a lock is taken that handlers of signals take, too, until the mask is `before` again. */
void sockets_process_block_handlers(sigset_t *before);

/* Find libc's functions and read the settings, once; programs may call before our constructor. */
void sockets_process_init(void);

static inline void sockets_call_prepare(void)
{
    if (__builtin_expect(!sockets_process_ready, 0))
        sockets_process_init();
}

/* The stream of a descriptor, entered, or NULL. */
static inline struct sockets_stream *sockets_call_enter(int fd)
{
    sockets_call_prepare();
    return sockets_table_enter(fd);
}

/* The same for a call that moves data, by which connections come of age. */
static inline struct sockets_stream *sockets_call_begin(int fd)
{
    struct sockets_stream *s = sockets_call_enter(fd);

    if (s && !s->upgraded)
        sockets_upgrade_step(s, fd);
    return s;
}

/* The kernel has read for a call that began so.  One that found nothing does not count before the
 * other end is looked for: connections of one request end with such, and need no rings. */
static inline void sockets_call_end_read(struct sockets_stream *s, ssize_t n)
{
    if (n <= 0 && atomic_load_explicit(&s->record->tries, memory_order_relaxed) == 0)
        atomic_fetch_sub_explicit(&s->record->ops, 1, memory_order_relaxed);
    sockets_table_leave(s);
}

/* A call has found no descriptor left, and some of ours can be had: make it once more. */
static inline bool sockets_call_lacks_descriptor(int result)
{
    return __builtin_expect(result < 0, 0) && errno == EMFILE && sockets_table_is_ours() &&
           (sockets_upgrade_make_room() || sockets_stream_give_up_wakers());
}

/* A descriptor comes into a set of epoll: if it is a TCP socket that is not connected yet, it is
 * looked after from now on, as the set has to know of it when it has rings.  Keeps errno. */
void sockets_call_foresee(int fd);

/* The program is about to make a system call by its number. */
void sockets_call_by_number(long number, const long arguments[6]);

/* A result as libc gives it. */
static inline ssize_t sockets_call_result(ssize_t n)
{
    if (n >= 0)
        return n;
    errno = (int)-n;
    return -1;
}

#endif
