/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pause.h - what a processor is told in a loop that waits for another one, and the time.
 */
#ifndef SOCKETS_PAUSE_H
#define SOCKETS_PAUSE_H

#include <stdint.h>
#include <time.h>

static inline void sockets_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static inline uint64_t sockets_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* How long it is to a time; 0: that has passed. */
static inline uint64_t sockets_ns_until(uint64_t end)
{
    const uint64_t now = sockets_now_ns();

    return now < end ? end - now : 0;
}

#endif
