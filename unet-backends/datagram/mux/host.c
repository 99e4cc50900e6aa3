/* SPDX-License-Identifier: BSD-3-Clause
 *
 * host.c - the real endpoint, its peers, and frames to and from it.
 */
#include "datagram/mux/mux.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SENDS = 32,
    RECEIVES = 96,
    BUFFER_BYTES = 16384, /* of each: the longest frame */
    CHANNELS = 128,       /* processes that may be reached */
    INBOX_MOST = 256,     /* frames that wait for one endpoint */
    TAG = 0x756e6574,     /* of real channels: secrets are the emulated ones' */
    PORTS = 65535,
};

struct send_buffer {
    uint32_t ticket;
    bool busy;
};

/* One for each process. */
static struct mux_host {
    pthread_mutex_t lock;
    struct unet_endpoint *real;
    struct mux_endpoint *endpoints;
    struct unet_address peer[CHANNELS + 1]; /* by real channel; of no length: none */
    struct send_buffer buffer[SENDS];
    uint32_t next_buffer;
    uint16_t last_port;
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* In a child process: the parent's real endpoint is not the child's to use. */
static void forget_parent(void)
{
    host = (struct mux_host){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_parent);
}

/* ---- opening and closing ---------------------------------------------------------------- */

static int host_open(void)
{
    static const struct unet_config config = {
        .segment_bytes = (SENDS + RECEIVES) * BUFFER_BYTES,
        .send_slots = 64,
        .recv_slots = 128,
        .free_slots = 128,
        .channels = CHANNELS,
    };
    const char *name = getenv("UNET_MUX_BACKEND");
    const struct unet_ops *backend = unet_backend(name ? name : "fe");
    int error;

    if (!backend || backend == &unet_mux_ops || !backend->network)
        return -EINVAL;
    error = unet_open(backend, &config, &host.real);
    for (uint32_t i = SENDS; error == 0 && i < SENDS + RECEIVES; i++)
        error = unet_free_put(host.real, i * BUFFER_BYTES, BUFFER_BYTES);
    return error;
}

static void host_close(void)
{
    unet_close(host.real);
    host.real = NULL;
    memset(host.peer, 0, sizeof host.peer);
    memset(host.buffer, 0, sizeof host.buffer);
}

static struct mux_endpoint *host_find_port(uint16_t port)
{
    struct mux_endpoint *me = host.endpoints;

    while (me && me->de.port != port)
        me = me->next;
    return me;
}

static int take_port(struct mux_endpoint *me)
{
    for (uint32_t i = 0; i < PORTS; i++) {
        if (++host.last_port == 0 || host_find_port(host.last_port))
            continue;
        me->de.port = host.last_port;
        return 0;
    }
    return -EADDRINUSE;
}

static int join_locked(struct mux_endpoint *me)
{
    int error = host.real ? 0 : host_open();

    if (error == 0)
        error = take_port(me);
    if (error == 0) {
        me->next = host.endpoints;
        host.endpoints = me;
    } else if (!host.endpoints) {
        host_close();
    }
    return error;
}

int unet_mux_join(struct mux_endpoint *me)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int error;

    pthread_once(&once, watch_forks);
    me->inbox_end = &me->inbox;
    pthread_mutex_lock(&host.lock);
    error = join_locked(me);
    pthread_mutex_unlock(&host.lock);
    return error;
}

void unet_mux_leave(struct mux_endpoint *me)
{
    struct mux_endpoint **at = &host.endpoints;

    pthread_mutex_lock(&host.lock);
    while (*at && *at != me)
        at = &(*at)->next;
    if (*at)
        *at = me->next;
    if (!host.endpoints && host.real)
        host_close();
    pthread_mutex_unlock(&host.lock);
    while (me->inbox) {
        struct mux_frame *frame = me->inbox;

        me->inbox = frame->next;
        free(frame);
    }
}

/* ---- the real endpoint -------------------------------------------------------------------- */

uint32_t unet_mux_message_most(void)
{
    return host.real->packet_bytes < BUFFER_BYTES ? host.real->packet_bytes : BUFFER_BYTES;
}

int unet_mux_fd(void)
{
    return unet_fd(host.real);
}

uint16_t unet_mux_address(uint8_t bytes[MUX_REAL_MOST])
{
    struct unet_address address;

    unet_address(host.real, &address);
    if (address.length > MUX_REAL_MOST)
        return 0;
    memcpy(bytes, address.bytes, address.length);
    return (uint16_t)address.length;
}

