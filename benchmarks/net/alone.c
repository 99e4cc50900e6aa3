/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alone.c - ours: round trips between two endpoints of one process, one in either network.
 *
 * So that a service can have the other core to itself where there are two.
 */
#include "net.h"

#include "../micro/network.h"

#include <errno.h>

enum { LOOKS = 1 << 12 }; /* in vain, before one at the clock */

static struct unet_endpoint *end[2];
static uint16_t channel[2];

static void open_ends(const char *on, const char *other)
{
    const char *const backend[2] = {on, other};
    const struct unet_config config = {.polled = true};
    struct unet_address address[2];

    setenv("UNET_INTERFACE", interface, 1);
    for (int i = 0; i < 2; i++) {
        enter_network(network[i]);
        need(unet_open(unet_backend(backend[i]), &config, &end[i]), backend[i]);
        unet_address(end[i], &address[i]);
    }
    for (int i = 0; i < 2; i++)
        need(unet_connect(end[i], &address[!i], TAG, &channel[i]), "connect");
}

static void progress(void)
{
    unet_progress(end[0]);
    unet_progress(end[1]);
}

static bool connected(int i)
{
    return unet_channel_state(end[i], channel[i]) == UNET_OPEN;
}

static void await_channels(void)
{
    const double start = now_ns();

    while (!connected(0) || !connected(1)) {
        progress();
        if (now_ns() - start > PATIENCE_S * 1e9)
            need(-ETIMEDOUT, "connect");
    }
}

static void pass(int from)
{
    struct unet_endpoint *to = end[!from];
    double start = 0;

    need(unet_send_inline(end[from], channel[from], 0, landing, WORDS * 8), "send");
    for (long looks = 1; !unet_rx_peek(to); looks++) {
        unet_progress(to);
        if (looks % LOOKS != 0)
            continue;
        if (start == 0)
            start = now_ns();
        else if (now_ns() - start > PATIENCE_S * 1e9)
            need(-ETIMEDOUT, "no message");
    }
    unet_rx_release(to);
}

static double round_trips(long n)
{
    const double start = now_ns();

    for (long i = 0; i < n; i++) {
        pass(0);
        pass(1);
    }
    return now_ns() - start;
}

static void measure_pair(const struct team *team, const char *on, const char *other)
{
    open_ends(on, other);
    await_channels();
    measure(team, "polled", 1, round_trips, NULL);
    unet_close(end[0]);
    unet_close(end[1]);
}

void measure_eth_alone(const struct team *team, int count, char **none)
{
    (void)count, (void)none;
    measure_pair(team, "eth", "eth");
}

void measure_ni_alone(const struct team *team, int count, char **folder)
{
    char path[256];

    if (count != 1)
        need(-EINVAL, "ni_alone wants the folder of the service's socket");
    snprintf(path, sizeof path, "%s/0", folder[0]);
    setenv("UNET_NI_SOCKET", path, 1);
    measure_pair(team, "ni", "eth");
}
