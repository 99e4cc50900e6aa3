/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable_direct.c - direct access through the endpoint below: pieces of transfers go past the
 * protocol, which neither numbers nor repeats them.
 */
#include "reliable_state.h"
#include <errno.h>

enum {
    RANGE = 1,         /* ours, and everybody's */
    PAGE_MOST = 65536, /* bytes of a page, on any processor */
    PLACE_BYTES = 8,   /* of a message, in front of a piece */
    PIECE_BITS = 8,    /* of `user`; above stands the transfer */
    TRANSFER_BITS = 24 /* see gam_direct_put */
};

static void lock(struct gam_reliable *r)
{
    pthread_mutex_lock(&r->lock);
}

static void unlock(struct gam_reliable *r)
{
    pthread_mutex_unlock(&r->lock);
}

/* ---- opening ------------------------------------------------------------------------ */

/* All of the address space that the processor and the kernel give to a process. */
static int export_all(struct unet_endpoint *lower)
{
    uint16_t range = 0;
    int rc = -EINVAL;

    for (int bits = 48; rc == -EINVAL && bits >= 38; bits--)
        rc = unet_export(lower, NULL, ((uint64_t)1 << bits) - PAGE_MOST, &range);
    return rc == 0 && range != RANGE ? -EINVAL : rc;
}

static int export_locked(struct gam_reliable *r)
{
    int rc = export_all(r->lower);

    for (uint32_t n = 1; rc == 0 && n < r->ep.rx_rings; n++) {
        if (r->ep.channel[n].state != UNET_CLOSED)
            rc = unet_allow(r->lower, (uint16_t)n, true);
    }
    return rc;
}

int gam_reliable_export(struct unet_endpoint *ep)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (!(r->lower->capabilities & UNET_CAP_RANGES))
        return -EOPNOTSUPP;
    lock(r);
    rc = export_locked(r);
    unlock(r);
    return rc;
}

size_t gam_reliable_direct_most(const struct unet_endpoint *ep)
{
    const struct gam_reliable *r = (const struct gam_reliable *)ep;

    return (r->lower->packet_bytes - PLACE_BYTES) & ~(size_t)63;
}

/* ---- memory --------------------------------------------------------------------------- */

int gam_reliable_hold(struct unet_endpoint *ep, uint64_t address, size_t n)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (address > UNET_PLACE_OFFSET)
        return -EINVAL;
    lock(r);
    rc = unet_hold(r->lower, UNET_PLACE(RANGE, address), n);
    unlock(r);
    return rc;
}

void gam_reliable_release(struct unet_endpoint *ep, uint64_t address, size_t n)
{
    struct gam_reliable *r = gam_reliable_of(ep);

    if (address > UNET_PLACE_OFFSET)
        return;
    lock(r);
    unet_release(r->lower, UNET_PLACE(RANGE, address), n);
    unlock(r);
}

/* ---- pieces ----------------------------------------------------------------------------- */

/* Packets keep their part of the send queue: one that finds no slot counts as lost. */
static bool has_room(const struct gam_reliable *r, uint32_t pieces)
{
    const struct unet_ring *tx = &r->lower->tx;
    const uint32_t done = __atomic_load_n(&tx->shared->consumed, __ATOMIC_ACQUIRE);

    return tx->position - done + pieces + GAM_RELIABLE_SENDS <= tx->mask + 1;
}

static int put_locked(struct gam_reliable *r, uint16_t channel, uint32_t transfer, uint64_t from,
                      uint64_t to, size_t n)
{
    const size_t most = gam_reliable_direct_most(&r->ep);
    const uint32_t pieces = (uint32_t)((n + most - 1) / most);
    int rc = 0;

    if (!has_room(r, pieces))
        return -EAGAIN;
    for (uint32_t i = 0; i < pieces && rc == 0; i++) {
        const size_t at = i * most, left = n - at;
        const uint32_t user = transfer << PIECE_BITS | i;

        if (left > most)
            rc = unet_put_more(r->lower, channel, user, UNET_PLACE(RANGE, from + at),
                               (uint32_t)most, UNET_PLACE(RANGE, to + at), NULL);
        else
            rc = unet_put(r->lower, channel, user, UNET_PLACE(RANGE, from + at), (uint32_t)left,
                          UNET_PLACE(RANGE, to + at), NULL);
    }
    return rc ? rc : (int)pieces;
}

int gam_reliable_put(struct unet_endpoint *ep, uint16_t channel, uint32_t transfer, uint64_t from,
                     uint64_t to, size_t n)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (transfer >> TRANSFER_BITS || n == 0 ||
        n > GAM_DIRECT_PIECES * gam_reliable_direct_most(ep) || from > UNET_PLACE_OFFSET ||
        to > UNET_PLACE_OFFSET)
        return -EINVAL;
    lock(r);
    rc = put_locked(r, channel, transfer, from, to, n);
    unlock(r);
    return rc;
}

/* What comes late, of a transfer that was given up, takes the place of another only until that is
 * asked for: it then lacks pieces, and is sent again. */
void gam_direct_arrived(struct gam_reliable *r, const struct unet_desc *desc)
{
    const uint32_t transfer = desc->user >> PIECE_BITS;
    struct gam_come *come = &r->line[desc->channel].come[transfer % GAM_COMES];

    if (come->transfer != transfer)
        *come = (struct gam_come){.transfer = transfer};
    come->pieces |= 1u << desc->user % 32;
}

uint32_t gam_reliable_come(struct unet_endpoint *ep, uint16_t channel, uint32_t transfer)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    struct gam_come come;

    lock(r);
    come = r->line[channel].come[transfer % GAM_COMES];
    unlock(r);
    return come.transfer == transfer ? (uint32_t)__builtin_popcount(come.pieces) : 0;
}
