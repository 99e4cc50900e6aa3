/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.h - meetings of ranks that share cores.
 */
#ifndef SPLITC_GATE_H
#define SPLITC_GATE_H

#include "team.h"

/* A meeting in the current episode: the combination of all members' values. */
uint64_t splitc_gate_meet(struct splitc_team *t, enum splitc_collective what,
                          enum splitc_combine with, uint64_t value);

/* After a meeting: serve what was sent before it, if any member has sent anything. */
void splitc_gate_serve(struct splitc_team *t);

#endif