/* ---- peers ------------------------------------------------------------ */

static bool is_same(const struct unet_address *a, const struct unet_address *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static bool is_dead(uint32_t channel)
{
    return host.real->channel[channel].state == UNET_DEAD;
}

static uint32_t host_known_peer(const struct unet_address *address)
{
    for (uint32_t n = 1; n <= CHANNELS; n++)
        if (host.peer[n].length > 0 && is_same(&host.peer[n], address) && !is_dead(n))
            return n;
    return 0;
}

static void host_forget_dead(void)
{
    for (uint32_t n = 1; n <= CHANNELS; n++) {
        if (host.peer[n].length == 0 || !is_dead(n))
            continue;
        unet_disconnect(host.real, (uint16_t)n);
        host.peer[n].length = 0;
    }
}

static int host_connect_peer(const struct unet_address *address, uint32_t *channel)
{
    uint16_t n;
    int error = unet_connect(host.real, address, TAG, &n);

    if (error == -ENOSPC || error == -EEXIST) {
        host_forget_dead();
        error = unet_connect(host.real, address, TAG, &n);
    }
    if (error)
        return error;
    host.peer[n] = *address;
    *channel = n;
    return 0;
}

static int channel_locked(const struct unet_address *address, uint32_t *channel)
{
    struct unet_address own;

    unet_address(host.real, &own);
    *channel = 0;
    if (is_same(&own, address))
        return 0;
    *channel = host_known_peer(address);
    return *channel ? 0 : host_connect_peer(address, channel);
}

int unet_mux_channel(const struct mux_address *wanted, uint32_t *channel)
{
    struct unet_address address = {.length = wanted->length};
    int error;

    memcpy(address.bytes, wanted->real, wanted->length);
    pthread_mutex_lock(&host.lock);
    error = channel_locked(&address, channel);
    pthread_mutex_unlock(&host.lock);
    return error;
}

bool unet_mux_is_there(uint32_t channel, uint16_t port)
{
    bool there;

    pthread_mutex_lock(&host.lock);
    if (channel == 0)
        there = host_find_port(port) != NULL;
    else
        there = unet_channel_state(host.real, (uint16_t)channel) != UNET_DEAD;
    pthread_mutex_unlock(&host.lock);
    return there;
}

/* ---- inboxes ------------------------------------------------------------ */

static void inbox_ring(const struct mux_endpoint *me)
{
    const uint64_t one = 1;

    if (write(me->bell, &one, sizeof one) < 0)
        return; /* it is rung already */
}

/* A frame of `length` bytes for the endpoint, whose bytes the caller fills in, or NULL. */
static uint8_t *inbox_put(struct mux_endpoint *me, uint32_t from, size_t length)
{
    struct mux_frame *frame = NULL;

    if (me->waiting < INBOX_MOST)
        frame = malloc(sizeof *frame + length);
    if (!frame) {
        me->dropped++;
        return NULL;
    }
    *frame = (struct mux_frame){.from = from, .length = (uint32_t)length};
    *me->inbox_end = frame;
    me->inbox_end = &frame->next;
    if (me->waiting++ == 0)
        inbox_ring(me);
    return frame->bytes;
}

static void iov_gather(uint8_t *to, const struct iovec *iov, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (iov[i].iov_len > 0)
            memcpy(to, iov[i].iov_base, iov[i].iov_len);
        to += iov[i].iov_len;
    }
}

/* ---- sending ------------------------------------------------------------ */

static bool send_inline(uint32_t channel, const struct iovec *iov, size_t count, size_t length)
{
    uint8_t bytes[UNET_INLINE_MAX];

    iov_gather(bytes, iov, count);
    return unet_send_inline(host.real, (uint16_t)channel, 0, bytes, (uint32_t)length) != -EAGAIN;
}

static bool send_buffered(uint32_t channel, const struct iovec *iov, size_t count, size_t length)
{
    struct send_buffer *buffer = &host.buffer[host.next_buffer];
    const struct unet_piece piece = {host.next_buffer * BUFFER_BYTES, (uint32_t)length};
    int error;

    if (buffer->busy && !unet_sent(host.real, buffer->ticket))
        return false;
    iov_gather(host.real->segment + piece.offset, iov, count);
    error = unet_send(host.real, (uint16_t)channel, 0, &piece, 1, &buffer->ticket);
    buffer->busy = error == 0;
    if (error == 0)
        host.next_buffer = (host.next_buffer + 1) % SENDS;
    return error != -EAGAIN;
}

