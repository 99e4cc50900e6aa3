/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net.h - two processes on two networks, or both on this machine's: what is measured, and how
 * they meet.
 *
 *   net.c       the two processes
 *   sockets.c    the limits: UDP, TCP and packet sockets with nobody's software on top
 *   endpoints.c  ours: U-Net endpoints with nothing above them
 *   alone.c      the same with both endpoints in one process
 *   crowd.c      polls of an endpoint with many peers
 *   messages.c   ours: active messages
 */
#ifndef NET_H
#define NET_H

#include "../micro/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unet/unet.h>

enum {
    WORDS = 4,         /* of 8 bytes, in a small message */
    BURST = 4096,      /* small messages one way */
    LONGEST = 1 << 20, /* of a stream's messages */
    BLOB = 128,        /* bytes that the sides tell each other */
    PATIENCE_S = 20,   /* for what may get lost */
    TAG = 7,           /* of channels, and both halves of the job's key */
};

extern int side;         /* 0 measures */
extern uint8_t *landing; /* LONGEST bytes, at the same address on both sides */
extern const char *interface;
extern const char *network[2]; /* of either side: a process that is there */

_Noreturn void die(const char *what);

/* Wait for the other side; or go on working until it is here. */
void meet(void);
void arrive(void);
bool both_are_here(void);

/* The time of n round trips, in ns.  Inline: what sends and takes is called directly. */
static inline __attribute__((always_inline)) double time_round_trips(long n, void (*send_it)(void),
                                                                     void (*take_it)(void))
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        if (side == 0)
            send_it();
        take_it();
        if (side == 1)
            send_it();
    }
    return now_ns() - start;
}

/* Collective: what the other side tells; BLOB bytes. */
void exchange(const void *mine, void *theirs);

/* Our address on the interface, in network order. */
uint32_t own_ip(void);

struct team team_of(double budget_ns);

/* What a mode measures; `sizes` of the streams' messages. */
typedef void mode_fn(const struct team *team, int count, char **sizes);

/* sockets.c */
mode_fn measure_udp, measure_udp_sizes, measure_tcp, measure_tcp_sizes, measure_tcp_puts;
mode_fn measure_packets;
/* messages.c; those called sizes measure round trips and streams for each size, layer by layer,
 * those called puts one put after the other, by one side and by both. */
mode_fn measure_our_udp, measure_our_udp_streams, measure_our_udp_header, measure_our_eth;
mode_fn measure_our_ofi, measure_our_udp_puts, measure_our_eth_puts, measure_our_ofi_puts;
mode_fn measure_shm_sizes, measure_our_udp_sizes, measure_our_eth_sizes;
mode_fn measure_our_atm_sizes, measure_our_ni_sizes;

/* Measure for each of the sizes, as "PREFIX_SIZE"; the batch function finds it in message_bytes.
 * A unit is per_unit messages. */
void measure_sizes(const struct team *team, const char *prefix, long per_unit, batch_fn *batch,
                   int count, char **sizes);
extern size_t message_bytes;

/* endpoints.c; `on` is a backend. */
void need(int error, const char *what); /* ends the program if it is negative */
void open_endpoint(const char *on, const struct unet_config *config);
void measure_endpoint(const struct team *team, const char *on);
void measure_endpoint_sizes(const struct team *team, const char *on, int count, char **sizes);
mode_fn measure_eth_endpoint, measure_ni_endpoint; /* polled and blocked round trips */
mode_fn measure_eth_alone, measure_ni_alone;       /* alone.c */
mode_fn measure_crowd;                             /* crowd.c */
extern struct unet_endpoint *ep;
extern struct unet_address endpoint_address[2];

#endif
