/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - opening and closing lane endpoints, progress, waiting.
 */
#include "shared_memory/shared_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Calls of progress between two looks for peers that are gone. */
#define LOOK_EVERY 1024u
/* While something waits that nobody rings for: a stuck send queue, a peer that might close
 * before it has opened its side. */
#define RETRY_MS 1
#define RETRY_CONNECTING_MS 50

/* ---- opening ------------------------------------------------------------------- */

static void *new_ring(uint32_t slots)
{
    uint64_t bytes = unet_ring_bytes(slots);
    void *memory = aligned_alloc(128, bytes);

    return memory ? memset(memory, 0, bytes) : NULL;
}

/* Both sides of a ring within this process. */
static int new_local_ring(struct unet_ring *producer, struct unet_ring *consumer, uint32_t slots)
{
    void *memory = new_ring(slots);

    if (!memory)
        return -ENOMEM;
    unet_ring_attach(producer, memory, slots);
    unet_ring_attach(consumer, memory, slots);
    return 0;
}

static int open_tables(struct lane_endpoint *le)
{
    struct unet_endpoint *ep = &le->ep;
    uint32_t n = ep->config.channels + 1;

    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    le->link = calloc(n, sizeof *le->link);
    if (!ep->channel || !ep->rx || !le->link)
        return -ENOMEM;
    if (new_local_ring(&ep->tx, &le->tx, ep->config.send_slots) ||
        new_local_ring(&le->errors, &ep->rx[0], ep->config.send_slots) ||
        new_local_ring(&le->full, &le->silent, 4))
        return -ENOMEM;
    le->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    ep->rx_rings = 1;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i].number = (uint16_t)i;
        ep->channel[i].ring = &le->full;
    }
    for (uint32_t i = 1; i < n; i++)
        ep->rx[i] = le->silent;
    return 0;
}

int unet_lane_watch(struct lane_endpoint *le, int fd, uint32_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};

    return epoll_ctl(le->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int open_bell(struct lane_endpoint *le)
{
    int error;

    le->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (le->epoll < 0)
        return -errno;
    if (le->ep.config.polled)
        return 0;
    error = unet_bell_open(le->ep.bell);
    if (error)
        return error;
    le->ep.fd = le->epoll;
    return unet_lane_watch(le, le->ep.bell[0], 0);
}

static int open_area(struct lane_endpoint *le)
{
    struct unet_endpoint *ep = &le->ep;
    uint64_t nonce[2];
    void *memory;
    int error;

    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        return -EIO;
    error = le->transport->create(le, nonce, unet_lane_area_bytes(&ep->config), &memory);
    if (error)
        return error;
    ep->fences_for_others = unet_fences_for_others();
    unet_lane_area_format(&le->own, memory, &ep->config, nonce, ep->fences_for_others);
    unet_ring_attach(&ep->free, le->own.free, ep->config.free_slots);
    ep->segment = le->own.segment;
    ep->armed = &le->own.header->armed;
    return 0;
}

/* Of an endpoint in any state of completion. */
static void release(struct lane_endpoint *le)
{
    struct unet_endpoint *ep = &le->ep;

    if (le->own.header)
        le->transport->destroy(le);
    else
        unet_bell_close(ep->bell);
    if (le->epoll >= 0)
        close(le->epoll);
    free(le->silent.shared);
    free(le->errors.shared);
    free(le->tx.shared);
    free(le->link);
    free(ep->rx);
    free(ep->channel);
    free(le);
}

int unet_lane_open(const struct unet_ops *ops, const struct lane_transport *transport,
                   uint32_t capabilities, const struct unet_config *config,
                   struct unet_endpoint **endpoint)
{
    struct lane_endpoint *le = aligned_alloc(64, sizeof *le);
    int error;

    if (!le)
        return -ENOMEM;
    *le = (struct lane_endpoint){
        .ep = {.ops = ops,
               .config = *config,
               .capabilities = capabilities,
               .packet_bytes = UNET_MESSAGE_MAX,
               .fd = -1,
               .bell = {-1, -1}},
        .transport = transport,
        .epoll = -1,
        .fd = -1,
    };
    error = open_tables(le);
    if (error == 0)
        error = open_bell(le);
    if (error == 0)
        error = open_area(le);
    if (error) {
        release(le);
        return error;
    }
    *endpoint = &le->ep;
    return 0;
}

void unet_lane_close(struct unet_endpoint *ep)
{
    struct lane_endpoint *le = lane_endpoint(ep);

    __atomic_store_n(&le->own.header->closed, 1, __ATOMIC_RELEASE);
    for (uint32_t n = 1; n <= ep->config.channels; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_lane_disconnect(ep, (uint16_t)n);
        unet_lane_drop_peer(le, (uint16_t)n);
    }
    release(le);
}

/* ---- the data path ---------------------------------------------------------------- */

void unet_lane_kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct lane_endpoint *le = lane_endpoint(ep);

    if (le->tx_seen != ep->tx.position)
        unet_lane_service(le);
    else
        unet_lane_notify(le, channel);
}

