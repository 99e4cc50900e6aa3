/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packet_port.h - a packet socket with a ring of arrivals: the least that the kernel asks of who
 * sends frames from user space.
 */
#ifndef PACKET_PORT_H
#define PACKET_PORT_H

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct packet_port {
    int fd;
    struct sockaddr_ll far_end;
    uint8_t *ring;
    uint32_t next_slot;
};

/* Open the port on an interface and tell its own address.  It takes CAP_NET_RAW.
 * Returns NULL, or what did not work, with errno. */
const char *packet_port_open(struct packet_port *p, const char *interface, uint8_t own[ETH_ALEN]);

/* Name the other side; from now on frames arrive.  Errors as above. */
const char *packet_port_connect(struct packet_port *p, const uint8_t theirs[ETH_ALEN]);

/* As sendto returns. */
ssize_t packet_port_send(const struct packet_port *p, const void *data, uint32_t length, int flags);

/* Copy out a frame's first `length` bytes; false: none is here yet. */
bool packet_port_take(struct packet_port *p, void *to, uint32_t length);

#endif
