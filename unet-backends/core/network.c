/* SPDX-License-Identifier: BSD-3-Clause
 *
 * network.c - what backends share between whose endpoints there is a network.
 */
#include "core/core.h"

#include <time.h>

uint64_t unet_direction_key(uint64_t tag, uint64_t from, uint64_t to)
{
    return unet_mix(tag ^ unet_mix(from ^ unet_mix(to)));
}

uint64_t unet_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void unet_drop_unread(struct unet_ring *rx)
{
    while (unet_ring_peek(rx))
        unet_ring_release(rx);
}
