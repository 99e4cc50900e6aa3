/* SPDX-License-Identifier: BSD-3-Clause
 *
 * range.c - direct access: registered windows.
 *
 * A range is an address and a length.  Memory is registered when it is held or granted, and no
 * longer when that ends: providers have caches of registrations of their own, and watch the address
 * space for them.
 *
 * A grant is a memory region of its own.  The channel's peer is told of it, in order: what it has
 * to know is more than the 64 bits of a grant's number.  It writes with the channel's number as
 * data, and the receiver counts that; a note follows in order, and waits until as many writes have
 * landed as had been sent before it.
 */
#include "ofi/ofi.h"

#include <errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define SLOT_BITS 8 /* of a grant: where it is in the table */
UNET_ABI_ASSERT(UNET_GRANTS_MAX == 1u << SLOT_BITS);

/* ---- ranges --------------------------------------------------------------------------------- */

/* The address of a place, 0: it is not in a range of ours. */
static uint64_t address_of(const struct ofi_endpoint *oe, uint64_t place, uint64_t length)
{
    const uint64_t n = place >> 48, offset = place & UNET_PLACE_OFFSET;
    const struct ofi_range *range = n >= 1 && n <= UNET_RANGES_MAX ? &oe->range[n] : NULL;

    if (!range || length == 0 || offset > range->bytes || length > range->bytes - offset)
        return 0;
    return range->address + offset;
}

static int export_range(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    const uint64_t start = (uintptr_t)address, page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (!oe->fabric.writes)
        return -EOPNOTSUPP;
    if (bytes == 0 || bytes > UNET_PLACE_OFFSET || start % page != 0 || bytes % page != 0 ||
        start > UINT64_MAX - bytes)
        return -EINVAL;
    for (uint16_t n = 1; n <= UNET_RANGES_MAX; n++) {
        if (oe->range[n].bytes == 0) {
            oe->range[n] = (struct ofi_range){.address = start, .bytes = bytes};
            *range = n;
            return 0;
        }
    }
    return -ENOSPC;
}

/* ---- holding --------------------------------------------------------------------------------- */

/* What is held and has all of that memory, or NULL. */
static struct ofi_held *held_with(struct ofi_endpoint *oe, uint64_t address, uint64_t length)
{
    struct ofi_held *held = oe->held;

    while (held && (address < held->address || address - held->address > held->length ||
                    length > held->length - (address - held->address)))
        held = held->next;
    return held;
}

static int memory_register(const struct ofi_endpoint *oe, uint64_t address, uint64_t length,
                           uint64_t access, uint64_t key, struct fid_mr **mr)
{
    const int error =
        unet_ofi_register(&oe->fabric, (const void *)(uintptr_t)address, length, access, key, mr);

    return error == -ENOMEM || error == -EAGAIN || error == -ENOSPC ? -ENOBUFS : error;
}

static int hold(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    const uint64_t address = address_of(oe, place, length);
    struct ofi_held *held;
    int error = 0;

    if (address == 0)
        return -EINVAL;
    held = held_with(oe, address, length);
    if (held) {
        held->holders++;
        return 0;
    }
    held = calloc(1, sizeof *held);
    if (!held)
        return -ENOMEM;
    if (oe->fabric.registers)
        error = memory_register(oe, address, length, FI_WRITE, 0, &held->mr);
    if (error) {
        free(held);
        return error;
    }
    held->address = address;
    held->length = length;
    held->holders = 1;
    held->next = oe->held;
    oe->held = held;
    return 0;
}

static void held_free(struct ofi_held *held)
{
    if (held->mr)
        fi_close(&held->mr->fid);
    free(held);
}

static void release(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    const uint64_t address = address_of(oe, place, length);
    struct ofi_held *held = address ? held_with(oe, address, length) : NULL;
    struct ofi_held **at;

    if (!held || --held->holders > 0)
        return;
    for (at = &oe->held; *at != held; at = &(*at)->next)
        ;
    *at = held->next;
    held_free(held);
}

/* ---- granting ----------------------------------------------------------------------------- */

static struct ofi_grant *grant_free_slot(struct ofi_endpoint *oe)
{
    for (unsigned i = 0; i < UNET_GRANTS_MAX; i++)
        if (oe->grant[i].grant == 0)
            return &oe->grant[i];
    return NULL;
}

static struct ofi_grant *grant_of(struct ofi_endpoint *oe, uint64_t number)
{
    struct ofi_grant *grant = &oe->grant[number % UNET_GRANTS_MAX];

    return number != 0 && grant->grant == number && grant->mr ? grant : NULL;
}

