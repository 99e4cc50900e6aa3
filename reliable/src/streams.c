/* SPDX-License-Identifier: BSD-3-Clause
 *
 * streams.c - the streams of an endpoint: opening and closing, and what packets say of them.
 */
#include "endpoint.h"
#include "mac.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void reliable_streams_open(struct reliable_endpoint *r, const struct reliable_config *config)
{
    r->streams.least = r->datagrams ? config->stream_bytes : 0;
    r->streams.after = config->stream_after;
    r->streams.covered = config->auth == RELIABLE_AUTH_FULL ? SIZE_MAX : RELIABLE_MAC_SHORT;
    r->streams.listener = -1;
}

int reliable_stream_host(const struct reliable_endpoint *r, struct sockaddr_storage *host)
{
    memset(host, 0, sizeof(*host));
    return r->datagrams ? r->datagrams->host(r->lower, host) : -EOPNOTSUPP;
}

/* ---- the streams of a peer -------------------------------------------------------------- */

static struct reliable_stream *stream_new(struct reliable_endpoint *r, uint16_t channel)
{
    struct reliable_stream *s = r->streams.count < RELIABLE_STREAMS ? calloc(1, sizeof(*s)) : NULL;

    if (!s)
        return NULL;
    s->channel = channel;
    s->rank = r->peer[channel].rank;
    s->out.fd = s->in.fd = -1;
    s->next = r->streams.first;
    r->streams.first = s;
    r->streams.count++;
    r->peer[channel].stream = s;
    return s;
}

struct reliable_stream *reliable_stream_of(struct reliable_endpoint *r, uint16_t channel)
{
    struct reliable_stream *s = r->peer[channel].stream;

    return s ? s : stream_new(r, channel);
}

static void fd_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void stream_free(struct reliable_stream *s)
{
    if (s->out.fd >= 0)
        reliable_stream_discard(s);
    fd_close(s->out.fd);
    fd_close(s->in.fd);
    free(s->out.bytes);
    free(s->in.bytes);
    free(s);
}

void reliable_stream_close(struct reliable_endpoint *r, uint16_t channel)
{
    struct reliable_stream *s = r->peer[channel].stream, **link = &r->streams.first;

    r->peer[channel].bulk_kib = 0;
    if (!s)
        return;
    if (r->streams.corked == s) {
        r->streams.corked = NULL;
        r->streams.begun = false;
    }
    r->streams.owed -= s->out.noted < s->out.episodes;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    r->streams.count--;
    r->peer[channel].stream = NULL;
    stream_free(s);
}

void reliable_streams_close(struct reliable_endpoint *r)
{
    while (r->streams.first)
        reliable_stream_close(r, r->streams.first->channel);
    while (r->streams.greetings > 0)
        fd_close(r->streams.greeting[--r->streams.greetings]);
    fd_close(r->streams.listener);
}

/* The peer is found silent when its channel's state is looked at next. */
void reliable_stream_break(const struct reliable_endpoint *r, const struct reliable_stream *s)
{
    r->peer[s->channel].silent = true;
}

#ifndef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US 45 /* kernels that do not have it wait 200 ms */
#endif

static void option_set(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof(value));
}

void reliable_stream_set_options(int fd)
{
    enum { IDLE_S = 60, INTERVAL_S = 10, TIMES = 6, RTO_MIN_US = 8000 };

    option_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S);
    option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, INTERVAL_S);
    option_set(fd, IPPROTO_TCP, TCP_KEEPCNT, TIMES);
    option_set(fd, IPPROTO_TCP, TCP_RTO_MIN_US, RTO_MIN_US);
}

/* ---- notes -------------------------------------------------------------------------------- */

static void note_offer(struct reliable_endpoint *r, struct reliable_stream *s, const void *data,
                       size_t length)
{
    struct reliable_offer offer;

    if (length != sizeof(offer) || s->out.state != RELIABLE_STREAM_ASKED) {
        r->ni.ep.stats.malformed++;
        return;
    }
    memcpy(&offer, data, sizeof(offer));
    reliable_stream_connect(r, s, &offer);
}

static bool note_episode(struct reliable_endpoint *r, struct reliable_stream *s, const void *data,
                         size_t length)
{
    uint64_t episodes;

    if (length != sizeof(episodes)) {
        r->ni.ep.stats.malformed++;
        return false;
    }
    memcpy(&episodes, data, sizeof(episodes));
    return reliable_stream_noted(r, s, episodes);
}

bool reliable_streams_note(void *arg, uint32_t source, uint32_t kind, const void *data,
                           size_t length)
{
    struct reliable_endpoint *r = arg;
    const uint16_t channel = r->channel_of[source];
    struct reliable_stream *s = channel != 0 ? reliable_stream_of(r, channel) : NULL;

    if (!s)
        return false;
    r->streams.work = true;
    if (kind == RELIABLE_NOTE_EPISODE)
        return note_episode(r, s, data, length);
    if (kind == RELIABLE_NOTE_ASK)
        s->in.offer_due = true;
    else if (kind == RELIABLE_NOTE_OFFER)
        note_offer(r, s, data, length);
    else if (kind == RELIABLE_NOTE_ACCEPT)
        reliable_stream_accepted(s);
    else
        r->ni.ep.stats.malformed++;
    return false;
}

/* ---- a turn --------------------------------------------------------------------------------- */

static bool note_is_due(const struct reliable_stream *s)
{
    return s->in.offer_due || s->in.accept_due || s->out.noted < s->out.episodes;
}

/* Tells the peer what is due.  A receiver that looks by itself need not be told of episodes. */
static void stream_tell(struct reliable_endpoint *r, struct reliable_stream *s, uint64_t now)
{
    if (s->in.offer_due)
        s->in.offer_due = reliable_stream_offer(r, now, s) != 0;
    if (s->in.accept_due)
        s->in.accept_due = reliable_stream_accept(r, now, s) != 0;
    if (now > s->out.hot_until)
        reliable_stream_tell(r, now, s->channel);
}

/* Returns whether there is more to do. */
static bool stream_turn(struct reliable_endpoint *r, struct reliable_stream *s, uint64_t now,
                        int *count)
{
    if (s->out.state == RELIABLE_STREAM_CONNECTING)
        reliable_stream_greet(s, now);
    else if (s->out.first < s->out.end)
        reliable_stream_flush(r, s);
    if (reliable_stream_is_awaited(s))
        *count += reliable_stream_receive(r, now, s);
    if (note_is_due(s))
        stream_tell(r, s, now);
    return note_is_due(s) || s->in.nonce != 0 || reliable_stream_is_awaited(s) ||
           s->out.state == RELIABLE_STREAM_CONNECTING || s->out.first < s->out.end;
}

int reliable_streams_turn(struct reliable_endpoint *r, uint64_t now)
{
    int count = 0;
    bool work = false;

    if (!r->streams.work)
        return 0;
    reliable_streams_accept(r, now);
    for (struct reliable_stream *s = r->streams.first; s; s = s->next)
        work |= !r->peer[s->channel].silent && stream_turn(r, s, now, &count);
    r->streams.work = work;
    reliable_output_send(r, now);
    return count;
}
