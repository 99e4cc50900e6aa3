/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper.h - threads that are there for the other ranks while this one computes.
 *
 * Where there is a network one acknowledges, sends again what got lost and shows that the rank
 * lives, so that nobody takes a rank for dead that is busy.  It looks now and then, and does
 * nothing if the rank itself has been at its messages.
 *
 * With SPLITC_PROGRESS=thread or upcall another runs handlers, whenever the program is not inside
 * the library (SPLITC_INSIDE).
 */
#ifndef SPLITC_KEEPER_H
#define SPLITC_KEEPER_H

struct unet_endpoint;

/* Start those that are needed.  The endpoints are those to the ranks of this node and of others, or
 * NULL. */
void splitc_keeper_start(struct unet_endpoint *near, struct unet_endpoint *network);

/* Before the end of GAM.  Does nothing if none was started. */
void splitc_keeper_stop(void);

#endif
