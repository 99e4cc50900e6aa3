/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct_path.c - direct puts by the protocol, and by endpoints that need none.
 */
#include "direct_path.h"

#include <errno.h>
#include <reliable/reliable.h>

enum {
    RANGE = 1,              /* the only one: all of the address space */
    PAGE_BYTES_MAX = 65536, /* on any processor */
    PIECE = (UNET_MESSAGE_MAX - UNET_DIRECT_BYTES) & ~63u,
};

/* ---- endpoints that are reliable themselves ------------------------------------------- */

static uint64_t place_of(const void *address)
{
    return UNET_PLACE(RANGE, (uintptr_t)address);
}

static int plain_open(struct unet_endpoint *ep)
{
    uint16_t range = 0;
    int error;

    if (!(ep->capabilities & UNET_CAP_RANGES))
        return -EOPNOTSUPP;
    error = unet_export(ep, NULL, UNET_PLACE_OFFSET + 1 - PAGE_BYTES_MAX, &range);
    return error == 0 && range != RANGE ? -EINVAL : error;
}

static size_t plain_most(const struct unet_endpoint *ep)
{
    (void)ep;
    return PIECE;
}

static int plain_pin(struct unet_endpoint *ep, const void *address, size_t n)
{
    return unet_hold(ep, place_of(address), n);
}

static void plain_unpin(struct unet_endpoint *ep, const void *address, size_t n)
{
    unet_release(ep, place_of(address), n);
}

/* What is granted is registered by the grant itself. */
static int plain_grant(struct unet_endpoint *ep, uint32_t rank, const void *address, size_t n,
                       uint64_t *rkey)
{
    return unet_grant(ep, gam_channel(splitc_runtime.gam, rank), place_of(address), n, rkey);
}

static int plain_revoke(struct unet_endpoint *ep, const void *address, size_t n, uint64_t rkey)
{
    (void)address;
    (void)n;
    return unet_revoke(ep, rkey);
}

static bool has_room(const struct unet_endpoint *ep, size_t pieces)
{
    const uint32_t done = __atomic_load_n(&ep->tx.shared->consumed, __ATOMIC_ACQUIRE);

    return ep->tx.position - done + pieces <= ep->tx.mask + 1;
}

static int plain_put(struct unet_endpoint *ep, uint32_t rank, uint64_t rkey, const void *from,
                     void *to, size_t n)
{
    const uint16_t channel = gam_channel(splitc_runtime.gam, rank);
    int error = 0;

    if (!has_room(ep, (n + PIECE - 1) / PIECE))
        return -EAGAIN;
    for (size_t at = 0; at < n && error == 0; at += PIECE) {
        const uint64_t source = place_of((const char *)from + at);
        const uint64_t place = place_of((char *)to + at);
        const size_t left = n - at;

        if (left > PIECE)
            error = unet_put_more(ep, channel, 0, source, PIECE, place, rkey, NULL);
        else
            error = unet_put(ep, channel, 0, source, (uint32_t)left, place, rkey, NULL);
    }
    return error;
}

/* Nothing is altered on the way, and what comes behind the pieces finds them landed. */
static uint64_t plain_mac(const struct unet_endpoint *ep, uint64_t rkey, const void *address,
                          size_t n)
{
    (void)ep;
    (void)rkey;
    (void)address;
    (void)n;
    return 0;
}

static const struct splitc_direct_path plain = {
    .open = plain_open,
    .most = plain_most,
    .grant = plain_grant,
    .revoke = plain_revoke,
    .pin = plain_pin,
    .unpin = plain_unpin,
    .put = plain_put,
    .mac = plain_mac,
};

/* ---- endpoints with the protocol --------------------------------------------------------- */

static const struct splitc_direct_path by_protocol = {
    .open = reliable_direct_open,
    .most = reliable_direct_most,
    .grant = reliable_direct_grant,
    .revoke = reliable_direct_revoke,
    .pin = reliable_direct_pin,
    .unpin = reliable_direct_unpin,
    .put = reliable_direct_put,
    .mac = reliable_direct_mac,
};

const struct splitc_direct_path *splitc_direct_path(void)
{
    return splitc_runtime.protocol ? &by_protocol : &plain;
}
