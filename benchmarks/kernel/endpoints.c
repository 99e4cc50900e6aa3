/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoints.c - U-Net endpoints of the kernel module, and active messages over one.
 */
#include "kernel.h"

#include <errno.h>
#include <gam/gam.h>
#include <reliable/reliable.h>
#include <stdlib.h>
#include <string.h>
#include <unet/unet.h>

enum {
    TAG = 7,
    BUFFER = 2048,
    BUFFERS = 64, /* to receive into */
    SLOTS = 64,   /* to send from */
    SEND_AT = BUFFERS * BUFFER,
};

static void need(int error, const char *what)
{
    if (error >= 0)
        return;
    errno = -error;
    die(what);
}

/* ---- endpoints ---------------------------------------------------------------------------- */

struct end {
    struct unet_endpoint *ep;
    uint16_t channel;
    uint32_t sent;
};

static struct end plain, pieces;

static void exchange_addresses(const struct unet_endpoint *ep, struct unet_address *theirs)
{
    uint8_t mine[BLOB] = {0}, blob[BLOB];
    struct unet_address own;

    _Static_assert(sizeof own <= BLOB, "addresses are told in blobs");
    unet_address(ep, &own);
    memcpy(mine, &own, sizeof own);
    exchange(mine, blob);
    memcpy(theirs, blob, sizeof *theirs);
}

static void open_end(struct end *end)
{
    const struct unet_config config = {
        .segment_bytes = SEND_AT + SLOTS * BUFFER, .send_slots = SLOTS, .channels = 1};
    struct unet_address theirs;

    setenv("UNET_INTERFACE", interface, 1);
    need(unet_open(unet_backend("fe"), &config, &end->ep), "an endpoint of the module");
    for (uint32_t i = 0; i < BUFFERS; i++)
        need(unet_free_put(end->ep, i * BUFFER, BUFFER), "buffers");
    exchange_addresses(end->ep, &theirs);
    need(unet_connect(end->ep, &theirs, TAG, &end->channel), "channel");
    while (unet_channel_state(end->ep, end->channel) == UNET_CONNECTING)
        unet_wait(end->ep, 10);
    meet();
}

/* From the user's pages; the slot is free, for the window is smaller than SLOTS. */
static bool put_pieces(struct end *end, uint32_t length)
{
    const struct unet_piece piece = {SEND_AT + end->sent % SLOTS * BUFFER, length};
    int error;

    memcpy(end->ep->segment + piece.offset, payload, length);
    error = unet_send(end->ep, end->channel, 0, &piece, 1, NULL);
    if (error == -EAGAIN) {
        unet_progress(end->ep);
        return false;
    }
    need(error, "send");
    end->sent++;
    return true;
}

static bool put_inline(struct end *end, uint32_t length)
{
    const int error = unet_send_inline(end->ep, end->channel, 0, payload, length);

    if (error == -EAGAIN) {
        unet_progress(end->ep);
        return false;
    }
    need(error, "send");
    return true;
}

static bool take_message(struct end *end)
{
    const struct unet_desc *desc = unet_rx_peek(end->ep);

    if (!desc)
        return false;
    if (desc->kind == UNET_INLINE) {
        memcpy(landing, desc->data, desc->length);
    } else if (desc->kind == UNET_PIECES) {
        memcpy(landing, end->ep->segment + desc->piece[0].offset, desc->length);
        need(unet_free_put(end->ep, desc->piece[0].offset / BUFFER * BUFFER, BUFFER), "buffers");
    } else {
        need(-(int)desc->error, "send");
    }
    unet_rx_release(end->ep);
    return true;
}

static void open_plain(void)
{
    open_end(&plain);
}

static bool put_plain(uint32_t length)
{
    return length <= UNET_INLINE_MAX ? put_inline(&plain, length) : put_pieces(&plain, length);
}

static bool take_plain(uint32_t length)
{
    (void)length;
    return take_message(&plain);
}

static void open_pieces(void)
{
    open_end(&pieces);
}

static bool put_by_pieces(uint32_t length)
{
    return put_pieces(&pieces, length);
}

static bool take_pieces(uint32_t length)
{
    (void)length;
    return take_message(&pieces);
}

const struct method fe_method = {"fe", true, open_plain, put_plain, take_plain};
const struct method fe_pieces_method = {"fe_pieces", false, open_pieces, put_by_pieces,
                                        take_pieces};

/* ---- active messages ---------------------------------------------------------------------- */

enum { PING = 1, PONG };

static struct gam *g;
static struct unet_address address[2];
static uint32_t pings, pongs, seen;

static void on_ping(struct gam *mine, const struct gam_message *m)
{
    pings++;
    gam_reply_4(mine, PONG, m->word[0], 0, 0, 0);
}

static void on_pong(struct gam *mine, const struct gam_message *m)
{
    (void)mine;
    (void)m;
    pongs++;
}

static int resolve(void *arg, uint32_t rank, struct unet_address *to)
{
    (void)arg;
    return reliable_address(&address[rank], rank, to);
}

static void open_gam(void)
{
    const struct gam_config config = {
        .ranks = 2, .rank = (uint32_t)side, .resolve = resolve, .key = {TAG, TAG}};
    const struct reliable_config protect = {.ranks = 2, .rank = (uint32_t)side, .key = {TAG, TAG}};
    struct unet_config sizes = {0};
    struct unet_endpoint *ep;

    reliable_lower_config(2, &sizes);
    need(unet_open(unet_backend("fe"), &sizes, &ep), "an endpoint of the module");
    unet_address(ep, &address[side]);
    exchange_addresses(ep, &address[!side]);
    gam_network_config(2, 0, &sizes);
    need(reliable_open(ep, &protect, &sizes, &ep), "a reliable endpoint");
    need(gam_open(ep, &config, &g), "gam_open");
    need(gam_register(g, PING, on_ping), "register");
    need(gam_register(g, PONG, on_pong), "register");
    for (arrive(); !other_is_here();)
        gam_poll(g);
}

/* The handler answers by itself. */
static bool put_gam(uint32_t length)
{
    (void)length;
    if (side == 0)
        need(gam_request_4(g, 1, PING, 0, 0, 0, 0), "request");
    return true;
}

static bool take_gam(uint32_t length)
{
    (void)length;
    gam_poll(g);
    if (pings + pongs == seen)
        return false;
    seen++;
    return true;
}

const struct method gam_method = {"gam", false, open_gam, put_gam, take_gam};
