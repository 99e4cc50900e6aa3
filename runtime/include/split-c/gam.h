/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gam.h - this processor's instance of active messages, for libraries over GAM such as vmmc.
 */
#ifndef SPLITC_GAM_H
#define SPLITC_GAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gam;

/* The instance by which this processor reaches the others, and the first of so many indices of its
 * handler table, which are the caller's from now on.  Every processor has to call this for the same
 * libraries in the same order, so that an index means the same on each.
 *
 * The instance stays the runtime's: whoever waits in Split-C runs the handlers of libraries, too.
 * It is the main thread's, so with SPLITC_PROGRESS=thread or upcall, and where no indices are left,
 * this ends the job with a message.  What uses it has to be closed before the program ends. */
extern struct gam *splitc_gam(uint32_t handlers, uint32_t *first);

#ifdef __cplusplus
}
#endif
#endif
