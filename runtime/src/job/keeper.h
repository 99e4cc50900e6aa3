/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper.h - threads that are there for the other ranks while this one computes.
 *
 * Where there is a network, one thread acknowledges packets, sends lost ones again and shows that
 * the rank is alive, so that a busy rank does not count as dead.  It looks periodically, and does
 * nothing if the rank has served messages itself since it last looked.
 *
 * With SPLITC_PROGRESS=thread or upcall another thread runs handlers whenever the program is not
 * inside the library (SPLITC_INSIDE).
 */
#ifndef SPLITC_KEEPER_H
#define SPLITC_KEEPER_H

struct unet_endpoint;

/* Start the threads that are needed.  The endpoints are those to the ranks of this node and of
 * other nodes, or NULL. */
void splitc_keeper_start(struct unet_endpoint *near, struct unet_endpoint *network);

/* Stop them, before GAM is closed.  Does nothing if none was started. */
void splitc_keeper_stop(void);

#endif
