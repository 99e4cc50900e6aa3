/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.h - collective operations on arrays.  Not part of split-c.h: programs may have their
 * own functions of these names.
 *
 * Each is a call of all members of a team (team.h); TEAM_ALL is that of all processors.  `root` is
 * the number of a member.  Arrays have elements of any type, which the call takes from its
 * pointers; counts and offsets are in elements, of type long.  A count of 0 is allowed, and then
 * the pointers do not matter.  All members give the same count, root and operator, where it is not
 * said otherwise.
 *
 * Every call has two forms.  The plain one returns when this member's part is complete: its results
 * are there, and its arrays may be used again; it does not wait for the others beyond that.  The
 * one with _begin returns a handle at once, and is complete at sync(), or at sync_h of the handle
 * (handle.h); until then its arrays are the operation's.  It goes on whenever this processor waits
 * or polls.  All members make their collective calls on a team in the same order, but some may
 * begin what others wait for, and any number of operations may be under way.
 *
 * `to` and `from` do not overlap, but for reductions and scans, where they may be the same pointer.
 */
#ifndef SPLITC_COLLECTIVE_H_PUBLIC
#define SPLITC_COLLECTIVE_H_PUBLIC

#ifdef __cplusplus
#error "<split-c/collective.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/handle.h>
#include <split-c/operators.h>
#include <split-c/split-c.h>
#include <split-c/team.h>

/* ---- operators --------------------------------------------------------------------------- */

/* How elements combine: acc[i] becomes acc[i] combined with next[i], for each i below count, where
 * acc is of members in front of those of next.  It is associative; it need not be commutative.  It
 * may be called with any part of the arrays, any number of times, while this processor waits or
 * polls, or by the thread of SPLITC_PROGRESS; it uses only what it is passed, and neither waits nor
 * accesses what other processors own. */
typedef void team_operator(void *acc, const void *next, long count);

/* Operators of the library, for all integers (they wrap) and for float and double, which combine in
 * their own type; and, or and xor for integers. */
#define TEAM_ADD ((team_operator *)1)
#define TEAM_MUL ((team_operator *)2)
#define TEAM_MIN ((team_operator *)3)
#define TEAM_MAX ((team_operator *)4)
#define TEAM_AND ((team_operator *)5)
#define TEAM_OR ((team_operator *)6)
#define TEAM_XOR ((team_operator *)7)

/* ---- the calls ------------------------------------------------------------------------------ */

/* `count` elements of the root's array for all.
 *
 *   team_broadcast(team, buffer, count, root) */
#define team_broadcast(team, buffer, count, root)                                                  \
    (team_broadcast)(team, buffer, count, root, sizeof *(buffer))
#define team_broadcast_begin(team, buffer, count, root)                                            \
    (team_broadcast_begin)(team, buffer, count, root, sizeof *(buffer))

/* to[i] = the combination of all members' from[i], in the order of members: at the root, whose `to`
 * alone is used; for all; of the members up to this one; of those in front of this one, while `to`
 * of member 0 stays as it is.  Results are the same to the bit on all members, and each time.
 *
 *   team_reduce(team, to, from, count, operator, root)
 *   team_allreduce(team, to, from, count, operator)
 *   team_scan(team, to, from, count, operator)
 *   team_exscan(team, to, from, count, operator) */