static int grant_tell(struct ofi_endpoint *oe, const struct ofi_grant *grant, uint64_t address)
{
    const struct ofi_window window = {
        .grant = grant->grant,
        .place = grant->place,
        .length = grant->length,
        .key = fi_mr_key(grant->mr),
        .base = oe->fabric.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? address : 0,
    };

    return unet_ofi_send_note(oe, grant->channel, OFI_GRANT, &window, sizeof window);
}

/* The key is as random as the provider has room for, unless it makes its own. */
static int grant_fill(struct ofi_endpoint *oe, struct ofi_grant *grant, uint64_t address)
{
    const size_t key_bytes = oe->fabric.info->domain_attr->mr_key_size;
    uint64_t random[2];
    int error;

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -EIO;
    if (key_bytes < sizeof random[1])
        random[1] &= ((uint64_t)1 << 8 * key_bytes) - 1;
    error = memory_register(oe, address, grant->length, FI_REMOTE_WRITE, random[1], &grant->mr);
    if (error)
        return error;
    grant->grant = random[0] << SLOT_BITS | (uint64_t)(grant - oe->grant);
    if (grant->grant >> SLOT_BITS == 0)
        grant->grant |= 1u << SLOT_BITS;
    error = grant_tell(oe, grant, address);
    if (error)
        fi_close(&grant->mr->fid);
    return error;
}

/* A channel that takes no packet now is as good as a full table: who asked sends messages. */
static int give_grant(struct unet_endpoint *ep, uint16_t channel, uint64_t place, uint64_t length,
                      uint64_t *number)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    struct ofi_grant *grant = grant_free_slot(oe);
    const uint64_t address = address_of(oe, place, length);
    int error;

    if (!unet_is_channel(ep, channel) || address == 0)
        return -EINVAL;
    if (ep->channel[channel].state != UNET_OPEN)
        return -ENOTCONN;
    if (!grant)
        return -ENOSPC;
    *grant = (struct ofi_grant){.place = place, .length = length, .channel = channel};
    error = grant_fill(oe, grant, address);
    if (error) {
        *grant = (struct ofi_grant){0};
        return error == -EAGAIN ? -ENOSPC : error;
    }
    *number = grant->grant;
    return 0;
}

static void grant_end(struct ofi_endpoint *oe, struct ofi_grant *grant)
{
    fi_close(&grant->mr->fid);
    grant->mr = NULL;
    oe->link[grant->channel].revokes = true;
    unet_ofi_needs_attention(oe, grant->channel);
}

static int end_grant(struct unet_endpoint *ep, uint64_t number)
{
    struct ofi_endpoint *oe = ofi_of(ep);
    struct ofi_grant *grant = grant_of(oe, number);

    if (!grant)
        return -EINVAL;
    grant_end(oe, grant);
    unet_ofi_attend(oe);
    return 0;
}

/* Grants that end with their range are told like others. */
static int end_range(struct unet_endpoint *ep, uint16_t n)
{
    struct ofi_endpoint *oe = ofi_of(ep);

    if (n < 1 || n > UNET_RANGES_MAX || oe->range[n].bytes == 0)
        return -EINVAL;
    for (unsigned i = 0; i < UNET_GRANTS_MAX; i++)
        if (oe->grant[i].mr && oe->grant[i].place >> 48 == n)
            grant_end(oe, &oe->grant[i]);
    oe->range[n] = (struct ofi_range){0};
    return 0;
}

bool unet_ofi_tell_revoked(struct ofi_endpoint *oe, uint16_t n)
{
    for (unsigned i = 0; i < UNET_GRANTS_MAX; i++) {
        struct ofi_grant *grant = &oe->grant[i];

        if (grant->grant == 0 || grant->mr || grant->channel != n)
            continue;
        if (unet_ofi_send_note(oe, n, OFI_REVOKE, &grant->grant, sizeof grant->grant) != 0)
            return false;
        *grant = (struct ofi_grant){0};
    }
    return true;
}

/* By any grant that it has or had: the note of a write may be read late. */
bool unet_ofi_may_write(const struct ofi_endpoint *oe, uint16_t n, uint64_t place, uint64_t length)
{
    for (unsigned i = 0; i < UNET_GRANTS_MAX; i++) {
        const struct ofi_grant *g = &oe->grant[i];

        if (g->mr && g->channel == n && place >= g->place && place - g->place < g->length &&
            length <= g->length - (place - g->place))
            return true;
    }
    return false;
}

const struct unet_range_ops unet_ofi_range_ops = {
    .export_range = export_range,
    .end_range = end_range,
    .hold = hold,
    .release = release,
    .grant = give_grant,
    .revoke = end_grant,
};

/* ---- the peer's windows ------------------------------------------------------------------- */

static struct ofi_theirs **theirs_find(struct ofi_link *link, uint64_t grant)
{
    struct ofi_theirs **at = &link->theirs;

