/* SPDX-License-Identifier: BSD-3-Clause
 *
 * messages.c - ours: active messages.
 */
#include "net.h"

#include <errno.h>
#include <gam/gam.h>
#include <reliable/reliable.h>
#include <string.h>

enum {
    STORES = 16,         /* on their way at once */
    FEW = 16,            /* messages for which no sender has to wait */
    PLACE = LONGEST / 2, /* in `landing`: where puts land, behind what is put */
};
enum { PING = 1, PONG, COUNT, LAST, LANDED, PUT };

static struct gam *g;
static uint64_t pongs, counted, landed;

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
    counted++;
}

static void on_landed(struct gam *mine, const struct gam_message *m)
{
    (void)mine;
    (void)m;
    landed++;
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
        need(gam_store_async(g, 1, landing, landing, message_bytes, 0, 0, NULL, NULL), "store");
        while (gam_pending(g) >= STORES)
            gam_poll(g);
    }
    while (gam_pending(g) > 0)
        gam_poll(g);
    return end_batch(start);
}

static void store(void)
{
    need(gam_store(g, (uint32_t)!side, landing, landing, message_bytes, LANDED, 0), "store");
}

static double store_round_trips(long n)
{
    double ns;

    meet();
    landed = 0;
    ns = now_ns();
    for (long i = 1; i <= n; i++) {
        if (side == 0)
            store();
        while (landed < (uint64_t)i)
            gam_poll(g);
        if (side == 1)
            store();
    }
    ns = now_ns() - ns;
    part();
    return ns;
}

/* ---- puts that are complete ------------------------------------------------------------------ */

static void on_put(struct gam *mine, const struct gam_message *m)
{
    gam_reply_1(mine, PONG, m->word[0]);
}

/* As Split-C's bulk_put and a sync behind it. */
static void put(void)
{
    need(gam_store_async(g, (uint32_t)!side, landing, landing + PLACE, message_bytes, PUT, 0, NULL,
                         NULL),
         "put");
    await_pong(pongs + 1);
}

static double puts_one_way(long n)
{
    double ns;

    meet();
    ns = now_ns();
    for (long i = 0; side == 0 && i < n; i++)
        put();
    ns = now_ns() - ns;
    part();
    return ns;
}

/* Both put at once, until all is complete on both sides. */
static double puts_both_ways(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++)
        put();
    part();
    return now_ns() - start;
}

static uint8_t byte_of(int whose, size_t i)
{
    return (uint8_t)(i * 37 + (i >> 8) + (size_t)whose * 101);
}

static void fill_with_own(void)
{
    for (size_t i = 0; i < PLACE; i++)
        landing[i] = byte_of(side, i);
    memset(landing + PLACE, 0, PLACE);
    meet();
}

static void expect_those_of_other(void)
{
    for (size_t i = 0; i < message_bytes; i++)
        need(landing[PLACE + i] == byte_of(!side, i) ? 0 : -EBADMSG, "bytes of a put");
}

/* ---- overheads ---------------------------------------------------------------------------- */

static void send_few(void)
{
    for (int i = 0; i < FEW; i++)
        need(gam_request_4(g, 1, COUNT, 0, 0, 0, 0), "request");
}

/* What it takes the sender to send a few. */
static double send_overheads(long n)
{
    double ns = 0;

    for (long i = 0; i < n; i++) {
        meet();
        if (side == 1) {
            serve();
            continue;
        }
        ns -= now_ns();
        send_few();
        ns += now_ns();
        end_batch(0);
    }
    return ns;
}

/* What it takes the receiver to handle a few that are there. */
static double receive_overheads(long n)
{
    double mine[BLOB / sizeof(double)] = {0}, theirs[BLOB / sizeof(double)];

    for (long i = 0; i < n; i++) {
        counted = 0;
        meet();
        if (side == 0) {
            send_few();
            gam_poll(g);
        }
        meet();
        if (side == 1) {
            mine[0] -= now_ns();
            while (counted < FEW)
                gam_poll(g);
            mine[0] += now_ns();
        }
        part();
    }
    exchange(mine, theirs);
    return theirs[0];
}

static bool by_protocol;

static int resolve(void *arg, uint32_t rank, struct unet_address *to)
{
    (void)arg;
    if (by_protocol)
        return reliable_address(&endpoint_address[rank], rank, to);
    *to = endpoint_address[rank];
    return 0;
}

static enum reliable_auth auth; /* of packets and streams: of all of them, as a rule */

