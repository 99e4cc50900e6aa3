/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoints.h - a rank's U-Net endpoints: the ways that lead to the others.
 *
 * Ranks of one node reach each other by one, which a job of one rank has alone; the ranks of
 * other nodes are reached by the other.  SPLITC_BACKEND names the backends; one that is a network
 * may do for all, and then every rank counts as a node of its own.
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
    struct unet_endpoint *network; /* to the others; the same */
};

/* Open them, and have the others told where they are by splitc_boot_publish.  Errors end the
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
