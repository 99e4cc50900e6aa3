/* SPDX-License-Identifier: BSD-3-Clause
 *
 * local.h - which of this machine's addresses and interfaces an endpoint has.
 */
#ifndef UNET_LOCAL_H
#define UNET_LOCAL_H

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>

union unet_sockaddr {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
};

/* The beginning of a remedy when no endpoint can be opened where UNET_INTERFACE says. */
#define UNET_INTERFACE_NAMES "UNET_INTERFACE (unetrun --net, --iface) has to name "

/* The value of UNET_INTERFACE, or `otherwise`. */
const char *unet_local_wish(const char *otherwise);

/* The address that `text` names: an address; a network that has one of ours, as in 10.0.0.0/8;
 * an interface; or "auto": where the default route goes out, or else any interface, the loopback
 * one last.  Of several, the first IPv4 one.  Errors: -EINVAL `text` is none of these,
 * -EADDRNOTAVAIL no address of ours is there. */
int unet_local(const char *text, union unet_sockaddr *local);

/* As unet_local, among the interfaces `all`, for a text that is no plain address. */
int unet_local_choose(const struct ifaddrs *all, const char *text, union unet_sockaddr *local);

/* The interface that `text` names: by its own name, by what unet_local takes, or "auto", where the
 * default route goes out, or else the first Ethernet that runs.  Whether an interface of that name
 * exists is not looked at.  Errors: -ENODEV none has that address, or a name is too long. */
int unet_local_interface(const char *text, char name[IF_NAMESIZE]);

/* The interface among `all` that has the address, or NULL. */
const struct ifaddrs *unet_local_owner(const struct ifaddrs *all,
                                       const union unet_sockaddr *address);

/* Writes the network of the interface's first address, IPv4 if it has one ("10.0.0.0/8"), to
 * `text`, which has room for UNET_NETWORK_MAX.  False: no other machine can be in a network of this
 * interface. */
bool unet_local_network(const struct ifaddrs *all, const char *name, char *text);

#endif
