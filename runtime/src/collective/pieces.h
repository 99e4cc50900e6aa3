/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pieces.h - what members send each other within an operation on arrays.
 *
 * operation.h has what algorithms use.
 */
#ifndef SPLITC_PIECES_H
#define SPLITC_PIECES_H

#include "round.h"

/* Those of a team, which has none at first. */
struct splitc_operations *splitc_operations_of(struct splitc_team *t);

/* Begin the current round. */
void splitc_operation_enter_round(struct splitc_operation *o);

/* Do what can be done.  Returns false if that was nothing. */
bool splitc_operation_move(struct splitc_operation *o);

/* End the job if others have sent to a complete operation what it did not take. */
void splitc_operation_check_ended(const struct splitc_operation *o);

#endif
