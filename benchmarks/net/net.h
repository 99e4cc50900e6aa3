/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net.h - two processes on two networks, or both on this machine's: what is measured, and how
 * they meet.
 *
 *   net.c       the two processes
 *   sockets.c   the limits: UDP, TCP and packet sockets with nobody's software on top
 *   messages.c  ours: U-Net endpoints, and active messages over them
 */
#ifndef NET_H
#define NET_H

#include "../micro/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORDS = 4,         /* of 8 bytes, in a small message */
    BURST = 4096,      /* small messages one way */
    LONGEST = 1 << 20, /* of a stream's messages */
    BLOB = 128,        /* bytes that the sides tell each other */
    PATIENCE_S = 20,   /* for what may get lost */
};

extern int side;         /* 0 measures */
extern uint8_t *landing; /* LONGEST bytes, at the same address on both sides */
extern const char *interface;

_Noreturn void die(const char *what);

/* Wait for the other side; or go on working until it is here. */
void meet(void);
void arrive(void);
bool both_are_here(void);

/* Collective: what the other side tells; BLOB bytes. */
void exchange(const void *mine, void *theirs);

/* Our address on the interface, in network order. */
uint32_t own_ip(void);

struct team team_of(double budget_ns);

/* What a mode measures; `sizes` of the streams' messages. */
typedef void mode_fn(const struct team *team, int count, char **sizes);

mode_fn measure_udp, measure_tcp, measure_packets;                 /* sockets.c */
mode_fn measure_our_udp, measure_our_udp_streams, measure_our_eth; /* messages.c */

/* A batch function for each size, and the metric's name. */
void measure_streams(const struct team *team, const char *prefix, batch_fn *stream, int count,
                     char **sizes);
extern size_t stream_bytes;

#endif
