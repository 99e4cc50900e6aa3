/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rest.c - how long loops of each kind spin and yield before they sleep.
 */
#include <unet/unet_rest.h>

/* Some 50 us, about as long as it takes to sleep and to be woken. */
const struct unet_rest_policy unet_rest_memory = {.spins = 2000, .yields = 64};

const struct unet_rest_policy unet_rest_network = {.spins = 64, .yields = 64};

const struct unet_rest_policy unet_rest_crowded = {.spins = 0, .yields = 64};

/* No room rings no bell: the sleep ends by its time alone, so it comes late. */
const struct unet_rest_policy unet_rest_room = {.spins = 63, .yields = 448};

/* Mostly four turns suffice, and to look at the queues of many ranks costs as much as a time slice.
 */
const struct unet_rest_policy unet_rest_meeting = {.spins = 0, .yields = 4};
