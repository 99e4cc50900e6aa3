/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.c - direct access through the endpoint below: memory to memory, past the protocol.
 */
#include "endpoint.h"
#include <errno.h>

enum {
    RANGE = 1,              /* the only one: all of the address space, for all peers */
    PAGE_BYTES_MAX = 65536, /* on any processor */
};

static uint64_t place_of(const void *address)
{
    return UNET_PLACE(RANGE, (uintptr_t)address);
}

static bool has_place(const void *address)
{
    return (uintptr_t)address <= UNET_PLACE_OFFSET;
}

/* ---- opening ------------------------------------------------------------------------ */

/* As much of the address space as processor and kernel give to a process. */
static int export_all(struct unet_endpoint *lower)
{
    uint16_t range = 0;
    int rc = -EINVAL;

    for (int bits = 48; rc == -EINVAL && bits >= 38; bits--)
        rc = unet_export(lower, NULL, ((uint64_t)1 << bits) - PAGE_BYTES_MAX, &range);
    return rc == 0 && range != RANGE ? -EINVAL : rc;
}

int reliable_direct_open(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    if (!(r->lower->capabilities & UNET_CAP_RANGES))
        return -EOPNOTSUPP;
    if (r->direct)
        return 0;
    reliable_lock(r);
    rc = export_all(r->lower);
    r->direct = rc == 0;
    reliable_unlock(r);
    return rc;
}

size_t reliable_direct_most(const struct unet_endpoint *ep)
{
    const struct reliable_endpoint *r = reliable_of(ep);

    return r->direct ? (r->lower->packet_bytes - UNET_DIRECT_BYTES) & ~(size_t)63 : 0;
}

/* ---- memory --------------------------------------------------------------------------- */

int reliable_direct_pin(struct unet_endpoint *ep, const void *address, size_t n)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    if (!r->direct)
        return -EOPNOTSUPP;
    if (!has_place(address))
        return -EINVAL;
    reliable_lock(r);
    rc = unet_hold(r->lower, place_of(address), n);
    reliable_unlock(r);
    return rc;
}

void reliable_direct_unpin(struct unet_endpoint *ep, const void *address, size_t n)
{
    struct reliable_endpoint *r = reliable_of(ep);

    if (!r->direct || !has_place(address))
        return;
    reliable_lock(r);
    unet_release(r->lower, place_of(address), n);
    reliable_unlock(r);
}

static int grant_locked(struct reliable_endpoint *r, uint16_t channel, uint64_t place, size_t n,
                        uint64_t *rkey)
{
    int rc = unet_hold(r->lower, place, n);

    if (rc)
        return rc;
    rc = unet_grant(r->lower, channel, place, n, rkey);
    if (rc)
        unet_release(r->lower, place, n);
    return rc;
}

/* The channel to a rank; 0: there is none. */
static uint16_t channel_to(const struct reliable_endpoint *r, uint32_t rank)
{
    return rank < r->ranks ? r->channel_of[rank] : 0;
}

int reliable_direct_grant(struct unet_endpoint *ep, uint32_t rank, const void *address, size_t n,
                          uint64_t *rkey)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    if (!r->direct)
        return -EOPNOTSUPP;
    if (!has_place(address) || channel_to(r, rank) == 0)
        return -EINVAL;
    reliable_lock(r);
    rc = grant_locked(r, channel_to(r, rank), place_of(address), n, rkey);
    reliable_unlock(r);
    return rc;
}

int reliable_direct_revoke(struct unet_endpoint *ep, const void *address, size_t n, uint64_t rkey)
{
    struct reliable_endpoint *r = reliable_of(ep);
    int rc;

    if (!r->direct)
        return -EOPNOTSUPP;
    reliable_lock(r);
    rc = unet_revoke(r->lower, rkey);
    if (rc == 0)
        unet_release(r->lower, place_of(address), n);
    reliable_unlock(r);
    return rc;
}

/* Needs no lock: the memory is the caller's, and the job's key does not change. */
uint64_t reliable_direct_mac(const struct unet_endpoint *ep, uint64_t rkey, const void *address,
                             size_t n)
{
    const struct reliable_endpoint *r = reliable_of(ep);

    return reliable_engine_mac(r->engine, rkey, address, n);
}

/* ---- sending ---------------------------------------------------------------------------- */

/* A part of the send queue below is kept for packets: one that finds no slot is lost. */
static bool has_room(const struct reliable_endpoint *r, uint32_t pieces)
{
    const struct unet_ring *tx = &r->lower->tx;
    const uint32_t done = __atomic_load_n(&tx->shared->consumed, __ATOMIC_ACQUIRE);

    return tx->position - done + pieces + RELIABLE_SEND_BUFFERS <= tx->mask + 1;
}

static int put_locked(struct reliable_endpoint *r, uint16_t channel, uint64_t rkey,
                      const uint8_t *from, uint8_t *to, size_t n)
{
    const size_t most = reliable_direct_most(&r->ni.ep);
    const uint32_t pieces = (uint32_t)((n + most - 1) / most);
    int rc = 0;

    if (!has_room(r, pieces))
        return -EAGAIN;
    for (size_t at = 0; at < n && rc == 0; at += most) {
        const uint64_t source = place_of(from + at), place = place_of(to + at);

        if (n - at > most)
            rc = unet_put_more(r->lower, channel, 0, source, (uint32_t)most, place, rkey, NULL);
        else
            rc = unet_put(r->lower, channel, 0, source, (uint32_t)(n - at), place, rkey, NULL);
    }
    return rc;
}

int reliable_direct_put(struct unet_endpoint *ep, uint32_t rank, uint64_t rkey, const void *from,
                        void *to, size_t n)
{
    struct reliable_endpoint *r = reliable_of(ep);
    const uint16_t channel = channel_to(r, rank);
    int rc;

    if (!r->direct)
        return -EOPNOTSUPP;
    if (channel == 0 || n == 0 || n > RELIABLE_DIRECT_PIECES * reliable_direct_most(ep) ||
        !has_place(from) || !has_place(to))
        return -EINVAL;
    reliable_lock(r);
    rc = put_locked(r, channel, rkey, from, to, n);
    reliable_unlock(r);
    return rc;
}
