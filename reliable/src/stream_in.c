/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream_in.c - bulk from peers: offers, connections, and records into messages.
 *
 * Nothing that comes is believed: connections have to say a number that only the peer was told, and
 * records are delivered after their code was found right.
 */
#include "endpoint.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READS = 4,         /* of a stream in one turn */
    CROSSES_US = 500,  /* what is found later may have been sent later */
    PATIENCE_US = 500, /* without a byte of an episode, until the sender may need a word ... */
    PATIENCE_MOST_US = 128000, /* ... and twice as long each time, up to this */
};

/* ---- offers --------------------------------------------------------------------------------- */

/* Errors: -errno. */
static int listener_open(struct reliable_endpoint *r, const struct sockaddr_storage *host)
{
    const int fd = socket(host->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const socklen_t length =
        host->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int rc = 0;

    if (fd < 0)
        return -errno;
    if (bind(fd, (const struct sockaddr *)host, length) < 0 || listen(fd, RELIABLE_STREAMS) < 0)
        rc = -errno;
    if (rc)
        close(fd);
    else
        r->streams.listener = fd;
    return rc;
}

static int offer_fill(const struct reliable_endpoint *r, struct reliable_offer *offer)
{
    struct sockaddr_storage here;
    const struct sockaddr_in *ip4 = (const struct sockaddr_in *)&here;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)&here;
    socklen_t length = sizeof(here);

    if (getsockname(r->streams.listener, (struct sockaddr *)&here, &length) < 0)
        return -errno;
    offer->family = here.ss_family;
    offer->port = here.ss_family == AF_INET ? ip4->sin_port : ip6->sin6_port;
    if (here.ss_family == AF_INET)
        memcpy(offer->ip, &ip4->sin_addr, sizeof(ip4->sin_addr));
    else
        memcpy(offer->ip, &ip6->sin6_addr, sizeof(ip6->sin6_addr));
    return getrandom(&offer->nonce, sizeof(offer->nonce), 0) == sizeof(offer->nonce) ? 0 : -EIO;
}

/* Errors: there is nowhere to be connected to. */
static int offer_make(struct reliable_endpoint *r, struct reliable_offer *offer)
{
    struct sockaddr_storage host;
    int rc = 0;

    if (r->streams.least == 0)
        return -EOPNOTSUPP;
    if (r->streams.listener < 0) {
        rc = reliable_stream_host(r, &host);
        if (rc == 0)
            rc = listener_open(r, &host);
    }
    return rc ? rc : offer_fill(r, offer);
}

int reliable_stream_offer(struct reliable_endpoint *r, uint64_t now, struct reliable_stream *s)
{
    struct reliable_offer offer = {0};
    int rc;

    if (s->in.fd >= 0 || offer_make(r, &offer) != 0)
        offer.nonce = 0;
    if (offer.nonce != 0 && !s->in.bytes)
        s->in.bytes = aligned_alloc(RELIABLE_STREAM_ALIGNED, RELIABLE_STREAM_IN);
    if (!s->in.bytes)
        offer.nonce = 0;
    rc = reliable_engine_note(r->engine, now, s->rank, RELIABLE_NOTE_OFFER, &offer, sizeof(offer));
    if (rc == 0) {
        s->in.nonce = offer.nonce;
        s->in.offered = now;
    }
    return rc == -EAGAIN || rc == -ENOMEM ? -EAGAIN : 0;
}

int reliable_stream_accept(struct reliable_endpoint *r, uint64_t now, struct reliable_stream *s)
{
    const int rc = reliable_engine_note(r->engine, now, s->rank, RELIABLE_NOTE_ACCEPT, NULL, 0);

    return rc == -EAGAIN || rc == -ENOMEM ? -EAGAIN : 0;
}

/* ---- connections ---------------------------------------------------------------- */

/* Whose it is; or NULL. */
static struct reliable_stream *greeting_check(const struct reliable_endpoint *r,
                                              const struct reliable_greeting *g)
{
    struct reliable_stream *s = r->streams.first;

    if (g->version != RELIABLE_PACKET_VERSION || g->dest != r->rank || g->nonce == 0 ||
        g->mac != reliable_engine_mac(r->engine, g->nonce, &g->nonce, sizeof(*g) - sizeof(g->mac)))
        return NULL;
    while (s && (s->rank != g->source || s->in.nonce != g->nonce))
        s = s->next;
    return s;
}

/* Whether the connection is done with: it is a stream's, or nobody's. */
static bool greeting_take(struct reliable_endpoint *r, int fd)
{
    struct reliable_greeting greeting;
    const ssize_t n = recv(fd, &greeting, sizeof(greeting), MSG_DONTWAIT | MSG_PEEK);
    struct reliable_stream *s;

    if ((n > 0 && n < (ssize_t)sizeof(greeting)) || (n < 0 && errno == EAGAIN))
        return false;
    s = n == sizeof(greeting) ? greeting_check(r, &greeting) : NULL;
    if (!s || recv(fd, &greeting, sizeof(greeting), MSG_DONTWAIT) != sizeof(greeting)) {
        r->ni.ep.stats.foreign++;
        close(fd);
        return true;
    }
    reliable_stream_set_options(fd);
    s->in.fd = fd;
    s->in.nonce = 0;
    s->in.accept_due = true;
    return true;
}

