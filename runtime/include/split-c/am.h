/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am.h - active messages of a Split-C program's own.
 *
 * The am_* calls are those of <gam/am.h>, over the instance that the runtime
 * uses itself: am_enable(splitc_gam()) once, am_register each handler under an
 * index of SPLITC_AM_FIRST or more, barrier(), and go.  Handlers run whenever the
 * program waits or polls; they call nothing of split-c.h.
 */
#ifndef SPLITC_AM_H
#define SPLITC_AM_H

#include <gam/am.h>

#define SPLITC_AM_FIRST 64 /* the handlers below are the runtime's */

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime's instance; it stays the runtime's. */
struct gam *splitc_gam(void);

#ifdef __cplusplus
}
#endif
#endif
