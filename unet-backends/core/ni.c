/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ni.c - what endpoints of all kinds have in common: opening, states, waiting.
 */
#include <unet/unet_ni.h>

#include "core/core.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 64, /* of an endpoint */
    IDLE_SLOTS = 4,
    RINGS_FEW = 16,
};

/* ---- rings that nobody writes to ------------------------------------------------ */

static struct unet_ring_shared idle = {.slot = {[IDLE_SLOTS - 1] = {.turn = 0}}};

/* The position is more than a ring ahead of any `consumed`, which a producer takes for full. */
struct unet_ring unet_ring_full = {.shared = &idle, .mask = IDLE_SLOTS - 1, .position = 1u << 31};

const struct unet_ring unet_ring_empty = {.shared = &idle, .mask = IDLE_SLOTS - 1};

/* ---- opening and closing -------------------------------------------------------- */

static size_t memory_bytes(const struct unet_ni *ni)
{
    const struct unet_config *c = &ni->ep.config;
    size_t bytes = 0;

    if (ni->kind->memory >= UNET_NI_SEND)
        bytes += 2 * unet_ring_bytes(c->send_slots);
    if (ni->kind->memory >= UNET_NI_ALL)
        bytes += c->segment_bytes + unet_ring_bytes(c->free_slots) +
                 unet_ring_bytes(c->recv_slots) * c->channels;
    return bytes;
}

/* The next part of the memory. */
static void *carve(uint8_t **at, size_t bytes)
{
    void *part = *at;

    *at += bytes;
    return part;
}

/* Both sides of a ring within this process. */
static void make_ring(uint8_t **at, uint32_t slots, struct unet_ring *one, struct unet_ring *other)
{
    void *memory = carve(at, unet_ring_bytes(slots));

    unet_ring_attach(one, memory, slots);
    unet_ring_attach(other, memory, slots);
}

static int open_memory(struct unet_ni *ni)
{
    const struct unet_config *c = &ni->ep.config;
    struct unet_endpoint *ep = &ni->ep;
    const size_t bytes = memory_bytes(ni);
    uint8_t *at;

    if (bytes == 0)
        return 0;
    at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    ni->memory = at;
    ni->memory_bytes = bytes;
    if (ni->kind->memory >= UNET_NI_ALL)
        ep->segment = carve(&at, c->segment_bytes);
    make_ring(&at, c->send_slots, &ep->tx, &ni->tx);
    make_ring(&at, c->send_slots, &ep->rx[0], &ni->errors);
    if (ni->kind->memory < UNET_NI_ALL)
        return 0;
    make_ring(&at, c->free_slots, &ep->free, &ni->free);
    for (uint32_t n = 1; n <= c->channels; n++)
        make_ring(&at, c->recv_slots, &ep->rx[n], &ni->in[n]);
    return 0;
}

/* To look at few rings takes no longer than to say which have something. */
static int open_filled(struct unet_ni *ni)
{
    const uint32_t channels = ni->ep.config.channels;

    if (ni->kind->memory != UNET_NI_ALL || channels <= RINGS_FEW)
        return 0;
    ni->filled = calloc(channels / 64 + 1, sizeof *ni->filled);
    ni->ep.rx_filled = ni->filled;
    return ni->filled ? 0 : -ENOMEM;
}

static int open_tables(struct unet_ni *ni)
{
    const uint32_t n = ni->ep.config.channels + 1;
    struct unet_endpoint *ep = &ni->ep;

    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    ni->in = calloc(n, sizeof *ni->in);
    ni->link = calloc(n, ni->kind->link_bytes);
    if (!ep->channel || !ep->rx || !ni->in || (!ni->link && ni->kind->link_bytes > 0))
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &unet_ring_full,
            .bell = &ni->always,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
        ep->rx[i] = unet_ring_empty;
    }
    ep->rx_rings = 1;
    return open_filled(ni);
}