static void greetings_take(struct reliable_endpoint *r)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < r->streams.greetings; i++) {
        if (!greeting_take(r, r->streams.greeting[i]))
            r->streams.greeting[kept++] = r->streams.greeting[i];
    }
    r->streams.greetings = kept;
}

/* The oldest one makes room: those who say nothing keep nobody out.  If that is a rank's, packets
 * carry its bulk. */
static void greeting_add(struct reliable_endpoint *r, int fd)
{
    struct reliable_streams *streams = &r->streams;

    if (streams->greetings == RELIABLE_STREAM_GREETINGS) {
        r->ni.ep.stats.foreign++;
        close(streams->greeting[0]);
        memmove(streams->greeting, streams->greeting + 1,
                --streams->greetings * sizeof(*streams->greeting));
    }
    streams->greeting[streams->greetings++] = fd;
    greetings_take(r);
}

/* Whether an offer is good, after the time of some is over. */
static bool offers_look(const struct reliable_endpoint *r, uint64_t now)
{
    bool any = false;

    for (struct reliable_stream *s = r->streams.first; s; s = s->next) {
        if (s->in.nonce != 0 && now - s->in.offered > RELIABLE_STREAM_OFFER_US)
            s->in.nonce = 0;
        any |= s->in.nonce != 0;
    }
    return any;
}

