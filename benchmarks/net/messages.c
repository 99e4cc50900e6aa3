/* SPDX-License-Identifier: BSD-3-Clause
 *
 * messages.c - ours: U-Net endpoints, and active messages over them.
 */
#include "net.h"

#include <errno.h>
#include <gam/gam.h>
#include <sched.h>
#include <string.h>
#include <unet/unet.h>

enum { TAG = 7, STORES = 16 /* on their way at once */ };
enum { PING = 1, PONG, COUNT, LAST };

static struct unet_endpoint *ep;
static struct gam *g;
static uint16_t channel;
static struct unet_address address[2];
static uint64_t pongs;

static void need(int error, const char *what)
{
    if (error >= 0)
        return;
    errno = -error;
    die(what);
}

/* ---- endpoints alone --------------------------------------------------------------------- */

static void send_words(void)
{
    static const uint64_t words[WORDS];

    need(unet_send_inline(ep, channel, 0, words, sizeof words), "send");
}

static void receive_words(void)
{
    double start = now_ns();

    while (!unet_rx_peek(ep)) {
        unet_progress(ep);
        if (now_ns() - start > PATIENCE_S * 1e9)
            need(-ETIMEDOUT, "no answer");
    }
    unet_rx_release(ep);
}

static double endpoint_round_trips(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        if (side == 0)
            send_words();
        receive_words();
        if (side == 1)
            send_words();
    }
    return now_ns() - start;
}

static void open_endpoint(const char *backend)
{
    struct unet_config config = {.polled = true};
    uint8_t mine[BLOB] = {0};

    gam_endpoint_config(2, 0, &config);
    need(unet_open(unet_backend(backend), &config, &ep), backend);
    unet_address(ep, &address[side]);
    _Static_assert(sizeof address[0] <= BLOB, "addresses are told in blobs");
    memcpy(mine, &address[side], sizeof address[side]);
    uint8_t theirs[BLOB];
    exchange(mine, theirs);
    memcpy(&address[!side], theirs, sizeof address[!side]);
}

static void measure_endpoint(const struct team *team, const char *backend)
{
    open_endpoint(backend);
    need(unet_connect(ep, &address[!side], TAG, &channel), "connect");
    while (unet_channel_state(ep, channel) == UNET_CONNECTING)
        sched_yield();
    for (arrive(); !both_are_here();)
        unet_progress(ep); /* the other may need our answer */
    measure(team, "raw.endpoint_round_trip", 1, endpoint_round_trips, NULL);
    meet();
    unet_close(ep);
}

/* ---- active messages ------------------------------------------------------------------------ */

static void on_ping(struct gam *mine, const struct gam_message *m)
{
    gam_reply_4(mine, PONG, m->word[0], 0, 0, 0);
}

static void on_pong(struct gam *mine, const struct gam_message *m)
{
    (void)mine;
    (void)m;
    pongs++;
}

static void on_count(struct gam *mine, const struct gam_message *m)
{
    (void)mine;
    (void)m;
}

static bool ended;

static void on_last(struct gam *mine, const struct gam_message *m)
{
    (void)m;
    ended = true;
    gam_reply_0(mine, PONG);
}

/* The other may need what we still have to send or to acknowledge. */
static void part(void)
{
    for (arrive(); !both_are_here();)
        gam_poll(g);
}

/* The side that answers polls until the batch has ended. */
static double serve(void)
{
    for (ended = false; !ended;)
        gam_poll(g);
    part();
    return 0;
}

static void await_pong(uint64_t count)
{
    while (pongs < count)
        gam_poll(g);
}

/* Returns when the other side has handled all. */
static double end_batch(double start)
{
    need(gam_request_0(g, 1, LAST), "request");
    await_pong(pongs + 1);
    start = now_ns() - start;
    part();
    return start;
}

static double round_trips(long n)
{
    double start;

    meet();
    start = now_ns();
    if (side == 1)
        return serve();
    for (long i = 0; i < n; i++) {
        need(gam_request_4(g, 1, PING, (uint64_t)i, 0, 0, 0), "request");
        await_pong(pongs + 1);
    }
    return end_batch(start);
}

static double one_way(long n)
{
    double start;

    meet();
    start = now_ns();
    if (side == 1)
        return serve();
    for (long i = 0; i < n * BURST; i++)
        need(gam_request_4(g, 1, COUNT, 0, 0, 0, 0), "request");
    return end_batch(start);
}

static double stream(long n)
{
    double start;

    meet();
    start = now_ns();
    if (side == 1)
        return serve();
    for (long i = 0; i < n; i++) {
        need(gam_store_async(g, 1, landing, landing, stream_bytes, 0, 0, NULL, NULL), "store");
        while (gam_pending(g) >= STORES)
            gam_poll(g);
    }
    while (gam_pending(g) > 0)
        gam_poll(g);
    return end_batch(start);
}

static int resolve(void *arg, uint32_t rank, struct unet_address *to)
{
    (void)arg;
    *to = address[rank];
    return 0;
}

static void open_messages(const char *backend)
{
    const struct gam_config config = {
        .ranks = 2, .rank = (uint32_t)side, .resolve = resolve, .key = {TAG, TAG}};

    open_endpoint(backend);
    need(gam_open(ep, &config, &g), "gam_open");
    need(gam_register(g, PING, on_ping), "register");
    need(gam_register(g, PONG, on_pong), "register");
    need(gam_register(g, COUNT, on_count), "register");
    need(gam_register(g, LAST, on_last), "register");
    meet();
}

static void close_messages(void)
{
    meet();
    gam_close(g);
    unet_close(ep);
}

static void measure_all(const struct team *team, const char *backend, int count, char **sizes)
{
    measure_endpoint(team, backend);
    open_messages(backend);
    measure(team, "am_round_trip", 1, round_trips, NULL);
    measure(team, "am_one_way", BURST, one_way, NULL);
    measure_streams(team, "stream", stream, count, sizes);
    close_messages();
}

void measure_our_udp(const struct team *team, int count, char **sizes)
{
    setenv("UNET_UDP_ADDRESS", interface, 1);
    measure_all(team, "udp", count, sizes);
}

void measure_our_udp_streams(const struct team *team, int count, char **sizes)
{
    setenv("UNET_UDP_ADDRESS", interface, 1);
    open_messages("udp");
    measure_streams(team, "stream", stream, count, sizes);
    close_messages();
}

void measure_our_eth(const struct team *team, int count, char **sizes)
{
    setenv("UNET_ETH_INTERFACE", interface, 1);
    measure_all(team, "eth", count, sizes);
}
