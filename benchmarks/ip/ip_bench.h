/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip_bench.h - the ways on which two processes exchange bytes.
 *
 *   ip_bench.c  the two processes and the clock
 *   messages.c  messages of U-Net
 *   stack.c     TCP and UDP of libunet-ip
 *   kernel.c    the kernel's TCP and UDP
 */
#ifndef IP_BENCH_H
#define IP_BENCH_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unet/unet.h>
#include <unet/unet_rest.h>

enum {
    BENCH_BYTES_MAX =
        1 << 20, /* of a write, or of all that is sent between two looks at the clock */
    BENCH_DATAGRAM_MAX = 8192,
    BENCH_PORT = 7000,
    BENCH_LIMIT_MS = 3000, /* no send or receive takes longer */
};

/* What the two tell each other before they are connected. */
struct bench_meeting {
    struct unet_address endpoint[2];
    uint32_t ready[2];
    struct sockaddr_in at[2];
    uint32_t listening;
};

/* No entry is NULL. */
struct bench_way {
    const char *name;
    bool datagrams; /* what is sent may be lost, so somebody has to see that there is room for it */
    void (*open)(const char *backend, struct bench_meeting *meeting, unsigned me);
    /* So many messages or writes of `length` bytes.  All are sent before it returns. */
    void (*send)(size_t length, unsigned times);
    /* As many bytes, or one datagram. */
    void (*receive)(size_t length);
};

extern const struct bench_way bench_messages, bench_tcp, bench_udp, bench_kernel_tcp,
    bench_kernel_udp;

extern uint8_t *bench_buffer; /* BENCH_BYTES_MAX bytes to send, and room for as many */

void bench_need(bool condition, const char *what); /* or end with a message */

/* How long one has been looking for something. */
struct bench_patience {
    uint32_t looks;
    double since_ns;
};

/* After a look in vain: yield now and then, and end the run when it has been too long. */
void bench_rest(struct bench_patience *p, const struct unet_rest_policy *policy);

void bench_await(const uint32_t *flag);
void bench_raise(uint32_t *flag);

/* An endpoint with the configuration of a stack, and its channel to the other process'. */
struct bench_link {
    struct unet_endpoint *ep;
    uint16_t channel;
};

struct bench_link bench_link_open(const char *backend, struct bench_meeting *meeting, unsigned me);

#endif
