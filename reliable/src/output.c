/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.c - what the owner sends, at once or corked.
 */
#include "endpoint.h"
#include <errno.h>

enum {
    TRAIN_FIRST_BYTES = 31 << 10, /* of corked messages, that wait no longer: four of GAM's, */
    TRAIN_BYTES = 63 << 10,       /* and eight: with headers one train of a network's */
};

bool reliable_output_send(struct reliable_endpoint *r, uint64_t now)
{
    return r->datagrams ? reliable_datagrams_send(r, now) : reliable_packets_send(r, now);
}

/* What is corked waits, but not for ever: while the rest of a long message is copied, its beginning
 * is on its way, and the receiver at work.  The first train is shorter, so that this begins soon.
 */
static void output_send_unless_corked(struct reliable_endpoint *r, uint64_t now)
{
    if (r->corked && r->corked_bytes < (r->cork_sent ? TRAIN_BYTES : TRAIN_FIRST_BYTES)) {
        r->packets_wait = true;
        return;
    }
    r->cork_sent |= r->corked;
    r->corked_bytes = 0;
    reliable_output_send(r, now);
}

/* The end of what has begun to go does so with uncorking, and joins no packet that waits. */
static bool output_may_join(const struct reliable_endpoint *r)
{
    return !(r->corked && r->cork_sent);
}

void reliable_output_kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct reliable_endpoint *r = reliable_of(ep);

    (void)channel;
    reliable_lock(r);
    if (!output_may_join(r) || !reliable_messages_append(r)) {
        const uint64_t now = unet_now_us();

        reliable_messages_send(r, now);
        output_send_unless_corked(r, now);
    }
    reliable_unlock(r);
}

static void output_count_corked(struct reliable_endpoint *r, const struct iovec *iov,
                                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        r->corked_bytes += iov[i].iov_len;
}

/* A message that nothing has to be done for now; the clock need not be read. */
static bool output_append(struct reliable_endpoint *r, uint16_t channel, uint32_t user,
                          const struct iovec *iov, uint32_t count)
{
    if (!output_may_join(r) || reliable_messages_queued(r) || !reliable_stream_is_left(r) ||
        reliable_stream_is_corked(r, channel) ||
        !reliable_engine_append(r->engine, r->peer[channel].rank, user, iov, count))
        return false;
    output_count_corked(r, iov, count);
    return true;
}

/* Behind the messages that are queued. */
static int output_sendv_locked(struct reliable_endpoint *r, uint16_t channel, uint32_t user,
                               const struct iovec *iov, uint32_t count)
{
    uint64_t now;
    int rc;

    if (reliable_messages_queued(r))
        reliable_messages_send(r, unet_now_us());
    if (reliable_messages_queued(r))
        return -EAGAIN;
    if (reliable_stream_is_corked(r, channel)) {
        rc = reliable_stream_send(r, user, iov, count);
        if (rc != -EMSGSIZE)
            return rc;
    }
    now = unet_now_us();
    rc = reliable_stream_leave(r, now, channel);
    if (rc == 0)
        rc = reliable_engine_sendv(r->engine, now, r->peer[channel].rank, user, iov, count);
    if (rc)
        return rc;
    output_count_corked(r, iov, count);
    output_send_unless_corked(r, now);
    return 0;
}

int reliable_output_sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                          const struct iovec *iov, uint32_t count)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    reliable_lock(r);
    rc = output_append(r, channel, user, iov, count)
             ? 0
             : output_sendv_locked(r, channel, user, iov, count);
    reliable_unlock(r);
    return rc == -ENOMEM ? -EAGAIN : rc;
}

void reliable_output_cork(struct unet_endpoint *ep, uint16_t channel, size_t bytes)
{
    struct reliable_endpoint *r = reliable_of(ep);

    r->corked = true;
    r->cork_sent = false;
    r->corked_bytes = 0;
    r->received_at_cork = ep->stats.received;
    if (r->streams.least == 0 || bytes < r->streams.least)
        return;
    reliable_lock(r);
    reliable_stream_cork(r, unet_now_us(), channel, bytes);
    reliable_unlock(r);
}

static void output_uncork_locked(struct reliable_endpoint *r, bool acknowledge)
{
    const uint64_t now = unet_now_us();

    reliable_stream_uncork(r, now);
    if (r->cork_sent)
        reliable_engine_push(r->engine);
    if (reliable_messages_send(r, now) > 0 || r->packets_wait || acknowledge)
        reliable_output_send(r, now);
}

/* The acknowledgement of a single message waits: the caller may be about to answer it, and then the
 * answer carries it.  The end of what has begun to go does not wait for more messages. */
void reliable_output_uncork(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    const bool acknowledge = ep->stats.received - r->received_at_cork > 1;

    r->corked = false;
    reliable_lock(r);
    if (r->streams.corked || r->cork_sent || r->packets_wait || acknowledge ||
        reliable_messages_queued(r))
        output_uncork_locked(r, acknowledge);
    reliable_unlock(r);
    r->packets_wait = false;
}
