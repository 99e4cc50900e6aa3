/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hostile.h - streams whose peer is another thread, or an enemy.
 */
#ifndef SOCKETS_TEST_HOSTILE_H
#define SOCKETS_TEST_HOSTILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Make random calls on one end of an upgraded connection whose peer writes garbage into the words
 * of the shared segment and into TCP, between the calls and (`meanwhile`) during them.  Returns how
 * many connections it has spoilt, or -1 if a call returned more than it was asked for, or wrote
 * where it should not. */
int hostile_run(unsigned seed, unsigned calls, int meanwhile);

/* Send so many bytes each way between two threads, in pieces of random sizes; returns how many
 * arrived wrong, or -1 if a call failed. */
long hostile_stream(unsigned seed, size_t bytes);

/* Send bytes one by one, of which Nagle's algorithm holds most back, to a thread that begins to
 * receive late.  Returns whether any went by the ring, or -1 if a call failed. */
int hostile_comes_to_the_ring(void);

#ifdef __cplusplus
}
#endif

#endif