int unet_lane_progress(struct unet_endpoint *ep)
{
    struct lane_endpoint *le = lane_endpoint(ep);

    if (le->connecting > 0)
        unet_lane_find_opened(le);
    if (++le->calls % LOOK_EVERY == 0) {
        unet_lane_find_closed(le);
        unet_lane_sleep(le, 0);
    }
    return le->tx.position == ep->tx.position ? 0 : unet_lane_service(le);
}

/* ---- waiting -------------------------------------------------------------------- */

/* A mere look (0) leaves the bell alone: it may be an upcall's, or the
 * application's own poll may be about to see it. */
int unet_lane_sleep(struct lane_endpoint *le, int timeout_ms)
{
    struct epoll_event event[16];
    int n = epoll_wait(le->epoll, event, sizeof event / sizeof *event, timeout_ms);

    for (int i = 0; i < n; i++) {
        if (event[i].data.u32 > 0)
            unet_lane_set_dead(le, (uint16_t)event[i].data.u32);
        else if (timeout_ms != 0)
            unet_bell_drain(le->ep.bell[0]);
    }
    return n < 0 ? -errno : 0;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How long to sleep of the `left` milliseconds (negative: for ever). */
static int nap(const struct lane_endpoint *le, int64_t left)
{
    int64_t most = left < 0 || left > 1000000 ? 1000000 : left;

    if (le->tx.position != le->ep.tx.position)
        most = most < RETRY_MS ? most : RETRY_MS;
    else if (le->connecting > 0)
        most = most < RETRY_CONNECTING_MS ? most : RETRY_CONNECTING_MS;
    return (int)most;
}

/* Everything that may have happened; true when it is what unet_wait reports. */
static bool look(struct lane_endpoint *le, uint32_t opened)
{
    unet_lane_find_opened(le);
    unet_lane_find_closed(le);
    unet_lane_service(le);
    return unet_rx_peek(&le->ep) || le->opened != opened || le->died != le->died_told;
}

/* Arms before it looks: what comes after the look rings. */
static int wait_until(struct lane_endpoint *le, int64_t deadline)
{
    uint32_t opened = le->opened;
    bool last = false;

    for (;;) {
        int64_t left;
        int error;

        unet_bell_arm(&le->ep, UNET_NONEMPTY);
        if (look(le, opened) || last)
            return 0;
        left = deadline < 0 ? -1 : deadline - now_ms();
        last = deadline >= 0 && left <= 0;
        error = unet_lane_sleep(le, last ? 0 : nap(le, left));
        if (error)
            return error;
    }
}

int unet_lane_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct lane_endpoint *le = lane_endpoint(ep);
    int error = wait_until(le, timeout_ms < 0 ? -1 : now_ms() + timeout_ms);

    unet_bell_disarm(ep);
    if (error)
        return error;
    le->died_told = le->died;
    return unet_rx_peek(ep) != NULL;
}
