/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream_out.c - bulk to peers: connecting, and messages into records.
 *
 * Records are composed in memory and given to the kernel in trains.  What it does not take stays
 * there, and the turns of the network interface try again.
 */
#include "endpoint.h"
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DISCARD_EVERY = 256, /* episodes */
    DISCARD_BYTES = 256,
    DISCARD_READS = 16,
};

/* ---- connecting ------------------------------------------------------------------------- */

static void out_refuse(struct reliable_stream *s)
{
    if (s->out.fd >= 0)
        close(s->out.fd);
    free(s->out.bytes);
    s->out.fd = -1;
    s->out.bytes = NULL;
    s->out.first = s->out.end = 0;
    s->out.state = RELIABLE_STREAM_REFUSED;
}

/* A link-local address is that of an interface of ours. */
static socklen_t offer_place(const struct reliable_endpoint *r, const struct reliable_offer *offer,
                             struct sockaddr_storage *place)
{
    struct sockaddr_in *ip4 = (struct sockaddr_in *)place;
    struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)place;

    if (offer->nonce == 0 || reliable_stream_host(r, place) != 0 ||
        place->ss_family != offer->family)
        return 0;
    if (offer->family == AF_INET) {
        ip4->sin_port = offer->port;
        memcpy(&ip4->sin_addr, offer->ip, sizeof(ip4->sin_addr));
        return sizeof(*ip4);
    }
    ip6->sin6_port = offer->port;
    memcpy(&ip6->sin6_addr, offer->ip, sizeof(ip6->sin6_addr));
    if (!IN6_IS_ADDR_LINKLOCAL(&ip6->sin6_addr))
        ip6->sin6_scope_id = 0;
    return sizeof(*ip6);
}

/* Trains go at once. */
static int out_socket(int family)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0)
        return fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    reliable_stream_set_options(fd);
    return fd;
}

static void out_greet(const struct reliable_endpoint *r, struct reliable_stream *s, uint64_t nonce)
{
    struct reliable_greeting greeting = {.nonce = nonce,
                                         .source = (uint16_t)r->rank,
                                         .dest = (uint16_t)s->rank,
                                         .version = RELIABLE_PACKET_VERSION};

    greeting.mac = reliable_engine_mac(r->engine, nonce, &greeting.nonce,
                                       sizeof(greeting) - sizeof(greeting.mac));
    memcpy(s->out.bytes, &greeting, sizeof(greeting));
    s->out.end = sizeof(greeting);
}

void reliable_stream_connect(struct reliable_endpoint *r, struct reliable_stream *s,
                             const struct reliable_offer *offer)
{
    struct sockaddr_storage place;
    const socklen_t length = offer_place(r, offer, &place);

    s->out.bytes = length > 0 ? aligned_alloc(RELIABLE_STREAM_ALIGNED, RELIABLE_STREAM_OUT) : NULL;
    s->out.fd = s->out.bytes ? out_socket(offer->family) : -1;
    if (s->out.fd < 0 ||
        (connect(s->out.fd, (const struct sockaddr *)&place, length) < 0 && errno != EINPROGRESS)) {
        out_refuse(s);
        return;
    }
    out_greet(r, s, offer->nonce);
    s->out.state = RELIABLE_STREAM_CONNECTING;
}

/* A connection that is being made takes nothing yet.  Whether the peer has got the greeting, only
 * the peer can tell: others may answer in its place. */
void reliable_stream_greet(struct reliable_stream *s, uint64_t now)
{
    struct reliable_stream_out *out = &s->out;
    ssize_t n = 0;

    if (out->first < out->end)
        n = send(out->fd, out->bytes + out->first, out->end - out->first,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0)
        out->first += (uint32_t)n;
    if (out->offered == 0)
        out->offered = now;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) ||
        now - out->offered > RELIABLE_STREAM_OFFER_US)
        out_refuse(s);
}

void reliable_stream_accepted(struct reliable_stream *s)
{
    if (s->out.state != RELIABLE_STREAM_CONNECTING || s->out.first < s->out.end)
        return;
    s->out.first = s->out.end = 0;
    s->out.state = RELIABLE_STREAM_OPEN;
}

