/* SPDX-License-Identifier: BSD-3-Clause
 *
 * local.h - which of this machine's addresses an endpoint has.
 */
#ifndef UNET_UDP_LOCAL_H
#define UNET_UDP_LOCAL_H

#include "udp/udp.h"

#include <ifaddrs.h>

/* The address that `text` names: an address; a network that has one of ours, as in 10.0.0.0/8;
 * an interface; or "auto": where the default route goes out, or else any interface, the loopback
 * one last.  Of several, the first IPv4 one.  Errors: -EINVAL `text` is none of these,
 * -EADDRNOTAVAIL no address of ours is there. */
int unet_udp_local(const char *text, union udp_sockaddr *local);

/* The same among `all`, for what is no plain address. */
int unet_udp_choose(const struct ifaddrs *all, const char *text, union udp_sockaddr *local);

#endif