int unet_ni_open(const struct unet_ops *ops, const struct unet_ni_kind *kind, size_t endpoint_bytes,
                 const struct unet_config *config, struct unet_ni **opened)
{
    const size_t bytes = (endpoint_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct unet_ni *ni = aligned_alloc(ALIGNMENT, bytes);
    int error;

    if (!ni)
        return -ENOMEM;
    memset(ni, 0, bytes);
    *ni = (struct unet_ni){
        .ep = {.ops = ops,
               .config = *config,
               .packet_bytes = UNET_MESSAGE_MAX,
               .armed = &ni->armed,
               .fd = -1,
               .bell = {-1, -1}},
        .kind = kind,
        .always = 1,
    };
    error = open_tables(ni);
    if (error == 0)
        error = open_memory(ni);
    if (error) {
        unet_ni_close(ni);
        return error;
    }
    *opened = ni;
    return 0;
}

void unet_ni_close(struct unet_ni *ni)
{
    unet_bell_close(ni->ep.bell);
    if (ni->memory)
        munmap(ni->memory, ni->memory_bytes);
    free(ni->link);
    free(ni->filled);
    free(ni->in);
    free(ni->ep.rx);
    free(ni->ep.channel);
    free(ni);
}

void unet_ni_address(const struct unet_endpoint *ep, struct unet_address *address)
{
    *address = ((const struct unet_ni *)ep)->address;
}

void unet_ni_set_address(struct unet_ni *ni, const void *bytes, size_t length)
{
    ni->address.length = (uint32_t)length;
    memcpy(ni->address.bytes, bytes, length);
}

/* ---- channels --------------------------------------------------------------------- */

void unet_ni_set_state(struct unet_ni *ni, uint16_t channel, enum unet_channel_state state)
{
    struct unet_channel *ch = &ni->ep.channel[channel];

    ni->connecting += (state == UNET_CONNECTING) - (ch->state == UNET_CONNECTING);
    ni->opened += state == UNET_OPEN;
    ni->died += state == UNET_DEAD;
    ch->state = (uint8_t)state;
    ch->ring = state == UNET_OPEN ? &ni->ep.tx : &unet_ring_full;
}

uint16_t unet_ni_closed_channel(const struct unet_ni *ni)
{
    for (uint32_t n = 1; n <= ni->ep.config.channels; n++) {
        if (ni->ep.channel[n].state == UNET_CLOSED)
            return (uint16_t)n;
    }
    return 0;
}

void unet_ni_connecting(struct unet_ni *ni, uint16_t channel)
{
    if (channel >= ni->ep.rx_rings)
        ni->ep.rx_rings = channel + 1u;
    unet_ni_set_state(ni, channel, UNET_CONNECTING);
}

/* ---- the free queue --------------------------------------------------------------- */

int unet_ni_take_buffers(struct unet_ni *ni, uint32_t length,
                         struct unet_piece piece[UNET_PIECES_MAX])
{
    uint32_t left = length;
    int count = 0;

    while (left > 0 && count < (int)UNET_PIECES_MAX) {
        const uint32_t position = ni->free.position + (uint32_t)count;
        const struct unet_desc *slot = &ni->free.shared->slot[position & ni->free.mask];
        uint32_t room;

        if (slot->turn != position + 1)
            return -EAGAIN;
        room = (uint32_t)(slot->word[0] >> 32);
        piece[count].offset = (uint32_t)slot->word[0];
        piece[count].length = left < room ? left : room;
        left -= piece[count++].length;
    }
    if (left > 0)
        return -EMSGSIZE;
    for (int i = 0; i < count; i++)
        unet_ring_release(&ni->free);
    unet_ring_publish(&ni->free);
    return count;
}

/* ---- waiting ------------------------------------------------------------------------ */

/* Milliseconds until then, rounded up. */
static int left_ms(uint64_t end_us)
{
    const uint64_t now = unet_now_us();
    const uint64_t left = end_us > now ? (end_us - now + 999) / 1000 : 0;

    return left < INT_MAX ? (int)left : INT_MAX;
}

static int nap_ms(const struct unet_ni *ni, int left)
{
    const int most = ni->connecting > 0 ? ni->kind->retry_ms : ni->kind->look_ms;

    return unet_timeout_while_queued(&ni->ep, most > 0 && most < left ? most : left);
}

static bool has_changed(const struct unet_ni *ni, uint32_t opened)
{
    return ni->opened != opened || ni->died != ni->died_told;
}

static bool has_arrived(struct unet_ni *ni, uint32_t handed)
{
    return ni->handed != handed || unet_rx_peek(&ni->ep) != NULL;
}

/* The bell is armed before each look, so that whatever comes after the look rings it. */
static int wait_until(struct unet_ni *ni, uint64_t end_us)
{
    const uint32_t opened = ni->opened, handed = ni->handed;

    for (;;) {
        int left, rung;

        if (ni->kind->rings)
            unet_bell_arm(&ni->ep, UNET_NONEMPTY);
        unet_progress(&ni->ep);
        if (has_arrived(ni, handed) || has_changed(ni, opened))
            return 0;
        left = left_ms(end_us);
        if (left == 0)
            return 0;
        rung = ni->kind->sleep(ni, nap_ms(ni, left));
        if (rung < 0)
            return rung;
        if (rung == 0)
            ni->ep.ops->state(&ni->ep, 0);
    }
}

int unet_ni_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct unet_ni *ni = unet_ni_of(ep);
    const uint32_t handed = ni->handed;
    const int error =
        wait_until(ni, timeout_ms < 0 ? UINT64_MAX : unet_now_us() + (uint64_t)timeout_ms * 1000);

    if (ni->kind->rings)
        unet_bell_disarm(ep);
    if (error)
        return error;
    ni->died_told = ni->died;
    return has_arrived(ni, handed);
}