/* What the peer sends acknowledges by coming, and says nothing.  What is left after so many reads
 * waits for the next time. */
void reliable_stream_discard(const struct reliable_stream *s)
{
    uint8_t bytes[DISCARD_BYTES];

    for (int i = 0; i < DISCARD_READS; i++) {
        if (recv(s->out.fd, bytes, sizeof(bytes), MSG_DONTWAIT) != sizeof(bytes))
            return;
    }
}

/* ---- giving it to the kernel --------------------------------------------------------------- */

/* What is there, in order.  Returns how many pieces. */
static size_t out_pieces(const struct reliable_stream_out *out, struct iovec *iov)
{
    uint32_t at = out->first;
    size_t count = 0;

    for (unsigned i = 0; i < out->gaps; i++) {
        const struct reliable_stream_gap *gap = &out->gap[i];

        iov[count++] = (struct iovec){out->bytes + at, gap->at - at};
        iov[count++] = (struct iovec){(void *)gap->from, gap->length};
        at = gap->at + gap->length;
    }
    iov[count++] = (struct iovec){out->bytes + at, out->end - at};
    return count;
}

/* What the kernel did not take is copied after all. */
static void out_fill(struct reliable_stream_out *out)
{
    for (unsigned i = 0; i < out->gaps; i++) {
        const struct reliable_stream_gap *gap = &out->gap[i];

        if (gap->at + gap->length > out->first)
            memcpy(out->bytes + gap->at, gap->from, gap->length);
    }
    out->gaps = 0;
}

/* Errors: as of sendmsg.  Whatever comes of it, there are no gaps afterwards. */
static ssize_t out_send(struct reliable_stream_out *out)
{
    struct iovec iov[2 * RELIABLE_STREAM_GAPS + 1];
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = out_pieces(out, iov)};
    const ssize_t n = sendmsg(out->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    const int error = errno;

    if (n > 0)
        out->first += (uint32_t)n;
    out_fill(out);
    errno = error;
    return n;
}

/* The peer may not have been told yet that there are more episodes, and would miss nothing.  The
 * note goes once, if the windows have room; else the peer finds out by silence. */
static void out_break(struct reliable_endpoint *r, struct reliable_stream *s)
{
    const uint64_t now = unet_now_us();

    reliable_stream_tell(r, now, s->channel);
    reliable_engine_push_one(r->engine, s->rank);
    reliable_output_send(r, now);
    reliable_stream_break(r, s);
}

bool reliable_stream_flush(struct reliable_endpoint *r, struct reliable_stream *s)
{
    struct reliable_stream_out *out = &s->out;

    while (out->first < out->end) {
        const ssize_t n = out_send(out);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM))
            break;
        if (n < 0) {
            out_break(r, s);
            return false;
        }
        out->unarrived = true;
    }
    if (out->first == out->end)
        out->first = out->end = 0;
    else
        r->streams.work = true;
    return true;
}

bool reliable_stream_is_given(const struct reliable_endpoint *r, uint16_t channel)
{
    const struct reliable_stream *s = r->peer[channel].stream;

    return !s || s->out.state != RELIABLE_STREAM_OPEN || s->out.first == s->out.end;
}

/* What the kernel counts stays as it is when the connection has broken. */
static bool out_is_acknowledged(const struct reliable_endpoint *r, const struct reliable_stream *s)
{
    struct pollfd fd = {.fd = s->out.fd};
    int count = 0;

    if (ioctl(s->out.fd, SIOCOUTQ, &count) < 0 || count == 0)
        return true;
    if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLERR | POLLHUP)))
        return false;
    reliable_stream_break(r, s);
    return true;
}

static bool out_arrived(const struct reliable_endpoint *r, struct reliable_stream *s)
{

    if (s->out.state != RELIABLE_STREAM_OPEN)
        return true;
    if (s->out.first < s->out.end || s->out.noted < s->out.episodes)
        return false;
    if (s->out.unarrived)
        s->out.unarrived = !out_is_acknowledged(r, s);
    return !s->out.unarrived;
}

