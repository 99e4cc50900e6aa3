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

int gam_reliable_export(struct unet_endpoint *ep)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (!(r->lower->capabilities & UNET_CAP_RANGES))
        return -EOPNOTSUPP;
    lock(r);
    rc = export_all(r->lower);
    unlock(r);
    return rc;
}

size_t gam_reliable_direct_most(const struct unet_endpoint *ep)
{
    const struct gam_reliable *r = (const struct gam_reliable *)ep;

    return (r->lower->packet_bytes - UNET_DIRECT_BYTES) & ~(size_t)63;
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

static int grant_locked(struct gam_reliable *r, uint16_t channel, uint64_t place, size_t n,
                        uint64_t *grant)
{
    int rc = unet_hold(r->lower, place, n);

    if (rc)
        return rc;
    rc = unet_grant(r->lower, channel, place, n, grant);
    if (rc)
        unet_release(r->lower, place, n);
    return rc;
}

int gam_reliable_grant(struct unet_endpoint *ep, uint16_t channel, uint64_t address, size_t n,
                       uint64_t *grant)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (address > UNET_PLACE_OFFSET)
        return -EINVAL;
    lock(r);
    rc = grant_locked(r, channel, UNET_PLACE(RANGE, address), n, grant);
    unlock(r);
    return rc;
}

int gam_reliable_revoke(struct unet_endpoint *ep, uint64_t address, size_t n, uint64_t grant)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    lock(r);
    rc = unet_revoke(r->lower, grant);
    if (rc == 0)
        unet_release(r->lower, UNET_PLACE(RANGE, address), n);
    unlock(r);
    return rc;
}

/* The memory is the caller's, and the key does not change. */
uint64_t gam_reliable_sum(const struct unet_endpoint *ep, uint64_t grant, const void *data,
                          size_t n)
{
    return gam_net_sum(((const struct gam_reliable *)ep)->net, grant, data, n);
}

/* ---- pieces ----------------------------------------------------------------------------- */

/* Packets keep their part of the send queue: one that finds no slot counts as lost. */
static bool has_room(const struct gam_reliable *r, uint32_t pieces)
{
    const struct unet_ring *tx = &r->lower->tx;
    const uint32_t done = __atomic_load_n(&tx->shared->consumed, __ATOMIC_ACQUIRE);

    return tx->position - done + pieces + GAM_RELIABLE_SENDS <= tx->mask + 1;
}

static int put_locked(struct gam_reliable *r, uint16_t channel, uint64_t grant, uint64_t from,
                      uint64_t to, size_t n)
{
    const size_t most = gam_reliable_direct_most(&r->ep);
    const uint32_t pieces = (uint32_t)((n + most - 1) / most);
    int rc = 0;

    if (!has_room(r, pieces))
        return -EAGAIN;
    for (size_t at = 0; at < n && rc == 0; at += most) {
        const uint64_t source = UNET_PLACE(RANGE, from + at), place = UNET_PLACE(RANGE, to + at);

        if (n - at > most)
            rc = unet_put_more(r->lower, channel, 0, source, (uint32_t)most, place, grant, NULL);
        else
            rc = unet_put(r->lower, channel, 0, source, (uint32_t)(n - at), place, grant, NULL);
    }
    return rc;
}

int gam_reliable_put(struct unet_endpoint *ep, uint16_t channel, uint64_t grant, uint64_t from,
                     uint64_t to, size_t n)
{
    struct gam_reliable *r = gam_reliable_of(ep);
    int rc;

    if (n == 0 || n > GAM_DIRECT_PIECES * gam_reliable_direct_most(ep) ||
        from > UNET_PLACE_OFFSET || to > UNET_PLACE_OFFSET)
        return -EINVAL;
    lock(r);
    rc = put_locked(r, channel, grant, from, to, n);
    unlock(r);
    return rc;
}
