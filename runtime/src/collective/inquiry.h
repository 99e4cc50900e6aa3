/* SPDX-License-Identifier: BSD-3-Clause
 *
 * inquiry.h - a member that has waited long in a collective call asks those it waits for whether
 * they make that call at all.
 *
 * Blocking calls of single values (episodes) and operations on arrays are counted apart.  As all
 * members make the same calls in the same order, one of two members is ahead of the other in both
 * counts, or they make different calls.  A member that has ended is not going to make a call that
 * it has not begun.  The question is asked once for each wait, so it does not hide a deadlock.
 */
#ifndef SPLITC_INQUIRY_H
#define SPLITC_INQUIRY_H

#include "access/access.h"
#include "team.h"

/* A call by its place among those of a team. */
struct splitc_call {
    enum splitc_collective what;
    uint64_t episode;   /* blocking calls begun, this one included */
    uint64_t operation; /* operations begun, this one included */
};

/* Since when a wait is long, and whether it has been asked. */
struct splitc_patience {
    double since;
    bool over;
};

/* Whether it is time to ask, which it is once. */
bool splitc_patience_ends(struct splitc_patience *p);

/* Ask a member about the call of this rank.  May run handlers. */
void splitc_inquire(const struct splitc_team *t, uint32_t member, const struct splitc_call *call);

/* The same about the current episode, of one member or of all others. */
void splitc_inquire_episode(struct splitc_team *t, uint32_t member);
void splitc_inquire_all(struct splitc_team *t);

/* This rank is at its end: tell those who have asked about calls that it has not made. */
void splitc_inquiry_end(void);

#endif