bool reliable_stream_arrived(const struct reliable_endpoint *r, uint16_t channel)
{
    struct reliable_stream *s = r->peer[channel].stream;

    return !s || out_arrived(r, s);
}

bool reliable_streams_arrived(struct reliable_endpoint *r)
{
    for (struct reliable_stream *s = r->streams.first; s; s = s->next) {
        if (!r->peer[s->channel].silent && !out_arrived(r, s))
            return false;
    }
    return true;
}

/* ---- records ------------------------------------------------------------------------------ */

static size_t record_bytes(size_t length)
{
    return sizeof(struct reliable_record) + ((length + 7) & ~(size_t)7);
}

/* Room for a record, with START in front of it and END behind. */
static bool out_make_room(struct reliable_endpoint *r, struct reliable_stream *s, size_t bytes)
{
    struct reliable_stream_out *out = &s->out;

    bytes += record_bytes(sizeof(struct reliable_start)) + record_bytes(0);
    if (out->end + bytes <= RELIABLE_STREAM_OUT)
        return true;
    if (!reliable_stream_flush(r, s))
        return false;
    memmove(out->bytes, out->bytes + out->first, out->end - out->first);
    out->end -= out->first;
    out->first = 0;
    return out->end + bytes <= RELIABLE_STREAM_OUT;
}

/* A part of a message, of which so many bytes have to be copied: others may stay where they are if
 * they are many. */
static void out_add_part(struct reliable_stream_out *out, uint8_t *to, const struct iovec *part,
                         size_t copied)
{
    const size_t rest = part->iov_len - copied;

    if (rest < RELIABLE_STREAM_GAP || out->gaps == RELIABLE_STREAM_GAPS) {
        memcpy(to, part->iov_base, part->iov_len);
        return;
    }
    memcpy(to, part->iov_base, copied);
    out->gap[out->gaps++] =
        (struct reliable_stream_gap){.from = (const uint8_t *)part->iov_base + copied,
                                     .at = (uint32_t)(to + copied - out->bytes),
                                     .length = (uint32_t)rest};
}

/* The code is that of the copy, in the cache: the sender's memory may change meanwhile. */
static void out_add(const struct reliable_endpoint *r, struct reliable_stream *s,
                    struct reliable_record record, const struct iovec *iov, uint32_t count)
{
    struct reliable_stream_out *out = &s->out;
    uint8_t *const header = out->bytes + out->end, *const text = header + sizeof(record);
    size_t covered = r->streams.covered, at = 0;

    for (uint32_t i = 0; i < count; i++) {
        const size_t copied = covered < iov[i].iov_len ? covered : iov[i].iov_len;

        out_add_part(out, text + at, &iov[i], copied);
        covered -= copied;
        at += iov[i].iov_len;
    }
    memset(text + at, 0, (size_t)-record.length & 7);
    record.mac =
        reliable_engine_mac_record(r->engine, r->rank, s->rank, out->records++, &record, text);
    memcpy(header, &record, sizeof(record));
    out->end += (uint32_t)record_bytes(record.length);
}

/* ---- episodes ------------------------------------------------------------------------------- */

/* System calls are dear, so trains are long; but the receiver takes in the first three quarters of
 * a bulk while the rest is composed, unless it is composing one itself. */
static uint32_t train_of(const struct reliable_stream *s, size_t bytes)
{
    const size_t most = bytes / 4 * 3;

    if (s->crosses || most > RELIABLE_STREAM_TRAIN)
        return RELIABLE_STREAM_TRAIN;
    return most < RELIABLE_STREAM_TRAIN_LEAST ? RELIABLE_STREAM_TRAIN_LEAST : (uint32_t)most;
}

/* What it takes to open a stream, 0.3 ms on either side, is lost on a peer that gets little. */
static bool is_worth_it(const struct reliable_endpoint *r, struct reliable_peer *peer, size_t bytes)
{
    peer->bulk_kib += (uint32_t)(bytes >> 10);
    return peer->bulk_kib >= r->streams.after >> 10;
}

static void out_ask(const struct reliable_endpoint *r, struct reliable_stream *s, uint64_t now)
{
    if (reliable_engine_note(r->engine, now, s->rank, RELIABLE_NOTE_ASK, NULL, 0) == 0)
        s->out.state = RELIABLE_STREAM_ASKED;
}

