/* SPDX-License-Identifier: BSD-3-Clause
 *
 * status.h - the status page (split-c/status.h) as the runtime writes it.
 */
#ifndef SPLITC_STATUS_PAGE_H
#define SPLITC_STATUS_PAGE_H

#include <split-c/status.h>

struct splitc_wait;

/* Find our page.  Without one, nobody sees what we write. */
void splitc_status_open(void);

/* We look once more whether a wait is over: tell of it. */
void splitc_status_waits(struct splitc_wait *w);

/* It lasts: tell what else is under way, and where it began. */
void splitc_status_counts(void);

/* It is over. */
void splitc_status_runs(void);

/* Messages came in a wait. */
void splitc_status_arrived(uint64_t messages);

/* We are about to die for what the instruction at pc does.  May be called in a signal handler. */
void splitc_status_fault(uint64_t pc);

#endif
