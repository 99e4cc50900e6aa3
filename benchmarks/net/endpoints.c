/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoints.c - ours: U-Net endpoints with nothing above them.
 *
 * What a network loses does not come back here, so the program ends if an answer does not come.
 */
#include "net.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

enum {
    BUFFERS = 64,
    BUFFER = UNET_MESSAGE_MAX,
    GROUP = 16,      /* messages of a stream between two answers; two groups are on their way */
    LOOKS = 1 << 12, /* in vain, before one at the clock */
};

struct unet_endpoint *ep;
struct unet_address endpoint_address[2];
static uint16_t channel;

void need(int error, const char *what)
{
    if (error >= 0)
        return;
    errno = -error;
    die(what);
}

/* ---- opening ------------------------------------------------------------------------------ */

void open_endpoint(const char *on, const struct unet_config *config)
{
    uint8_t mine[BLOB] = {0}, theirs[BLOB];

    need(unet_open(unet_backend(on), config, &ep), on);
    unet_address(ep, &endpoint_address[side]);
    _Static_assert(sizeof endpoint_address[0] <= BLOB, "addresses are told in blobs");
    memcpy(mine, &endpoint_address[side], sizeof endpoint_address[side]);
    exchange(mine, theirs);
    memcpy(&endpoint_address[!side], theirs, sizeof endpoint_address[!side]);
}

static void connect_endpoint(void)
{
    need(unet_connect(ep, &endpoint_address[!side], TAG, &channel), "connect");
    while (unet_channel_state(ep, channel) == UNET_CONNECTING)
        sched_yield();
    for (arrive(); !both_are_here();)
        unet_progress(ep); /* the other may need our answer */
}

static void close_endpoint(void)
{
    meet();
    unet_close(ep);
}

/* ---- messages ----------------------------------------------------------------------------- */

/* The bytes are always the same, so nobody has to wait until they may be reused. */
static int try_to_send(size_t bytes)
{
    const struct unet_piece piece = {BUFFERS * BUFFER, (uint32_t)bytes};

    if (bytes <= UNET_INLINE_MAX)
        return unet_send_inline(ep, channel, 0, landing, (uint32_t)bytes);
    return unet_send(ep, channel, 0, &piece, 1, NULL);
}

static void send_message(size_t bytes)
{
    int error;

    while ((error = try_to_send(bytes)) == -EAGAIN)
        unet_progress(ep);
    need(error, "send");
}

/* Asleep; unet_wait returns early when a channel opened. */
static const struct unet_desc *sleep_for_message(void)
{
    const double start = now_ns();
    const struct unet_desc *desc;

    while (!(desc = unet_rx_peek(ep))) {
        need(unet_wait(ep, PATIENCE_S * 1000), "wait");
        if (now_ns() - start > PATIENCE_S * 1e9)
            need(-ETIMEDOUT, "no answer");
    }
    return desc;
}

static const struct unet_desc *poll_for_message(void)
{
    const struct unet_desc *desc;
    double start = 0;

    for (long looks = 1; !(desc = unet_rx_peek(ep)); looks++) {
        unet_progress(ep);
        if (looks % LOOKS != 0)
            continue;
        if (start == 0)
            start = now_ns();
        else if (now_ns() - start > PATIENCE_S * 1e9)
            need(-ETIMEDOUT, "no answer");
    }
    return desc;
}

static const struct unet_desc *await_message(void)
{
    const struct unet_desc *desc = ep->config.polled ? poll_for_message() : sleep_for_message();

    if (desc->kind == UNET_ERROR)
        need(-(int)desc->error, "message");
    return desc;
}

static void take_message(void)
{
    const struct unet_desc *desc = await_message();

    for (unsigned i = 0; desc->kind == UNET_PIECES && i < desc->pieces; i++)
        need(unet_free_put(ep, desc->piece[i].offset / BUFFER * BUFFER, BUFFER), "buffer");
    unet_rx_release(ep);
}

static void send_one(void)
{
    send_message(message_bytes);
}

static double round_trips(long n)
{
    return time_round_trips(n, send_one, take_message);
}

/* A unit is a group. */
static double stream(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long group = 0; group < n; group++) {
        for (int i = 0; i < GROUP; i++)
            side == 0 ? send_message(message_bytes) : take_message();
        if (side == 1)
            send_message(0);
        else if (group > 0)
            take_message();
    }
    if (side == 0)
        take_message();
    return now_ns() - start;
}

/* ---- measuring ---------------------------------------------------------------------------- */

/* As the active messages above have it. */
void measure_endpoint(const struct team *team, const char *on)
{
    const struct unet_config config = {.polled = true};

    open_endpoint(on, &config);
    connect_endpoint();
    message_bytes = WORDS * 8;
    measure(team, "raw.endpoint_round_trip", 1, round_trips, NULL);
    close_endpoint();
}

static void measure_way(const struct team *team, const char *on, bool polled, const char *metric)
{
    const struct unet_config config = {.polled = polled};

    open_endpoint(on, &config);
    connect_endpoint();
    message_bytes = WORDS * 8;
    measure(team, metric, 1, round_trips, NULL);
    close_endpoint();
}

void measure_eth_endpoint(const struct team *team, int count, char **sizes)
{
    (void)count, (void)sizes;
    setenv("UNET_INTERFACE", interface, 1);
    measure_way(team, "eth", true, "polled");
    measure_way(team, "eth", false, "blocked");
}

/* Each side has a service of its own, at FOLDER/SIDE. */
void measure_ni_endpoint(const struct team *team, int count, char **folder)
{
    char path[256];

    if (count != 1)
        need(-EINVAL, "ni_endpoint wants the folder of the services' sockets");
    snprintf(path, sizeof path, "%s/%d", folder[0], side);
    setenv("UNET_NI_SOCKET", path, 1);
    measure_way(team, "ni", true, "polled");
    measure_way(team, "ni", false, "blocked");
}

/* A message has to fit into a packet. */
static int those_that_fit(int count, char **sizes)
{
    int fitting = 0;

    while (fitting < count && strtoul(sizes[fitting], NULL, 10) <= ep->packet_bytes &&
           strtoul(sizes[fitting], NULL, 10) <= BUFFER)
        fitting++;
    return fitting;
}

void measure_endpoint_sizes(const struct team *team, const char *on, int count, char **sizes)
{
    const struct unet_config config = {.segment_bytes = (BUFFERS + 1) * BUFFER, .polled = true};

    open_endpoint(on, &config);
    memset(ep->segment, 1, config.segment_bytes);
    for (uint32_t i = 0; i < BUFFERS; i++)
        need(unet_free_put(ep, i * BUFFER, BUFFER), "buffer");
    connect_endpoint();
    count = those_that_fit(count, sizes);
    measure_sizes(team, "unet_round_trip", 1, round_trips, count, sizes);
    measure_sizes(team, "unet_stream", GROUP, stream, count, sizes);
    close_endpoint();
}