/* A network may lose messages, and gets a reliable endpoint in front. */
static void open_reliable(const char *backend)
{
    const struct reliable_config config = {.ranks = 2,
                                           .rank = (uint32_t)side,
                                           .key = {TAG, TAG},
                                           .auth = auth,
                                           .stream_bytes = RELIABLE_STREAM_BYTES,
                                           .stream_after = RELIABLE_STREAM_AFTER};
    struct unet_config sizes = {.polled = true};

    reliable_lower_config(2, &sizes);
    open_endpoint(backend, &sizes);
    gam_network_config(2, 0, &sizes);
    need(reliable_open(ep, &config, &sizes, &ep), "reliable_open");
}

static void open_any(const char *backend)
{
    struct unet_config sizes = {.polled = true};

    by_protocol = unet_backend(backend)->network && !unet_backend(backend)->reliable;
    if (by_protocol) {
        open_reliable(backend);
        return;
    }
    (unet_backend(backend)->network ? gam_network_config : gam_endpoint_config)(2, 0, &sizes);
    open_endpoint(backend, &sizes);
}

static void open_messages(const char *backend)
{
    const struct gam_config config = {
        .ranks = 2, .rank = (uint32_t)side, .resolve = resolve, .key = {TAG, TAG}};

    open_any(backend);
    need(gam_open(ep, &config, &g), "gam_open");
    need(gam_register(g, PING, on_ping), "register");
    need(gam_register(g, PONG, on_pong), "register");
    need(gam_register(g, COUNT, on_count), "register");
    need(gam_register(g, LAST, on_last), "register");
    need(gam_register(g, LANDED, on_landed), "register");
    need(gam_register(g, PUT, on_put), "register");
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
    measure_sizes(team, "stream", 1, stream, count, sizes);
    close_messages();
}

static void measure_puts(const struct team *team, const char *backend, int count, char **sizes)
{
    open_messages(backend);
    for (; count > 0; count--, sizes++) {
        need(strtoul(*sizes, NULL, 10) <= PLACE ? 0 : -EINVAL, "size of a put");
        fill_with_own();
        measure_sizes(team, "put", 1, puts_one_way, 1, sizes);
        if (side == 1)
            expect_those_of_other();
        measure_sizes(team, "exchange", 1, puts_both_ways, 1, sizes);
        expect_those_of_other();
    }
    close_messages();
}

static void measure_layers(const struct team *team, const char *backend, int count, char **sizes)
{
    struct team brief = *team;

    brief.budget_ns /= 8; /* most of the time of such a batch is not measured */
    measure_endpoint_sizes(team, backend, count, sizes);
    open_messages(backend);
    measure(team, "am_round_trip", 1, round_trips, NULL);
    measure(team, "am_one_way", BURST, one_way, NULL);
    measure(&brief, "am_send_overhead", FEW, send_overheads, NULL);
    measure(&brief, "am_receive_overhead", FEW, receive_overheads, NULL);
    measure_sizes(team, "gam_round_trip", 1, store_round_trips, count, sizes);
    measure_sizes(team, "gam_stream", 1, stream, count, sizes);
    close_messages();
}

static void use_interface(void)
{
    setenv("UNET_INTERFACE", interface, 1);
}

void measure_our_udp(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_all(team, "udp", count, sizes);
}

void measure_our_udp_streams(const struct team *team, int count, char **sizes)
{
    use_interface();
    open_messages("udp");
    measure_sizes(team, "stream", 1, stream, count, sizes);
    close_messages();
}

void measure_our_udp_header(const struct team *team, int count, char **sizes)
{
    auth = RELIABLE_AUTH_HEADER;
    measure_our_udp_streams(team, count, sizes);
}

void measure_our_eth(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_all(team, "eth", count, sizes);
}

void measure_our_ofi(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_all(team, "ofi", count, sizes);
}

void measure_shm_sizes(const struct team *team, int count, char **sizes)
{
    measure_layers(team, "shm", count, sizes);
}

/* Over the switch that UNET_ATM_CARRIER names. */
void measure_our_atm_sizes(const struct team *team, int count, char **sizes)
{
    measure_layers(team, "atm", count, sizes);
}

/* By the service that UNET_NI_SOCKET, or the interface, names. */
void measure_our_ni_sizes(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_layers(team, "ni", count, sizes);
}

void measure_our_udp_sizes(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_layers(team, "udp", count, sizes);
}

void measure_our_eth_sizes(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_layers(team, "eth", count, sizes);
}

void measure_our_udp_puts(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_puts(team, "udp", count, sizes);
}

void measure_our_eth_puts(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_puts(team, "eth", count, sizes);
}

void measure_our_ofi_puts(const struct team *team, int count, char **sizes)
{
    use_interface();
    measure_puts(team, "ofi", count, sizes);
}
