/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stats.h - SPLITC_STATS=1: what each rank sent, received and waited for.  Processor 0 prints it
 * when all ranks are at their ends.
 *
 * Direct accesses are not counted.
 */
#ifndef SPLITC_STATS_H
#define SPLITC_STATS_H

#include "observe/observe.h"

void splitc_stats_open(void);
void splitc_stats_wait_ended(const struct splitc_event *e);
void splitc_stats_report(uint64_t stored, splitc_await_fn *await);

#endif
