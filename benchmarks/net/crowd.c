/* SPDX-License-Identifier: BSD-3-Clause
 *
 * crowd.c - ours: a poll in vain of a reliable endpoint over udp with many peers, and with one.
 *
 * The peers never answer, which is all the same to a poll.
 */
#include "net.h"

#include <errno.h>
#include <reliable/reliable.h>
#include <string.h>

enum { PEERS = 1000, SILENCE_MS = 600000, SETTLES_MS = 500 };

static struct unet_endpoint *crowd, *pair;

static struct unet_endpoint *open_with(uint32_t peers)
{
    const struct reliable_config config = {
        .ranks = peers + 1, .key = {1, 2}, .peer_timeout_ms = SILENCE_MS};
    const struct unet_config sizes = {.polled = true};
    struct unet_config below = {.polled = true};
    struct unet_endpoint *lower, *opened;
    struct unet_address address;
    uint16_t channel;

    reliable_lower_config(peers + 1, &below);
    need(unet_open(unet_backend("udp"), &below, &lower), "udp");
    need(reliable_open(lower, &config, &sizes, &opened), "reliable");
    for (uint32_t rank = 1; rank <= peers; rank++) {
        unet_address(lower, &address);
        need(reliable_address(&address, rank, &address), "address");
        need(unet_connect(opened, &address, TAG + rank, &channel), "connect");
    }
    return opened;
}

static double polls(struct unet_endpoint *of, long n)
{
    const double start = now_ns();

    for (long i = 0; i < n; i++) {
        unet_progress(of);
        if (unet_rx_peek(of))
            need(-EPROTO, "a message of nobody");
    }
    return now_ns() - start;
}

/* Peers that do not answer are asked again and again, the less often the longer that lasts. */
static void settle(void)
{
    const double start = now_ns();

    while (now_ns() - start < SETTLES_MS * 1e6)
        polls(crowd, 1);
}

static double crowd_polls(long n)
{
    return polls(crowd, n);
}

static double pair_polls(long n)
{
    return polls(pair, n);
}

void measure_crowd(const struct team *team, int count, char **none)
{
    (void)count, (void)none;
    setenv("UNET_INTERFACE", "127.0.0.1", 1);
    crowd = open_with(PEERS);
    pair = open_with(1);
    settle();
    measure(team, "poll", 1, crowd_polls, pair_polls);
}
