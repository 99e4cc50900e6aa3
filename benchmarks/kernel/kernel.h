/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kernel.h - two machines on one Ethernet: what is measured, and how.
 *
 *   kernel.c     the two machines, round trips and streams
 *   sockets.c    UDP, TCP and packet sockets
 *   endpoints.c  U-Net endpoints of the kernel module, and active messages over one
 *   pins.c       pages that direct access has pinned
 */
#ifndef KERNEL_BENCH_H
#define KERNEL_BENCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LONGEST = 1472, /* what all of them can carry in a frame */
    BLOB = 128,     /* bytes that the sides tell each other */
};

/* A way for messages to get to the other machine.  All are open at once. */
struct method {
    const char *name;
    bool streams; /* any length may be sent, also one way */
    void (*open)(void);
    /* Send that many bytes of `payload`; false: there is no room now. */
    bool (*put)(uint32_t length);
    /* Take a message of that length into `landing`; false: none is here yet. */
    bool (*take)(uint32_t length);
};

extern const struct method udp_method, tcp_method, packet_method;
extern const struct method fe_method, fe_pieces_method, gam_method;

/* Lines "pins WHAT PAGES NS": to hold pages that are pinned (hit) and that are not (miss), and to
 * put one page that is. */
void pins_open(void);
void pins_round(void);

extern int side; /* 0 measures */
extern const char *interface;
extern uint8_t payload[LONGEST], landing[LONGEST];

_Noreturn void die(const char *what);

/* Wait for the other side. */
void meet(void);

/* What the other side tells; BLOB bytes. */
void exchange(const void *mine, void *theirs);

/* Meets without a pause in what keeps the method going. */
void arrive(void);
bool other_is_here(void);

#endif
