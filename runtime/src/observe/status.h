/* SPDX-License-Identifier: BSD-3-Clause
 *
 * status.h - writes the status page (split-c/status.h).
 */
#ifndef SPLITC_STATUS_PAGE_H
#define SPLITC_STATUS_PAGE_H

#include "observe/observe.h"

/* Find this rank's page.  Without a page, nobody sees what is written. */
void splitc_status_open(void);

/* Whether there is a page.  May be called in a signal handler. */
bool splitc_status_is_seen(void);

void splitc_status_wait_continued(const struct splitc_event *e);
void splitc_status_wait_slept(const struct splitc_event *e);
void splitc_status_wait_ended(const struct splitc_event *e);
void splitc_status_arrived(const struct splitc_event *e);

/* May be called in a signal handler. */
void splitc_status_fault(const struct splitc_event *e);

#endif
