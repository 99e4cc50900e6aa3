/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pieces.h - what members send each other within an operation on arrays.
 *
 * operation.h has what algorithms use.
 */
#ifndef SPLITC_PIECES_H
#define SPLITC_PIECES_H

#include "round.h"

/* Begin the current round. */
void splitc_operation_enter_round(struct splitc_operation *o);

/* Do what can be done.  Returns false if that was nothing. */
bool splitc_operation_move(struct splitc_operation *o);

#endif
