/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xdp.h - the parts of the wire that is an AF_XDP socket.
 *
 *   xdp.c           the wire: buffers, rings, and the packet socket beside them
 *   xdp_program.c   which frames come this way
 */
#ifndef UNETNI_XDP_H
#define UNETNI_XDP_H

#include <linux/if_ether.h>
#include <stdbool.h>
#include <stdint.h>

/* Files; -1: none. */
struct xdp_program {
    int sockets; /* a map: by queue of the card */
    int ports;   /* a map: those of our endpoints */
    int program;
    int link;
};

/* Have frames of U-Net for ports of ours, to that address and of at most so many bytes, come to the
 * sockets of their queues.  NULL, or why not, and errno. */
const char *xdp_program_open(struct xdp_program *p, int interface, const uint8_t own[ETH_ALEN],
                             uint32_t most);

/* Also one whose opening has failed. */
void xdp_program_close(struct xdp_program *p);

/* 0 or -errno. */
int xdp_program_set_port(const struct xdp_program *p, uint16_t port, bool ours);

#endif
