/* SPDX-License-Identifier: BSD-3-Clause
 *
 * messages.c - messages of U-Net, of at most as many bytes as a packet of TCP has there.
 *
 * No more are on their way than the receiver has room for: it returns a credit, in an
 * inline message, for every few.
 */
#include "ip_bench.h"

#include <ip/ip.h>
#include <string.h>

enum {
    MESSAGE = 1500,
    BUFFER = 1536,
    SLOTS = 128,
    WINDOW = 128,
    CREDIT = 32,
    TOGETHER = 16, /* messages after which the endpoint is told to send them */
    IS_CREDIT = 1,
};

static struct bench_link link;
static uint32_t ticket[SLOTS], sent, credits = WINDOW, owed, unread;

struct bench_link bench_link_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct unet_config config = {0};
    struct bench_link made;

    ip_endpoint_config(&config);
    bench_need(unet_backend(backend) && unet_open(unet_backend(backend), &config, &made.ep) == 0,
               "the endpoint");
    unet_address(made.ep, &meeting->endpoint[me]);
    bench_raise(&meeting->ready[me]);
    bench_await(&meeting->ready[!me]);
    bench_need(unet_connect(made.ep, &meeting->endpoint[!me], 77, &made.channel) == 0,
               "the channel");
    while (unet_channel_state(made.ep, made.channel) == UNET_CONNECTING)
        unet_progress(made.ep);
    return made;
}

static void messages_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    link = bench_link_open(backend, meeting, me);
    for (uint32_t i = 0; i < 2 * WINDOW; i++)
        bench_need(unet_free_put(link.ep, (SLOTS + i) * BUFFER, BUFFER) == 0, "a buffer");
}

static void messages_take(const struct unet_desc *desc)
{
    bench_need(desc->kind == UNET_PIECES || desc->kind == UNET_INLINE, "a message");
    if (desc->user == IS_CREDIT) {
        credits += CREDIT;
        return;
    }
    unread += desc->length;
    for (unsigned i = 0; desc->kind == UNET_PIECES && i < desc->pieces; i++)
        unet_free_put(link.ep, desc->piece[i].offset, BUFFER);
    owed++;
}

/* The policy of waiting is that of the stack, but that it never sleeps. */
static void messages_look(struct bench_patience *patience)
{
    struct unet_endpoint *ep = link.ep;
    const struct unet_rest_policy *policy =
        ep->ops->network ? &unet_rest_network : &unet_rest_memory;
    const struct unet_desc *desc;
    uint8_t nothing = 0;

    unet_progress(ep);
    while ((desc = unet_rx_peek(ep))) {
        messages_take(desc);
        unet_rx_release(ep);
        *patience = (struct bench_patience){0};
    }
    while (owed >= CREDIT &&
           unet_send_inline(ep, link.channel, IS_CREDIT, &nothing, sizeof nothing) == 0)
        owed -= CREDIT;
    bench_rest(patience, policy);
}

/* 0, or -EAGAIN.  `more`: others follow at once. */
static int messages_submit(uint32_t length, bool more)
{
    const uint32_t slot = sent % SLOTS;
    const struct unet_piece piece = {slot * BUFFER, length};
    struct unet_endpoint *ep = link.ep;

    memcpy(ep->segment + piece.offset, bench_buffer, length);
    if (length <= UNET_INLINE_MAX) {
        ticket[slot] = ticket[(sent + SLOTS - 1) % SLOTS];
        return unet_send_inline(ep, link.channel, 0, ep->segment + piece.offset, length);
    }
    if (more && credits > 1 && sent % TOGETHER != TOGETHER - 1)
        return unet_send_more(ep, link.channel, 0, &piece, 1, &ticket[slot]);
    return unet_send(ep, link.channel, 0, &piece, 1, &ticket[slot]);
}

static void messages_send(size_t length, unsigned times)
{
    const size_t most = link.ep->packet_bytes < MESSAGE ? link.ep->packet_bytes : MESSAGE;
    const size_t unit = length < most ? length : most;
    size_t left = length * times;
    struct bench_patience patience = {0};

    while (left > 0) {
        const uint32_t part = (uint32_t)(unit < left ? unit : left);
        const uint32_t slot = sent % SLOTS;

        if (credits == 0 || (sent >= SLOTS && !unet_sent(link.ep, ticket[slot])) ||
            messages_submit(part, left > part) < 0) {
            messages_look(&patience);
            continue;
        }
        sent++;
        credits--;
        left -= part;
    }
}

static void messages_receive(size_t length)
{
    struct bench_patience patience = {0};

    while (unread < length)
        messages_look(&patience);
    unread -= (uint32_t)length;
}

const struct bench_way bench_messages = {
    .name = "unet", .open = messages_open, .send = messages_send, .receive = messages_receive};