    while (*at && (*at)->window.grant != grant)
        at = &(*at)->next;
    return at;
}

/* A peer has so many at most: one that tells of more is wrong. */
bool unet_ofi_granted(struct ofi_link *link, const uint8_t *data, size_t bytes)
{
    struct ofi_theirs *theirs;

    if (bytes != sizeof theirs->window || link->theirs_count >= UNET_GRANTS_MAX)
        return false;
    theirs = malloc(sizeof *theirs);
    if (!theirs)
        return false;
    memcpy(&theirs->window, data, bytes);
    theirs->next = link->theirs;
    link->theirs = theirs;
    link->theirs_count++;
    return true;
}

static void theirs_remove(struct ofi_link *link, struct ofi_theirs **at)
{
    struct ofi_theirs *theirs = *at;

    *at = theirs->next;
    free(theirs);
    link->theirs_count--;
}

bool unet_ofi_revoked(struct ofi_link *link, const uint8_t *data, size_t bytes)
{
    struct ofi_theirs **at;
    uint64_t grant;

    if (bytes != sizeof grant)
        return false;
    memcpy(&grant, data, sizeof grant);
    at = theirs_find(link, grant);
    if (!*at)
        return false;
    theirs_remove(link, at);
    return true;
}

void unet_ofi_ranges_forget(struct ofi_endpoint *oe, uint16_t n)
{
    for (unsigned i = 0; i < UNET_GRANTS_MAX; i++) {
        struct ofi_grant *grant = &oe->grant[i];

        if (grant->grant == 0 || grant->channel != n)
            continue;
        if (grant->mr)
            fi_close(&grant->mr->fid);
        *grant = (struct ofi_grant){0};
    }
    while (oe->link[n].theirs)
        theirs_remove(&oe->link[n], &oe->link[n].theirs);
    oe->link[n].revokes = false;
}

void unet_ofi_ranges_free(struct ofi_endpoint *oe)
{
    for (uint32_t n = 1; n <= oe->ni.ep.config.channels; n++)
        unet_ofi_ranges_forget(oe, (uint16_t)n);
    while (oe->held) {
        struct ofi_held *next = oe->held->next;

        held_free(oe->held);
        oe->held = next;
    }
}

/* ---- writing ------------------------------------------------------------------------------ */

static bool window_has(const struct ofi_window *w, uint64_t place, uint64_t length)
{
    return place >= w->place && place - w->place < w->length &&
           length <= w->length - (place - w->place);
}

static int write_begin(struct ofi_endpoint *oe, const struct unet_desc *desc,
                       const struct ofi_held *held, const struct ofi_window *window,
                       struct ofi_op *op)
{
    struct ofi_link *link = &oe->link[desc->channel];
    void *from = (void *)(uintptr_t)address_of(oe, desc->local, desc->length);
    const uint64_t data = (uint64_t)link->peer_channel << 16 | (link->peer_token[0] & 0xffff);

    return (int)fi_writedata(
        oe->fabric.ep, from, desc->length, held->mr ? fi_mr_desc(held->mr) : NULL, data,
        link->address, window->base + (desc->remote - window->place), window->key, &op->context);
}

static int write_checked(struct ofi_endpoint *oe, const struct unet_desc *desc,
                         const struct ofi_held *held, const struct ofi_window *window,
                         uint32_t position)
{
    struct ofi_op *op = ofi_list_take(&oe->free_sends);
    int error;

    if (!op)
        return -EAGAIN;
    op->what = OFI_IS_WRITE;
    op->channel = desc->channel;
    op->token = oe->link[desc->channel].token[0];
    op->position = position;
    error = write_begin(oe, desc, held, window, op);
    if (error) {
        ofi_list_add(&oe->free_sends, op);
        if (error == -EAGAIN || error == -ENOMEM)
            return -EAGAIN;
        unet_ofi_gone(oe, desc->channel);
        return -EPIPE;
    }
    oe->under_way++;
    oe->link[desc->channel].writes++;
    return 0;
}

int unet_ofi_write(struct ofi_endpoint *oe, const struct unet_desc *desc, uint32_t position)
{
    const uint64_t from = address_of(oe, desc->local, desc->length);
    const struct ofi_held *held = from ? held_with(oe, from, desc->length) : NULL;
    struct ofi_theirs *theirs = *theirs_find(&oe->link[desc->channel], desc->grant);

    if (desc->length == 0)
        return -EINVAL;
    if (desc->length > UNET_MESSAGE_MAX - UNET_DIRECT_BYTES)
        return -EMSGSIZE;
    if (!held || !theirs || !window_has(&theirs->window, desc->remote, desc->length))
        return -EFAULT;
    return write_checked(oe, desc, held, &theirs->window, position);
}
