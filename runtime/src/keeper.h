/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper.h - a thread that keeps a rank in touch with the network while it computes.
 *
 * It acknowledges, sends again what got lost and shows that the rank lives, so that nobody takes
 * a rank for dead that is busy.  It looks now and then, does nothing if the rank itself has
 * been at its messages, and runs no handlers.
 */
#ifndef SPLITC_KEEPER_H
#define SPLITC_KEEPER_H

void splitc_keeper_start(void);

/* Before the end of GAM.  Does nothing if none was started. */
void splitc_keeper_stop(void);

#endif
