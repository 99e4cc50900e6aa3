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

static int open_tables(struct sm_endpoint *se)
{
    struct unet_endpoint *ep = &se->ep;
    uint32_t n = ep->config.channels + 1;

    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    se->link = calloc(n, sizeof *se->link);
    if (!ep->channel || !ep->rx || !se->link)
        return -ENOMEM;
    if (new_local_ring(&ep->tx, &se->tx, ep->config.send_slots) ||
        new_local_ring(&se->errors, &ep->rx[0], ep->config.send_slots) ||
        new_local_ring(&se->full, &se->silent, 4))
        return -ENOMEM;
    se->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    ep->rx_rings = 1;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i].number = (uint16_t)i;
        ep->channel[i].ring = &se->full;
    }
    for (uint32_t i = 1; i < n; i++)
        ep->rx[i] = se->silent;
    return 0;
}

int unet_sm_watch(struct sm_endpoint *se, int fd, uint32_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};

    return epoll_ctl(se->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int open_bell(struct sm_endpoint *se)
{
    int error;

    se->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (se->epoll < 0)
        return -errno;
    if (se->ep.config.polled)
        return 0;
    error = unet_bell_open(se->ep.bell);
    if (error)
        return error;
    se->ep.fd = se->epoll;
    return unet_sm_watch(se, se->ep.bell[0], 0);
}

static int open_area(struct sm_endpoint *se)
{
    struct unet_endpoint *ep = &se->ep;
    uint64_t nonce[2];
    void *memory;
    int error;

    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        return -EIO;
    error = se->transport->create(se, nonce, unet_sm_area_bytes(&ep->config), &memory);
    if (error)
        return error;
    ep->fences_for_others = unet_fences_for_others();
    unet_sm_area_format(&se->own, memory, &ep->config, nonce, ep->fences_for_others);
    unet_ring_attach(&ep->free, se->own.free, ep->config.free_slots);
    ep->segment = se->own.segment;
    ep->armed = &se->own.header->armed;
    return 0;
}

/* Of an endpoint in any state of completion. */
static void release(struct sm_endpoint *se)
{
    struct unet_endpoint *ep = &se->ep;

    if (se->own.header)
        se->transport->destroy(se);
    else
        unet_bell_close(ep->bell);
    if (se->epoll >= 0)
        close(se->epoll);
    free(se->silent.shared);
    free(se->errors.shared);
    free(se->tx.shared);
    free(se->link);
    free(ep->rx);
    free(ep->channel);
    free(se);
}

int unet_sm_open(const struct unet_ops *ops, const struct sm_transport *transport,
                 uint32_t capabilities, const struct unet_config *config,
                 struct unet_endpoint **endpoint)
{
    struct sm_endpoint *se = aligned_alloc(64, sizeof *se);
    int error;

    if (!se)
        return -ENOMEM;
    *se = (struct sm_endpoint){
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
    error = open_tables(se);
    if (error == 0)
        error = open_bell(se);
    if (error == 0)
        error = open_area(se);
    if (error) {
        release(se);
        return error;
    }
    *endpoint = &se->ep;
    return 0;
}

void unet_sm_close(struct unet_endpoint *ep)
{
    struct sm_endpoint *se = sm_of(ep);

    __atomic_store_n(&se->own.header->closed, 1, __ATOMIC_RELEASE);
    for (uint32_t n = 1; n <= ep->config.channels; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_sm_disconnect(ep, (uint16_t)n);
        unet_sm_drop_peer(se, (uint16_t)n);
    }
    release(se);
}

/* ---- the data path ---------------------------------------------------------------- */

void unet_sm_kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct sm_endpoint *se = sm_of(ep);

    if (se->tx_seen != ep->tx.position)
        unet_sm_service(se);
    else
        unet_sm_notify(se, channel);
}

int unet_sm_progress(struct unet_endpoint *ep)
{
    struct sm_endpoint *se = sm_of(ep);

    if (se->connecting > 0)
        unet_sm_find_opened(se);
    if (++se->calls % LOOK_EVERY == 0) {
        unet_sm_find_closed(se);
        unet_sm_sleep(se, 0);
    }
    return se->tx.position == ep->tx.position ? 0 : unet_sm_service(se);
}

/* ---- waiting -------------------------------------------------------------------- */

/* A mere look (0) leaves the bell alone: it may be an upcall's, or the
 * application's own poll may be about to see it. */
int unet_sm_sleep(struct sm_endpoint *se, int timeout_ms)
{
    struct epoll_event event[16];
    int n = epoll_wait(se->epoll, event, sizeof event / sizeof *event, timeout_ms);

    for (int i = 0; i < n; i++) {
        if (event[i].data.u32 > 0)
            unet_sm_set_dead(se, (uint16_t)event[i].data.u32);
        else if (timeout_ms != 0)
            unet_bell_drain(se->ep.bell[0]);
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
static int nap(const struct sm_endpoint *se, int64_t left)
{
    int64_t most = left < 0 || left > 1000000 ? 1000000 : left;

    if (se->tx.position != se->ep.tx.position)
        most = most < RETRY_MS ? most : RETRY_MS;
    else if (se->connecting > 0)
        most = most < RETRY_CONNECTING_MS ? most : RETRY_CONNECTING_MS;
    return (int)most;
}

/* Everything that may have happened; true when it is what unet_wait reports. */
static bool look(struct sm_endpoint *se, uint32_t opened)
{
    unet_sm_find_opened(se);
    unet_sm_find_closed(se);
    unet_sm_service(se);
    return unet_rx_peek(&se->ep) || se->opened != opened || se->died != se->died_told;
}

/* Arms before it looks: what comes after the look rings. */
static int wait_until(struct sm_endpoint *se, int64_t deadline)
{
    uint32_t opened = se->opened;
    bool last = false;

    for (;;) {
        int64_t left;
        int error;

        unet_bell_arm(&se->ep, UNET_NONEMPTY);
        if (look(se, opened) || last)
            return 0;
        left = deadline < 0 ? -1 : deadline - now_ms();
        last = deadline >= 0 && left <= 0;
        error = unet_sm_sleep(se, last ? 0 : nap(se, left));
        if (error)
            return error;
    }
}

int unet_sm_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct sm_endpoint *se = sm_of(ep);
    int error = wait_until(se, timeout_ms < 0 ? -1 : now_ms() + timeout_ms);

    unet_bell_disarm(ep);
    if (error)
        return error;
    se->died_told = se->died;
    return unet_rx_peek(ep) != NULL;
}
