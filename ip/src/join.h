/* SPDX-License-Identifier: BSD-3-Clause
 *
 * join.h - what a program and a gateway say to each other: one message each way over a Unix socket
 * that keeps messages apart.  Both are on one machine, so the structures go as they are.
 */
#ifndef IP_JOIN_H
#define IP_JOIN_H

#include <stdint.h>
#include <unet/unet.h>

#define IP_JOIN_MAGIC 0x31504955u /* "UIP1" */

struct ip_join_request {
    uint32_t magic;
    struct unet_address endpoint;
};

struct ip_join_reply {
    uint32_t magic;
    int32_t error;    /* errno value; 0: welcome */
    uint32_t address; /* of the program, network order */
    uint32_t mtu;
    uint64_t tag;
    struct unet_address endpoint;
};

#endif