/* The first of the pieces is the frame's header. */
static bool send_here(const struct iovec *iov, size_t count, size_t length)
{
    struct unet_frame header;
    struct mux_endpoint *to;
    uint8_t *bytes;

    memcpy(&header, iov[0].iov_base, sizeof header);
    to = host_find_port(header.to_port);
    bytes = to ? inbox_put(to, 0, length) : NULL;
    if (bytes)
        iov_gather(bytes, iov, count);
    return true;
}

/* Frames for a channel that is not open are lost, as on any network. */
static bool send_locked(uint32_t channel, const struct iovec *iov, size_t count, size_t length)
{
    if (channel == 0)
        return send_here(iov, count, length);
    unet_progress(host.real);
    if (host.real->channel[channel].state != UNET_OPEN)
        return true;
    if (length <= UNET_INLINE_MAX)
        return send_inline(channel, iov, count, length);
    return send_buffered(channel, iov, count, length);
}

bool unet_mux_send(uint32_t channel, const struct iovec *iov, size_t count, size_t length)
{
    bool done;

    pthread_mutex_lock(&host.lock);
    done = send_locked(channel, iov, count, length);
    pthread_mutex_unlock(&host.lock);
    return done;
}

/* ---- receiving ------------------------------------------------------------ */

/* Nobody has that port any more. */
static void answer_for_nobody(uint32_t channel, const struct unet_frame *question)
{
    const struct unet_frame answer = unet_datagram_gone_frame(question);
    const struct iovec iov = {(void *)&answer, sizeof answer};

    if (question->kind == UNET_FRAME_ALIVE)
        send_locked(channel, &iov, 1, sizeof answer);
}

static void host_sort_frame(uint32_t channel, const uint8_t *bytes, size_t length)
{
    struct unet_frame header;
    struct mux_endpoint *to;
    uint8_t *place;

    if (length < sizeof header) {
        host.real->stats.malformed++;
        return;
    }
    memcpy(&header, bytes, sizeof header);
    to = host_find_port(header.to_port);
    if (!to) {
        answer_for_nobody(channel, &header);
        return;
    }
    place = inbox_put(to, channel, length);
    if (place)
        memcpy(place, bytes, length);
}

static void host_take_message(const struct unet_desc *peeked)
{
    const struct unet_desc desc = *peeked;

    unet_rx_release(host.real);
    if (desc.kind == UNET_INLINE)
        host_sort_frame(desc.channel, desc.data, desc.length);
    if (desc.kind != UNET_PIECES)
        return;
    if (desc.pieces == 1)
        host_sort_frame(desc.channel, host.real->segment + desc.piece[0].offset, desc.length);
    for (uint32_t i = 0; i < desc.pieces; i++)
        unet_free_put(host.real, desc.piece[i].offset, BUFFER_BYTES);
}

/* Arm the real endpoint, on which every sleeper of the process relies.  False: it was armed
 * already. */
static bool host_arm(void)
{
    if (__atomic_load_n(host.real->armed, __ATOMIC_ACQUIRE) != 0)
        return false;
    if (host.real->bell[0] >= 0)
        unet_bell_drain(host.real->bell[0]);
    unet_bell_arm(host.real, UNET_NONEMPTY);
    return true;
}

static void host_take_in(void)
{
    const struct unet_desc *desc;

    do {
        unet_progress(host.real);
        while ((desc = unet_rx_peek(host.real)) != NULL)
            host_take_message(desc);
    } while (host_arm());
}

static struct mux_frame *inbox_empty(struct mux_endpoint *me, uint64_t *dropped)
{
    struct mux_frame *frames = me->inbox;
    uint64_t rung;

    if (frames && read(me->bell, &rung, sizeof rung) < 0)
        rung = 0; /* it is not rung, then */
    me->inbox = NULL;
    me->inbox_end = &me->inbox;
    me->waiting = 0;
    *dropped += me->dropped;
    me->dropped = 0;
    return frames;
}

struct mux_frame *unet_mux_take(struct mux_endpoint *me, uint64_t *dropped)
{
    struct mux_frame *frames;

    pthread_mutex_lock(&host.lock);
    host_take_in();
    frames = inbox_empty(me, dropped);
    pthread_mutex_unlock(&host.lock);
    return frames;
}