#define team_reduce(team, to, from, count, with, root)                                             \
    (team_reduce)(team, to, from, count, with, root, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_reduce_begin(team, to, from, count, with, root)                                       \
    (team_reduce_begin)(team, to, from, count, with, root, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_allreduce(team, to, from, count, with)                                                \
    (team_allreduce)(team, to, from, count, with, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_allreduce_begin(team, to, from, count, with)                                          \
    (team_allreduce_begin)(team, to, from, count, with, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_scan(team, to, from, count, with)                                                     \
    (team_scan)(team, to, from, count, with, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_scan_begin(team, to, from, count, with)                                               \
    (team_scan_begin)(team, to, from, count, with, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_exscan(team, to, from, count, with)                                                   \
    (team_exscan)(team, to, from, count, with, SPLITC_SIZE(to, from), SPLITC_TYPE(from))
#define team_exscan_begin(team, to, from, count, with)                                             \
    (team_exscan_begin)(team, to, from, count, with, SPLITC_SIZE(to, from), SPLITC_TYPE(from))

/* Every member's block of `count` elements, one behind the other in the order of members: into the
 * root's `to`; into that of all.  With a v, member i's block has counts[i] elements and is at
 * to[offsets[i]]; each gives its own count, and who has a `to` gives the lists.
 *
 *   team_gather(team, to, from, count, root)
 *   team_gatherv(team, to, counts, offsets, from, count, root)
 *   team_allgather(team, to, from, count)
 *   team_allgatherv(team, to, counts, offsets, from, count) */
#define team_gather(team, to, from, count, root)                                                   \
    (team_gather)(team, to, from, count, root, SPLITC_SIZE(to, from))
#define team_gather_begin(team, to, from, count, root)                                             \
    (team_gather_begin)(team, to, from, count, root, SPLITC_SIZE(to, from))
#define team_gatherv(team, to, counts, offsets, from, count, root)                                 \
    (team_gatherv)(team, to, counts, offsets, from, count, root, SPLITC_SIZE(to, from))
#define team_gatherv_begin(team, to, counts, offsets, from, count, root)                           \
    (team_gatherv_begin)(team, to, counts, offsets, from, count, root, SPLITC_SIZE(to, from))
#define team_allgather(team, to, from, count)                                                      \
    (team_allgather)(team, to, from, count, SPLITC_SIZE(to, from))
#define team_allgather_begin(team, to, from, count)                                                \
    (team_allgather_begin)(team, to, from, count, SPLITC_SIZE(to, from))
#define team_allgatherv(team, to, counts, offsets, from, count)                                    \
    (team_allgatherv)(team, to, counts, offsets, from, count, SPLITC_SIZE(to, from))
#define team_allgatherv_begin(team, to, counts, offsets, from, count)                              \
    (team_allgatherv_begin)(team, to, counts, offsets, from, count, SPLITC_SIZE(to, from))

/* The reverse of gathering: block i of the root's `from`, for member i.
 *
 *   team_scatter(team, to, from, count, root)
 *   team_scatterv(team, to, count, from, counts, offsets, root) */
#define team_scatter(team, to, from, count, root)                                                  \
    (team_scatter)(team, to, from, count, root, SPLITC_SIZE(to, from))
#define team_scatter_begin(team, to, from, count, root)                                            \
    (team_scatter_begin)(team, to, from, count, root, SPLITC_SIZE(to, from))
#define team_scatterv(team, to, count, from, counts, offsets, root)                                \
    (team_scatterv)(team, to, count, from, counts, offsets, root, SPLITC_SIZE(to, from))
#define team_scatterv_begin(team, to, count, from, counts, offsets, root)                          \
    (team_scatterv_begin)(team, to, count, from, counts, offsets, root, SPLITC_SIZE(to, from))

/* Block i of every member's `from` goes to member i, which has it as block m of its `to`, where m
 * is the member that it came from.  With a v each block has a count and an offset; what one sends
 * another is as much as that one takes.
 *
 *   team_alltoall(team, to, from, count)
 *   team_alltoallv(team, to, to_counts, to_offsets, from, from_counts, from_offsets) */
#define team_alltoall(team, to, from, count)                                                       \
    (team_alltoall)(team, to, from, count, SPLITC_SIZE(to, from))
#define team_alltoall_begin(team, to, from, count)                                                 \
    (team_alltoall_begin)(team, to, from, count, SPLITC_SIZE(to, from))
#define team_alltoallv(team, to, to_counts, to_offsets, from, from_counts, from_offsets)           \
    (team_alltoallv)(team, to, to_counts, to_offsets, from, from_counts, from_offsets,             \
                     SPLITC_SIZE(to, from))
#define team_alltoallv_begin(team, to, to_counts, to_offsets, from, from_counts, from_offsets)     \
    (team_alltoallv_begin)(team, to, to_counts, to_offsets, from, from_counts, from_offsets,       \
                           SPLITC_SIZE(to, from))

/* A barrier that is begun: complete when all members have begun it. */
extern splitc_handle team_barrier_begin(splitc_team *team) __asm__("splitc_team_barrier_begin");

/* ---- what the calls are made of ------------------------------------------------------------- */

/* Of both arrays, which have elements of one type; either may be NULL. */
#define SPLITC_SIZE(to, from) sizeof *(1 ? (to) : (from))

/* clang-format off */
#define SPLITC_TYPE(from)                                                                          \
    _Generic(*(from),                                                                              \
             char: (char)-1 < 0 ? SPLITC_TYPE_SCHAR : SPLITC_TYPE_UCHAR,                           \
             signed char: SPLITC_TYPE_SCHAR, unsigned char: SPLITC_TYPE_UCHAR,                     \
             short: SPLITC_TYPE_SHORT, unsigned short: SPLITC_TYPE_USHORT,                         \
             int: SPLITC_TYPE_INT, unsigned: SPLITC_TYPE_UINT,                                     \
             long: SPLITC_TYPE_LONG, unsigned long: SPLITC_TYPE_ULONG,                             \
             long long: SPLITC_TYPE_LONG, unsigned long long: SPLITC_TYPE_ULONG,                   \
             float: SPLITC_TYPE_FLOAT, double: SPLITC_TYPE_DOUBLE,                                 \
             default: SPLITC_TYPE_OTHER)
/* clang-format on */

#define SPLITC_DECLARE_OPERATION(name, ...)                                                        \
    extern void(team_##name)(__VA_ARGS__) __asm__("splitc_team_" #name);                           \
    extern splitc_handle(team_##name##_begin)(__VA_ARGS__) __asm__("splitc_team_" #name "_begin");
SPLITC_DECLARE_OPERATION(broadcast, splitc_team *team, void *buffer, long count, int root,
                         splitc_size size)
SPLITC_DECLARE_OPERATION(reduce, splitc_team *team, void *to, const void *from, long count,
                         team_operator *with, int root, splitc_size size, int type)
SPLITC_DECLARE_OPERATION(allreduce, splitc_team *team, void *to, const void *from, long count,
                         team_operator *with, splitc_size size, int type)
SPLITC_DECLARE_OPERATION(scan, splitc_team *team, void *to, const void *from, long count,
                         team_operator *with, splitc_size size, int type)
SPLITC_DECLARE_OPERATION(exscan, splitc_team *team, void *to, const void *from, long count,
                         team_operator *with, splitc_size size, int type)
SPLITC_DECLARE_OPERATION(gather, splitc_team *team, void *to, const void *from, long count,
                         int root, splitc_size size)
SPLITC_DECLARE_OPERATION(gatherv, splitc_team *team, void *to, const long *counts,
                         const long *offsets, const void *from, long count, int root,
                         splitc_size size)
SPLITC_DECLARE_OPERATION(allgather, splitc_team *team, void *to, const void *from, long count,
                         splitc_size size)
SPLITC_DECLARE_OPERATION(allgatherv, splitc_team *team, void *to, const long *counts,
                         const long *offsets, const void *from, long count, splitc_size size)
SPLITC_DECLARE_OPERATION(scatter, splitc_team *team, void *to, const void *from, long count,
                         int root, splitc_size size)
SPLITC_DECLARE_OPERATION(scatterv, splitc_team *team, void *to, long count, const void *from,
                         const long *counts, const long *offsets, int root, splitc_size size)
SPLITC_DECLARE_OPERATION(alltoall, splitc_team *team, void *to, const void *from, long count,
                         splitc_size size)
SPLITC_DECLARE_OPERATION(alltoallv, splitc_team *team, void *to, const long *to_counts,
                         const long *to_offsets, const void *from, const long *from_counts,
                         const long *from_offsets, splitc_size size)

#endif
