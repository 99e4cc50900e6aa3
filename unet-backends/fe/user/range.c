/* SPDX-License-Identifier: BSD-3-Clause
 *
 * range.c - exported ranges: the module exports, pins and grants, core/pins.c remembers.
 */
#include "fe/user/fe.h"

#include <errno.h>
#include <sys/ioctl.h>

/* ---- pinning ------------------------------------------------------------------------- */

static int call_module(const struct fe_endpoint *fe, unsigned long what,
                       const struct unet_pins_pages *pages)
{
    const struct unet_fe_pin request = {
        .range = pages->range, .pages = pages->count, .first = pages->first};

    return ioctl(fe->fd, what, &request) < 0 ? -errno : 0;
}

static int pages_pin(void *fe, const struct unet_pins_pages *pages)
{
    return call_module(fe, UNET_FE_PIN, pages);
}

static void pages_unpin(void *fe, const struct unet_pins_pages *pages)
{
    call_module(fe, UNET_FE_UNPIN, pages);
}

void unet_fe_ranges_init(struct fe_endpoint *fe)
{
    static const struct unet_pins_ops ops = {.pin = pages_pin, .unpin = pages_unpin};

    unet_pins_init(&fe->pins, &ops, fe);
}

void unet_fe_ranges_free(struct fe_endpoint *fe)
{
    unet_pins_free(&fe->pins);
}

/* ---- ranges ------------------------------------------------------------------------ */

static int range_end(struct unet_endpoint *ep, uint16_t n)
{
    struct fe_endpoint *fe = fe_of(ep);

    if (ioctl(fe->fd, UNET_FE_UNEXPORT, n) < 0)
        return -EINVAL;
    unet_pins_range_close(&fe->pins, n);
    return 0;
}

static int range_export(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range)
{
    struct fe_endpoint *fe = fe_of(ep);
    struct unet_fe_export request = {.address = (uintptr_t)address, .bytes = bytes};
    int error;

    if (bytes > UNET_PLACE_OFFSET)
        return -EINVAL;
    if (ioctl(fe->fd, UNET_FE_EXPORT, &request) < 0)
        return -errno;
    *range = (uint16_t)request.range;
    error = unet_pins_range_open(&fe->pins, *range, bytes);
    if (error)
        range_end(ep, *range);
    return error;
}

/* ---- holding ---------------------------------------------------------------------------- */

/* The module has told that the mapping of pinned pages has changed. */
static void look_for_changes(struct fe_endpoint *fe)
{
    const uint32_t stale = __atomic_load_n(&fe->shared->stale, __ATOMIC_ACQUIRE);

    if (stale == fe->stale)
        return;
    fe->stale = stale;
    unet_pins_distrust(&fe->pins);
}

static int place_hold(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    struct fe_endpoint *fe = fe_of(ep);

    look_for_changes(fe);
    return unet_pins_hold(&fe->pins, place, length);
}

static void place_release(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    unet_pins_release(&fe_of(ep)->pins, place, length);
}

/* ---- granting --------------------------------------------------------------------------- */

static int grant_give(struct unet_endpoint *ep, uint16_t channel, uint64_t place, uint64_t length,
                      uint64_t *key)
{
    struct unet_fe_grant request = {.channel = channel, .place = place, .bytes = length};

    if (ioctl(fe_of(ep)->fd, UNET_FE_GRANT, &request) < 0)
        return -errno;
    *key = request.key;
    return 0;
}

static int grant_end(struct unet_endpoint *ep, uint64_t key)
{
    return ioctl(fe_of(ep)->fd, UNET_FE_REVOKE, &key) < 0 ? -errno : 0;
}

const struct unet_range_ops unet_fe_range_ops = {
    .export_range = range_export,
    .end_range = range_end,
    .hold = place_hold,
    .release = place_release,
    .grant = grant_give,
    .revoke = grant_end,
};