void reliable_stream_cork(struct reliable_endpoint *r, uint64_t now, uint16_t channel, size_t bytes)
{
    struct reliable_stream *s = r->peer[channel].stream;

    if (r->ni.ep.channel[channel].state != UNET_OPEN)
        return;
    if (!s || s->out.state == RELIABLE_STREAM_NONE) {
        s = is_worth_it(r, &r->peer[channel], bytes) ? reliable_stream_of(r, channel) : NULL;
        if (s)
            out_ask(r, s, now);
        return;
    }
    if (s->out.state != RELIABLE_STREAM_OPEN)
        return;
    r->streams.corked = s;
    r->streams.train = train_of(s, bytes);
}

int reliable_stream_tell(struct reliable_endpoint *r, uint64_t now, uint16_t channel)
{
    struct reliable_stream *s = r->peer[channel].stream;
    int rc;

    if (!s || s->out.noted == s->out.episodes)
        return 0;
    rc = reliable_engine_note(r->engine, now, s->rank, RELIABLE_NOTE_EPISODE, &s->out.episodes,
                              sizeof(s->out.episodes));
    if (rc)
        return rc;
    s->out.noted = s->out.episodes;
    r->streams.owed--;
    return 0;
}

/* Whoever does not look at the stream is made to, while the records are on their way. */
static void episode_begin(struct reliable_endpoint *r, struct reliable_stream *s)
{
    const uint64_t now = unet_now_us();
    const struct reliable_start start = {.episode = s->out.episodes + 1,
                                         .after = reliable_engine_accepted(r->engine, s->rank)};
    const struct iovec iov = {(void *)&start, sizeof(start)};

    out_add(r, s, (struct reliable_record){.length = sizeof(start), .flags = RELIABLE_RECORD_START},
            &iov, 1);
    r->streams.owed += s->out.noted == s->out.episodes;
    if (s->out.episodes++ % DISCARD_EVERY == 0)
        reliable_stream_discard(s);
    r->streams.begun = true;
    r->streams.work = true;
    if (now > s->out.hot_until)
        reliable_stream_tell(r, now, s->channel);
}

static void episode_flush(struct reliable_endpoint *r, struct reliable_stream *s)
{
    if (s->out.end - s->out.first < r->streams.train)
        return;
    reliable_stream_flush(r, s);
    if (s->out.noted == s->out.episodes) /* the note is queued: it goes now */
        reliable_output_send(r, unet_now_us());
}

int reliable_stream_send(struct reliable_endpoint *r, uint32_t user, const struct iovec *iov,
                         uint32_t count)
{
    struct reliable_stream *s = r->streams.corked;
    size_t length = 0;

    for (uint32_t i = 0; i < count; i++)
        length += iov[i].iov_len;
    if (length > RELIABLE_STREAM_MOST)
        return -EMSGSIZE;
    if (!out_make_room(r, s, record_bytes(length)))
        return -EAGAIN;
    if (!r->streams.begun)
        episode_begin(r, s);
    out_add(r, s, (struct reliable_record){.user = user, .length = (uint16_t)length}, iov, count);
    r->streams.messages_out++;
    episode_flush(r, s);
    return 0;
}

void reliable_stream_uncork(struct reliable_endpoint *r, uint64_t now)
{
    struct reliable_stream *s = r->streams.corked;

    r->streams.corked = NULL;
    if (!s || !r->streams.begun)
        return;
    r->streams.begun = false;
    out_add(r, s, (struct reliable_record){.flags = RELIABLE_RECORD_END}, NULL, 0);
    reliable_stream_flush(r, s);
    r->packets_wait |= s->out.noted == s->out.episodes; /* the note may still be queued */
    s->out.hot_until = now + RELIABLE_STREAM_HOT_US;
    s->sent = now;
}

int reliable_stream_give_way(struct reliable_endpoint *r, uint64_t now, uint16_t channel)
{
    if (r->streams.begun && r->streams.corked->channel == channel)
        reliable_stream_uncork(r, now);
    return reliable_stream_tell(r, now, channel);
}
