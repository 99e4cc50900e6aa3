/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stats.h - SPLITC_STATS=1: what each rank sent, received and waited for, told by
 * processor 0 when all are at their ends.
 *
 * Nothing is counted on the way of a direct access.
 */
#ifndef SPLITC_STATS_H
#define SPLITC_STATS_H

#include "runtime.h"

/* Learn whether they are wanted. */
void splitc_stats_init(void);

/* A wait is over that was timed. */
void splitc_stats_waited(const struct splitc_wait *w);

/* Collective, when all ranks have met at their ends. */
void splitc_stats_tell(void);

#endif
