/* SPDX-License-Identifier: BSD-3-Clause
 *
 * team.h - teams of processors.  Not part of split-c.h: programs may have their own functions of
 * these names.
 *
 * The members of a team make collective calls together, all of them and in the same order; other
 * processors go on meanwhile.  A member may be in any number of teams.  Calls on different teams
 * are independent, but a processor makes one after the other, so two teams that have members in
 * common have to be called in an order that does not wait in a circle.  PROCS, MYPROC, global
 * pointers and spread arrays are what they are without teams.  collective.h has operations on
 * arrays.
 *
 * A team that is NULL, or that was freed, ends the job with a word, and so do collective calls of
 * members that differ, where members find out.
 */
#ifndef SPLITC_TEAM_H_PUBLIC
#define SPLITC_TEAM_H_PUBLIC

#ifdef __cplusplus
#error "<split-c/team.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/split-c.h>

typedef struct splitc_team splitc_team;
extern splitc_team splitc_team_all, splitc_team_node;

/* All processors, each with its own number; and those of this node, in the order of their numbers.
 * They are there from the start and are never freed. */
#define TEAM_ALL (&splitc_team_all)
#define TEAM_NODE (&splitc_team_node)

/* The colour of processors that are to be in no team. */
#define TEAM_NONE (-2147483647 - 1)

/* ---- making teams ----------------------------------------------------------------------- */

/* Collective, of all processors or of the members of a team: those that give the same colour become
 * a team, and the others other ones.  Any int but TEAM_NONE is a colour.  Members are numbered by
 * ascending key, and those of one key in the order in which they were before.  Returns this
 * processor's team, which is its own to free, or NULL for the colour TEAM_NONE.  It waits for all
 * who make the call. */
extern splitc_team *all_split(int colour, int key) __asm__("splitc_all_split");
extern splitc_team *team_split(splitc_team *team, int colour, int key) __asm__("splitc_team_split");

/* Collective, of its members: waits for all, completes the operations that this processor has begun
 * on it, and gives the team up.  NULL is allowed; a predefined team is not.  Teams that were split
 * from it stay. */
extern void team_free(splitc_team *team) __asm__("splitc_team_free");
#define all_team_free(team) team_free(team)

/* ---- who is who: not collective, and they do not wait -------------------------------------- */

/* This processor's number in the team, from 0, and how many members it has. */
extern int team_rank(const splitc_team *team) __asm__("splitc_team_rank");
extern int team_size(const splitc_team *team) __asm__("splitc_team_size");

/* The processor of a member, which has to be one; the member that a processor is, or -1 if it is
 * none. */
extern int team_proc(const splitc_team *team, int member) __asm__("splitc_team_proc_of");
extern int team_member(const splitc_team *team, int proc) __asm__("splitc_team_member");

/* ---- collective calls, of the members of the team ----------------------------------------- */

/* All members arrive before any goes on.  As barrier(), it completes no gets, puts and stores, and
 * is a full fence. */
extern void team_barrier(splitc_team *team) __asm__("splitc_team_barrier");

/* The same families as all_reduce_to_all_add and so on (split-c.h), with the same letters:
 *
 *   team_reduce_to_all_dadd(t, v)   the combination of all values, in the order of members, for all
 *   team_reduce_to_one_dadd(t, v)   the same for member 0, and 0 for the others
 *   team_scan_dadd(t, v)            on member m that of the values of 0..m */
#define SPLITC_DECLARE_TEAM_REDUCTIONS(name, type, how)                                            \
    extern type team_reduce_to_all_##name(splitc_team *team,                                       \
                                          type value) __asm__("splitc_team_reduce_to_all_" #name); \
    extern type team_reduce_to_one_##name(splitc_team *team,                                       \
                                          type value) __asm__("splitc_team_reduce_to_one_" #name); \
    extern type team_scan_##name(splitc_team *team, type value) __asm__("splitc_team_"             \
                                                                        "scan_" #name);
SPLITC_REDUCTIONS(SPLITC_DECLARE_TEAM_REDUCTIONS)

/* Member 0's value, for all: team_bcast_i, team_bcast_l and so on. */
#define SPLITC_DECLARE_TEAM_BROADCAST(letter, type)                                                \
    extern type team_bcast_##letter(splitc_team *team,                                             \
                                    type value) __asm__("splitc_team_bcast_" #letter);
SPLITC_VALUES(SPLITC_DECLARE_TEAM_BROADCAST)
extern int team_bcast(splitc_team *team, int value) __asm__("splitc_team_bcast_i");

#endif
