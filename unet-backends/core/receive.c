/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - the receiving calls of all backends.
 */
#include "core/core.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { QUEUED_MS = 1 }; /* of sleep while messages are queued */

static bool is_in_segment(uint64_t offset, uint64_t length, uint32_t segment_bytes)
{
    return offset <= segment_bytes && length <= segment_bytes - offset;
}

int unet_check_pieces(const struct unet_desc *desc, uint32_t segment_bytes)
{
    uint64_t sum = 0;

    if (desc->pieces < 1 || desc->pieces > UNET_PIECES_MAX)
        return -EINVAL;
    for (unsigned i = 0; i < desc->pieces; i++) {
        if (!is_in_segment(desc->piece[i].offset, desc->piece[i].length, segment_bytes))
            return -EFAULT;
        sum += desc->piece[i].length;
    }
    if (sum > UNET_MESSAGE_MAX)
        return -EMSGSIZE;
    return sum == desc->length && sum > 0 ? 0 : -EINVAL;
}

/* Rows are at addresses that need not be in the same object. */
void unet_place_copy(struct unet_place *place, const void *from, size_t length)
{
    const uint8_t *next = from;

    while (length > place->left) {
        const uint64_t row = (uint64_t)(uintptr_t)place->to + place->left - place->bytes;

        memcpy(place->to, next, place->left);
        next += place->left;
        length -= place->left;
        place->to = (uint8_t *)(uintptr_t)(row + place->stride);
        place->left = place->bytes;
    }
    if (length > 0)
        memcpy(place->to, next, length);
    place->to += length;
    place->left -= length;
}

/* Whether the copied descriptor may be shown to the application.  What is wrong with it is counted.
 */
static bool rx_is_acceptable(struct unet_endpoint *ep, uint32_t ring)
{
    const struct unet_desc *desc = &ep->rx_desc;

    if (ring == 0 || unet_rx_plain(desc, ring))
        return true; /* ring 0 has completions, written by our own NI */
    if (desc->channel != ring) {
        ep->stats.foreign++;
        return false;
    }
    if (desc->kind == UNET_DIRECT && desc->pieces == 0 && ep->ops->ranges)
        return true; /* the NI has checked and placed it */
    if (desc->kind == UNET_PLACED && ep->ops->packets)
        return true; /* and so here */
    if ((desc->kind == UNET_PIECES || desc->kind == UNET_DIRECT) &&
        unet_check_pieces(desc, ep->config.segment_bytes) == 0)
        return true;
    ep->stats.malformed++;
    return false;
}

bool unet_rx_check(struct unet_endpoint *ep, uint32_t ring)
{
    struct unet_ring *rx = &ep->rx[ring];

    /* At most one lap, so that a sender of nonsense cannot keep the receiver in this loop. */
    for (uint32_t left = rx->mask + 1; left > 0; left--) {
        const struct unet_desc *next;

        if (rx_is_acceptable(ep, ring))
            return true;
        unet_ring_release(rx);
        next = unet_ring_peek(rx);
        if (!next)
            break;
        ep->rx_desc = *next;
    }
    return false;
}

/* The first ring from `from` on whose bit is set; rx_rings: there is none. */
static uint32_t rx_find_filled(const struct unet_endpoint *ep, uint32_t from)
{
    uint64_t mask = ~UINT64_C(0) << from % 64;

    for (uint32_t word = from / 64; word * 64 < ep->rx_rings; word++) {
        const uint64_t bits = __atomic_load_n(&ep->rx_filled[word], __ATOMIC_ACQUIRE) & mask;

        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
        mask = ~UINT64_C(0);
    }
    return ep->rx_rings;
}

/* Whoever fills the ring sets the bit afterwards, so a ring that is empty is looked at once more
 * when its bit is gone. */
static const struct unet_desc *rx_peek_or_clear(struct unet_endpoint *ep, uint32_t i)
{
    const struct unet_desc *desc = unet_ring_peek(&ep->rx[i]);

    if (desc)
        return desc;
    __atomic_fetch_and(&ep->rx_filled[i / 64], ~(UINT64_C(1) << i % 64), __ATOMIC_SEQ_CST);
    desc = unet_ring_peek(&ep->rx[i]);
    if (desc)
        unet_rx_mark_filled(ep, i);
    return desc;
}

