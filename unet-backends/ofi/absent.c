/* SPDX-License-Identifier: BSD-3-Clause
 *
 * absent.c - the backend of a build that found no headers of libfabric.
 */
#include "core/core.h"

#include <errno.h>

static int absent_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    (void)config;
    (void)endpoint;
    return -EOPNOTSUPP;
}

static const struct unet_remedy absent_remedies[] = {
    {-EOPNOTSUPP, "this build has no libfabric: install its headers (Debian: libfabric-dev), run "
                  "cmake anew, and build again"},
    {0, NULL}};

/* Nobody gets an endpoint, so nothing else is ever called. */
const struct unet_ops unet_ofi_ops = {
    .name = "ofi",
    .network = true,
    .reliable = true,
    .remedies = absent_remedies,
    .open = absent_open,
};
