/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tun.h - a network interface of the kernel's whose packets this process has.
 */
#ifndef IP_TUN_H
#define IP_TUN_H

#include <netinet/in.h>
#include <stdint.h>

/* Make the interface and bring it up.  Returns its descriptor, or -errno. */
int ip_tun_open(const char *name, struct in_addr address, unsigned prefix, uint32_t mtu);

#endif
