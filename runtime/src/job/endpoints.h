/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoints.h - a rank's U-Net endpoints.
 *
 * One endpoint reaches the ranks of this node, and is all that a job of one rank has; the other one
 * reaches the ranks of other nodes.  SPLITC_BACKEND names their backends.  A network may serve all
 * ranks, and then each rank counts as a node of its own.
 */
#ifndef SPLITC_ENDPOINTS_H
#define SPLITC_ENDPOINTS_H

#include <reliable/reliable.h>
#include <stdbool.h>
#include <stdint.h>

struct splitc_boot;
struct unet_address;
struct unet_endpoint;

struct splitc_endpoints {
    struct unet_endpoint *near;    /* to ranks of this node; NULL: none is needed */
    struct unet_endpoint *network; /* to ranks of other nodes; the same */
};

/* Open them.  The other ranks hear of their addresses by splitc_boot_publish.  Errors end the
 * process. */
void splitc_endpoints_open(const struct splitc_boot *boot, struct splitc_endpoints *endpoints);

/* Put a reliable endpoint in front of that to the network, if it is not reliable itself, after
 * splitc_boot_publish.  Errors end the process. */
void splitc_endpoints_protect(struct splitc_endpoints *endpoints,
                              const struct reliable_config *config);

/* A gam_resolve_fn, after splitc_boot_publish. */
int splitc_endpoints_resolve(void *arg, uint32_t rank, struct unet_address *address);

/* The first rank of each node, in ascending order, after all ranks were resolved.  Returns how many
 * nodes there are. */
uint32_t splitc_endpoints_nodes(const uint32_t **first);

void splitc_endpoints_close(const struct splitc_endpoints *endpoints);

#endif