void reliable_streams_accept(struct reliable_endpoint *r, uint64_t now)
{
    int fd = 0;

    if (!offers_look(r, now))
        return;
    greetings_take(r);
    for (int i = 0; i < RELIABLE_STREAM_ACCEPTS && fd >= 0; i++) {
        fd = accept4(r->streams.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            greeting_add(r, fd);
    }
}

/* ---- records -------------------------------------------------------------------------------- */

/* False: there is not a whole one yet. */
static bool record_is_there(const struct reliable_stream_in *in, struct reliable_record *record)
{
    const size_t there = in->end - in->first;

    if (there < sizeof(*record))
        return false;
    memcpy(record, in->bytes + in->first, sizeof(*record));
    return there >= sizeof(*record) + ((record->length + 7u) & ~7u);
}

static size_t record_length_least(const struct reliable_record *record)
{
    return record->flags == RELIABLE_RECORD_START ? sizeof(struct reliable_start) : 0;
}

/* Episodes have one START and one END. */
static bool record_ok(const struct reliable_endpoint *r, const struct reliable_stream *s,
                      const struct reliable_record *record, const uint8_t *text)
{
    if ((record->flags == RELIABLE_RECORD_START) == s->in.episode ||
        (record->flags != 0 && record->length != record_length_least(record)) ||
        record->flags > RELIABLE_RECORD_END)
        return false;
    return record->mac ==
           reliable_engine_mac_record(r->engine, s->rank, r->rank, s->in.records, record, text);
}

static bool start_ok(const struct reliable_stream *s, const uint8_t *text)
{
    struct reliable_start start;

    memcpy(&start, text, sizeof(start));
    return start.episode == s->in.ended + 1;
}

/* Whether all that comes before the episode has been delivered. */
static bool start_is_due(const struct reliable_endpoint *r, const struct reliable_stream *s,
                         const uint8_t *text)
{
    struct reliable_start start;

    memcpy(&start, text, sizeof(start));
    return s->in.noted >= start.episode ||
           reliable_engine_delivered(r->engine, s->rank) == start.after;
}

static void episode_end(struct reliable_endpoint *r, struct reliable_stream *s)
{
    s->in.episode = false;
    s->in.ended++;
    if (s->in.noted <= s->in.ended)
        reliable_engine_resume(r->engine, s->rank);
}

/* What a record that is there does.  Returns how many messages it delivers. */
static int record_take(struct reliable_endpoint *r, struct reliable_stream *s,
                       const struct reliable_record *record, const uint8_t *text)
{
    s->in.records++;
    s->in.first += (uint32_t)sizeof(*record) + ((record->length + 7u) & ~7u);
    if (record->flags == RELIABLE_RECORD_END) {
        episode_end(r, s);
    } else if (record->flags == RELIABLE_RECORD_START) {
        s->in.episode = true;
    } else {
        reliable_messages_deliver(r, s->rank, record->user, text, record->length, false);
        r->streams.messages_in++;
        return 1;
    }
    return 0;
}

/* Whole records, as far as they are due.  Returns how many messages they deliver, or -1: the stream
 * breaks. */
static int records_take(struct reliable_endpoint *r, struct reliable_stream *s)
{
    struct reliable_record record;
    int count = 0;

    while (record_is_there(&s->in, &record)) {
        const uint8_t *text = s->in.bytes + s->in.first + sizeof(record);

        if (!record_ok(r, s, &record, text) ||
            (record.flags == RELIABLE_RECORD_START && !start_ok(s, text)))
            return -1;
        if (record.flags == RELIABLE_RECORD_START && !start_is_due(r, s, text))
            break;
        count += record_take(r, s, &record, text);
    }
    return count;
}

static bool in_is_owed(const struct reliable_stream_in *in)
{
    return in->episode || in->noted > in->ended;
}

/* A peer that ends does so between episodes; packets tell of it. */
static void in_end(struct reliable_endpoint *r, struct reliable_stream *s)
{
    if (in_is_owed(&s->in) || s->in.first < s->in.end)
        reliable_stream_break(r, s);
    close(s->in.fd);
    s->in.fd = -1;
    s->in.hot = false;
    s->crosses = false;
}

/* False: nothing is there now, or ever again. */
static bool stream_read(struct reliable_endpoint *r, struct reliable_stream *s)
{
    struct reliable_stream_in *in = &s->in;
    ssize_t n;

    if (in->first > 0) {
        memmove(in->bytes, in->bytes + in->first, in->end - in->first);
        in->end -= in->first;
        in->first = 0;
    }
    if (in->end == RELIABLE_STREAM_IN)
        return false;
    n = recv(in->fd, in->bytes + in->end, RELIABLE_STREAM_IN - in->end, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        in_end(r, s);
    if (n > 0)
        in->end += (uint32_t)n;
    if (s->sent > 0)
        s->crosses = n > 0 && unet_now_us() - s->sent < CROSSES_US;
    s->sent = 0;
    return n > 0;
}

/* TCP's latest acknowledgement may be lost, or the kernel puts it off: up to 40 ms if a single
 * segment has come, as it does when the sender asks.  A byte the other way carries it once more. */
static void in_acknowledge(struct reliable_endpoint *r, struct reliable_stream_in *in, uint64_t now)
{
    if (now - in->quiet < in->patience_us || in->patience_us > PATIENCE_MOST_US)
        return;
    while (in->patience_us <= now - in->quiet && in->patience_us <= PATIENCE_MOST_US)
        in->patience_us *= 2; /* nobody may have looked for long */
    if (send(in->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
        r->streams.acks++;
}

/* After nothing was there for a while, packets have to tell of more. */
static void stream_look(struct reliable_endpoint *r, struct reliable_stream_in *in, uint64_t now,
                        bool found)
{
    if (found) {
        in->quiet = 0;
        in->hot = true;
    } else if (in->quiet == 0) {
        in->quiet = now;
        in->patience_us = PATIENCE_US;
    } else if (now - in->quiet > RELIABLE_STREAM_LOOK_US) {
        in->hot = false;
    }
    if (in->quiet > 0 && in_is_owed(in))
        in_acknowledge(r, in, now);
}

/* Whoever tells of episodes has been told that the stream is there. */
bool reliable_stream_noted(struct reliable_endpoint *r, struct reliable_stream *s,
                           uint64_t episodes)
{
    if (s->in.fd < 0 && episodes > s->in.ended)
        reliable_stream_break(r, s);
    if (!in_is_owed(&s->in))
        s->in.quiet = 0; /* nothing has been waited for yet */
    if (episodes > s->in.noted)
        s->in.noted = episodes;
    return s->in.noted > s->in.ended;
}

bool reliable_stream_is_owed(const struct reliable_endpoint *r, uint16_t channel)
{
    const struct reliable_stream *s = r->peer[channel].stream;

    return s && s->in.fd >= 0 && in_is_owed(&s->in);
}

bool reliable_stream_is_awaited(const struct reliable_stream *s)
{
    return s->in.hot || in_is_owed(&s->in);
}

bool reliable_streams_are_hot(const struct reliable_endpoint *r)
{
    const struct reliable_stream *s = r->streams.work ? r->streams.first : NULL;

    while (s && (!s->in.hot || r->peer[s->channel].silent))
        s = s->next;
    return s != NULL;
}

/* Whether it goes on. */
static bool stream_deliver(struct reliable_endpoint *r, struct reliable_stream *s, int *count)
{
    const int taken = records_take(r, s);

    if (taken < 0) {
        r->ni.ep.stats.malformed++;
        reliable_stream_break(r, s);
        return false;
    }
    *count += taken;
    return true;
}

int reliable_stream_receive(struct reliable_endpoint *r, uint64_t now, struct reliable_stream *s)
{
    bool found = false;
    int count = 0;

    if (s->in.fd < 0 || !stream_deliver(r, s, &count))
        return count;
    for (int i = 0; i < READS && stream_read(r, s); i++) {
        found = true;
        if (!stream_deliver(r, s, &count))
            break;
    }
    if (s->in.fd >= 0)
        stream_look(r, &s->in, now, found);
    return count;
}