const struct unet_desc *unet_rx_peek_filled(struct unet_endpoint *ep)
{
    uint32_t from = ep->rx_next;

    for (uint32_t left = ep->rx_rings; left > 0; left--) {
        uint32_t i = rx_find_filled(ep, from);
        const struct unet_desc *desc;

        if (i >= ep->rx_rings && from > 0)
            i = rx_find_filled(ep, 0);
        if (i >= ep->rx_rings)
            return NULL;
        desc = rx_peek_or_clear(ep, i);
        if (desc) {
            ep->rx_next = i;
            ep->rx_desc = *desc;
            if (unet_rx_plain(&ep->rx_desc, i) || unet_rx_check(ep, i))
                return &ep->rx_desc;
        }
        from = i + 1 < ep->rx_rings ? i + 1 : 0;
    }
    return NULL;
}

int unet_free_put(struct unet_endpoint *ep, uint32_t offset, uint32_t length)
{
    struct unet_desc *slot;

    if (length == 0 || !is_in_segment(offset, length, ep->config.segment_bytes))
        return -EINVAL;
    slot = unet_ring_reserve(&ep->free);
    if (!slot)
        return -EAGAIN;
    /* One atomic word: a sender that lost the race for the slot's previous
     * contents may be reading it. */
    __atomic_store_n(&slot->word[0], (uint64_t)length << 32 | offset, __ATOMIC_RELAXED);
    unet_ring_submit(&ep->free);
    return 0;
}

/* ---- sleeping -------------------------------------------------------------- */

bool unet_rx_almost_full(const struct unet_endpoint *ep)
{
    for (uint32_t i = 1; i < ep->rx_rings; i++) {
        const struct unet_ring *rx = &ep->rx[i];
        uint32_t turn = rx->position + unet_ring_brim(rx->mask); /* of the slot below the brim */
        const struct unet_desc *slot = &rx->shared->slot[(turn - 1) & rx->mask];

        if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == turn)
            return true;
    }
    return false;
}

static int endpoint_may_sleep(const struct unet_endpoint *ep)
{
    if (ep->config.polled)
        return -EOPNOTSUPP;
    return ep->upcall ? -EBUSY : 0;
}

int unet_wait(struct unet_endpoint *ep, int timeout_ms)
{
    int error = endpoint_may_sleep(ep);

    return error ? error : ep->ops->wait(ep, timeout_ms);
}

int unet_fd(const struct unet_endpoint *ep)
{
    return ep->config.polled ? -EOPNOTSUPP : ep->fd;
}

int unet_timeout_while_queued(const struct unet_endpoint *ep, int timeout_ms)
{
    return unet_sent(ep, ep->tx.position) || timeout_ms < QUEUED_MS ? timeout_ms : QUEUED_MS;
}

static int arm_bell(struct unet_endpoint *ep)
{
    unet_bell_arm(ep, UNET_NONEMPTY);
    if (!unet_rx_peek(ep))
        return 0;
    unet_bell_disarm(ep);
    return 1;
}

int unet_arm(struct unet_endpoint *ep, int *timeout_ms)
{
    int ms = timeout_ms && *timeout_ms >= 0 ? *timeout_ms : INT_MAX;
    int rc = endpoint_may_sleep(ep);

    if (rc)
        return rc;
    if (ep->ops->packets)
        rc = timeout_ms ? ep->ops->packets->arm(ep, &ms) : -EINVAL;
    else
        rc = arm_bell(ep);
    if (rc == 0 && timeout_ms) {
        ms = unet_timeout_while_queued(ep, ms);
        *timeout_ms = ms < INT_MAX ? ms : -1;
    }
    return rc;
}

void unet_disarm(struct unet_endpoint *ep)
{
    if (endpoint_may_sleep(ep))
        return;
    if (ep->ops->packets) {
        ep->ops->packets->disarm(ep);
        return;
    }
    unet_bell_disarm(ep);
    unet_bell_drain(ep->bell[0]);
    ep->ops->state(ep, 0);
}
