/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct_path.h - how the pieces of a direct put get to the other rank's memory.
 *
 * An endpoint in front of a network that loses messages does it by way of its protocol
 * (reliable/reliable.h), and what has landed is compared.  One that is reliable itself does it
 * alone, and alters nothing.
 */
#ifndef SPLITC_DIRECT_PATH_H
#define SPLITC_DIRECT_PATH_H

#include "runtime.h"

/* No entry is NULL.  Each is as the function of its name in reliable.h (reliable_direct_open and so
 * on) says. */
struct splitc_direct_path {
    int (*open)(struct unet_endpoint *ep);
    size_t (*most)(const struct unet_endpoint *ep);
    int (*grant)(struct unet_endpoint *ep, uint32_t rank, const void *address, size_t n,
                 uint64_t *rkey);
    int (*revoke)(struct unet_endpoint *ep, const void *address, size_t n, uint64_t rkey);
    int (*pin)(struct unet_endpoint *ep, const void *address, size_t n);
    void (*unpin)(struct unet_endpoint *ep, const void *address, size_t n);
    int (*put)(struct unet_endpoint *ep, uint32_t rank, uint64_t rkey, const void *from, void *to,
               size_t n);
    uint64_t (*mac)(const struct unet_endpoint *ep, uint64_t rkey, const void *address, size_t n);
};

/* That of the endpoint to other nodes, which there is. */
const struct splitc_direct_path *splitc_direct_path(void);

#endif
