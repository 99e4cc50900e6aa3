/* SPDX-License-Identifier: BSD-3-Clause
 *
 * teams.h - the table of the teams of which this rank is a member.
 */
#ifndef SPLITC_TEAMS_H
#define SPLITC_TEAMS_H

#include "team.h"

/* Give a team a slot; false: there are too many, or no memory. */
bool splitc_team_enter(struct splitc_team *t);
void splitc_team_leave(struct splitc_team *t);

/* Whether it is one that cannot be freed. */
bool splitc_team_is_predefined(const struct splitc_team *t);

#endif
