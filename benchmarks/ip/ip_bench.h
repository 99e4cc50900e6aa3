/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip_bench.h - the ways on which two processes exchange bytes.
 */
#ifndef IP_BENCH_H
#define IP_BENCH_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unet/unet.h>

#define BENCH_BYTES_MAX 65536u

/* What the two tell each other before they are connected. */
struct bench_meeting {
    struct unet_address endpoint[2];
    uint32_t ready[2];
    struct sockaddr_in at;
    uint32_t listening;
};

struct bench_way {
    const char *name;
    void (*open)(const char *backend, struct bench_meeting *meeting, unsigned me);
    void (*send)(size_t length);
    void (*receive)(size_t length);
};

extern uint8_t *bench_buffer;

const struct bench_way *bench_way(const char *name);
void bench_need(bool condition, const char *what); /* or end with a message */

#endif
