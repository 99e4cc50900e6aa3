/* SPDX-License-Identifier: BSD-3-Clause
 *
 * prompt.c - when TCP stops to collect small writes.
 *
 * What goes by the ring brings no acknowledgement for what went by TCP; so Nagle's algorithm would
 * hold the next byte back until the delayed one comes, 40 ms later.  Hence both ends send at once
 * as soon as either has used a ring.  Not before: while a stream goes by TCP alone its small writes
 * are collected as without us, or each would be a packet.
 */
#include "real/real.h"
#include "stream/internal.h"
#include <netinet/in.h>
#include <netinet/tcp.h>

void sockets_stream_send_at_once(struct sockets_stream *s, int fd)
{
    const int one = 1, once = 2;
    int cork = 1;
    socklen_t length = sizeof(cork);

    atomic_store(&s->record->prompt, 1);
    if (sockets_real.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
        sockets_real.getsockopt(fd, IPPROTO_TCP, TCP_CORK, &cork, &length) == 0)
        atomic_store(&s->nodelay, cork == 0);
    /* The other end has not seen our ring when it wrote what it may hold back, so that this had
     * arrived before; an acknowledgement sets it free. */
    sockets_real.setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &once, sizeof(once));
}

static void set_nodelay(int fd, int on)
{
    sockets_real.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void sockets_stream_set_nodelay(struct sockets_stream *s, int fd, bool asked)
{
    atomic_store(&s->record->asked_nodelay, asked);
    if (atomic_load(&s->record->prompt))
        return;
    set_nodelay(fd, asked);
    if (atomic_load(&s->record->prompt)) /* meanwhile, by another thread */
        set_nodelay(fd, 1);
}

void sockets_stream_push(struct sockets_stream *s, int fd)
{
    if (atomic_load(&s->record->prompt) || atomic_load(&s->record->asked_nodelay))
        return;
    set_nodelay(fd, 1);
    set_nodelay(fd, 0);
    if (atomic_load(&s->record->asked_nodelay)) /* meanwhile, by another thread */
        set_nodelay(fd, 1);
}
