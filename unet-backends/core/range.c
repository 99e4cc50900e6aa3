/* SPDX-License-Identifier: BSD-3-Clause
 *
 * range.c - direct access to ranges of the address space, as far as backends have it in common.
 */
#include "core/core.h"

#include <errno.h>

int unet_export(struct unet_endpoint *ep, void *address, uint64_t bytes, uint16_t *range)
{
    if (!ep->ops->ranges)
        return -EOPNOTSUPP;
    return ep->ops->ranges->export_range(ep, address, bytes, range);
}

int unet_unexport(struct unet_endpoint *ep, uint16_t range)
{
    if (!ep->ops->ranges)
        return -EOPNOTSUPP;
    return ep->ops->ranges->end_range(ep, range);
}

int unet_hold(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    if (!ep->ops->ranges)
        return -EOPNOTSUPP;
    return ep->ops->ranges->hold(ep, place, length);
}

void unet_release(struct unet_endpoint *ep, uint64_t place, uint64_t length)
{
    if (ep->ops->ranges)
        ep->ops->ranges->release(ep, place, length);
}

int unet_grant(struct unet_endpoint *ep, uint16_t channel, uint64_t place, uint64_t length,
               uint64_t *grant)
{
    if (!ep->ops->ranges)
        return -EOPNOTSUPP;
    return ep->ops->ranges->grant(ep, channel, place, length, grant);
}

int unet_revoke(struct unet_endpoint *ep, uint64_t grant)
{
    if (!ep->ops->ranges)
        return -EOPNOTSUPP;
    return ep->ops->ranges->revoke(ep, grant);
}

static int put_prepare(struct unet_endpoint *ep, uint16_t channel, uint64_t local, uint64_t grant,
                       struct unet_desc *desc)
{
    if (!ep->ops->ranges)
        return -EOPNOTSUPP;
    desc->channel = channel;
    desc->kind = UNET_DIRECT;
    desc->local = local;
    desc->grant = grant;
    return unet_may_send(ep, channel);
}

int unet_put(struct unet_endpoint *ep, uint16_t channel, uint32_t user, uint64_t local,
             uint32_t length, uint64_t remote, uint64_t grant, uint32_t *ticket)
{
    struct unet_desc desc = {.length = length, .user = user, .remote = remote};
    const int error = put_prepare(ep, channel, local, grant, &desc);

    return error ? error : unet_push(ep, &desc, ticket);
}

int unet_put_more(struct unet_endpoint *ep, uint16_t channel, uint32_t user, uint64_t local,
                  uint32_t length, uint64_t remote, uint64_t grant, uint32_t *ticket)
{
    struct unet_desc desc = {.length = length, .user = user, .remote = remote};
    const int error = put_prepare(ep, channel, local, grant, &desc);

    return error ? error : unet_enqueue(ep, &desc, ticket);
}
