/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce.c - reductions, broadcasts and scans of one value per rank.
 *
 * Reductions climb a binomial tree.  The parent of rank r is r without its lowest set bit; its
 * child of level k is r + 2^k, which stands for the ranks [r + 2^k, r + 2^(k+1)).  Children are
 * combined from the lowest level up, so values are combined in the order of ranks, whatever the
 * order of arrival, and floating-point results repeat.  Broadcasts go down the same tree.
 *
 * Where all ranks get the result, the lowest levels of the tree gather the values of each node.
 * Above them the two halves of each subtree swap their values, which is a butterfly: all ranks get
 * the result, from the same combinations, after half as many consecutive messages.  In round k of a
 * scan, rank r hears from r - 2^k.
 *
 * Values travel as 64 bits: integers sign- or zero-extended, floats as doubles.
 */
#include "access/access.h"
#include "combine.h"
#include "episode.h"
#include "gate.h"
#include "library.h"
#include "meeting.h"
#include "tree.h"

/* The type of a program's values. */
enum value_type {
    OF_THE_RUNTIME,
    OF_INT,
    OF_LONG,
    OF_UNSIGNED,
    OF_UNSIGNED_LONG,
    OF_FLOAT,
    OF_DOUBLE,
};

/* ---- up, down and across ------------------------------------------------------------ */

#define FAN 16u /* the most messages that one rank may send in a round across */

/* The level of a member in subtrees of that height, from 0 for leaves to that of the roots.  It has
 * children of all levels below. */
static unsigned tree_level(const struct splitc_team *t, unsigned up_to)
{
    return t->at & ((1u << up_to) - 1) ? (unsigned)__builtin_ctz(t->at) : up_to;
}

static bool tree_has_child(const struct splitc_team *t, unsigned k, unsigned up_to)
{
    return k < tree_level(t, up_to) && t->at + (1u << k) < t->size;
}

static bool tree_is_root(const struct splitc_team *t, unsigned up_to)
{
    return tree_level(t, up_to) == up_to;
}

static uint32_t tree_parent(uint32_t member)
{
    return member & (member - 1);
}

/* Combine the values of the part of the subtree below this rank.  Only its root has the result. */
static uint64_t tree_up(struct splitc_team *t, enum splitc_combine with, uint64_t value,
                        unsigned up_to)
{
    for (unsigned k = 0; tree_has_child(t, k, up_to); k++)
        value = splitc_combine(with, value, splitc_episode_hear(t, k, t->at + (1u << k)));
    if (!tree_is_root(t, up_to))
        splitc_episode_tell(t, tree_parent(t->at), tree_level(t, up_to), value);
    return value;
}

static uint64_t tree_down(struct splitc_team *t, uint64_t value, unsigned up_to)
{
    unsigned k = 0;

    if (!tree_is_root(t, up_to))
        value = splitc_episode_hear(t, SPLITC_DOWN, tree_parent(t->at));
    while (tree_has_child(t, k, up_to))
        k++;
    while (k-- > 0) /* the largest part of the tree first */
        splitc_episode_tell(t, t->at + (1u << k), SPLITC_DOWN, value);
    return value;
}

/* How many subtrees of that height there are.  Their roots are numbered from 0. */
static uint32_t tree_roots(const struct splitc_team *t, unsigned of_height)
{
    return ((t->size - 1) >> of_height) + 1;
}

/* How many of `all` have numbers in [first, first + most). */
static uint32_t count_from(uint32_t first, uint32_t most, uint32_t all)
{
    if (all <= first)
        return 0;
    return all - first < most ? all - first : most;
}

/* The roots in each half of a larger subtree have the same value, and swap it with those in the
 * other half.  The last half may have fewer roots, each of which then tells several. */
static uint64_t tree_across(struct splitc_team *t, enum splitc_combine with, uint64_t value)
{
    const unsigned height = t->height;
    const uint32_t all = tree_roots(t, height), here = t->at >> height;

    for (unsigned k = 0; 1u << k < all; k++) {
        const uint32_t most = 1u << k, place = SPLITC_ACROSS + k;
        const uint32_t ours = here & -most, theirs = ours ^ most;
        const uint32_t of_ours = count_from(ours, most, all);
        const uint32_t of_theirs = count_from(theirs, most, all);
        uint64_t heard;

        if (of_theirs == 0)
            continue;
        for (uint32_t i = here - ours; i < of_theirs; i += of_ours)
            splitc_episode_tell(t, (theirs + i) << height, place, value);
        heard = splitc_episode_hear(t, place, (theirs + (here - ours) % of_theirs) << height);
        value =
            ours < theirs ? splitc_combine(with, value, heard) : splitc_combine(with, heard, value);
    }
    return value;
}

/* Whether some root would have to tell too many others. */
static bool tree_is_lopsided(const struct splitc_team *t, unsigned of_height)
{
    const uint32_t all = tree_roots(t, of_height);

    for (unsigned k = 0; 1u << k < all; k++) {
        const uint32_t last = all & ((2u << k) - 1); /* of the last subtree with two halves */

        if (last > 1u << k && (1u << k) / (last - (1u << k)) > FAN)
            return true;
    }
    return false;
}

unsigned splitc_tree_level_inside(const uint32_t *node, uint32_t from, uint32_t to)
{
    unsigned lowest = SPLITC_LEVELS;

    for (uint32_t i = from; i < to; i++) {
        const unsigned k = i ? (unsigned)__builtin_ctz(i) : SPLITC_LEVELS;

        if (k < lowest && node[i] != node[tree_parent(i)])
            lowest = k;
    }
    return lowest;
}

void splitc_tree_choose_height(struct splitc_team *t, unsigned inside)
{
    t->height = tree_is_lopsided(t, inside) ? SPLITC_LEVELS : inside;
}

static uint64_t tree_reduce_to_all(struct splitc_team *t, enum splitc_combine with, uint64_t value)
{
    value = tree_up(t, with, value, t->height);
    if (tree_is_root(t, t->height))
        value = tree_across(t, with, value);
    return tree_down(t, value, t->height);
}

/* Only -fcheck uses the type of the values, which has to be the same on all members. */
static uint64_t reduce_to_all(struct splitc_team *t, enum splitc_combine with, enum value_type type,
                              uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(t, SPLITC_REDUCE_TO_ALL, with, type);
    splitc_meeting_begin(t, SPLITC_REDUCE_TO_ALL);
    if (t->crowded)
        value = splitc_gate_meet(t, SPLITC_REDUCE_TO_ALL, with, value);
    else
        value = tree_reduce_to_all(t, with, value);
    splitc_episode_passed(t);
    return value;
}

uint64_t splitc_reduce_to_all(struct splitc_team *t, enum splitc_combine with, uint64_t value)
{
    return reduce_to_all(t, with, OF_THE_RUNTIME, value);
}

/* Other members get 0, which has no bit set in any type. */
static uint64_t reduce_to_one(struct splitc_team *t, enum splitc_combine with, enum value_type type,
                              uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(t, SPLITC_REDUCE_TO_ONE, with, type);
    splitc_meeting_begin(t, SPLITC_REDUCE_TO_ONE);
    value = tree_up(t, with, value, SPLITC_LEVELS);
    return t->at == 0 ? value : 0;
}

uint64_t splitc_broadcast(struct splitc_team *t, enum splitc_collective what, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_meeting_begin(t, what);
    return tree_down(t, value, SPLITC_LEVELS);
}

static uint64_t broadcast(struct splitc_team *t, enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(t, SPLITC_BROADCAST, type, 0);
    return splitc_broadcast(t, SPLITC_BROADCAST, value);
}

static uint64_t scan(struct splitc_team *t, enum splitc_combine with, enum value_type type,
                     uint64_t value)
{
    SPLITC_INSIDE;

    splitc_check_collective(t, SPLITC_SCAN, with, type);
    splitc_meeting_begin(t, SPLITC_SCAN);
    for (unsigned k = 0; 1u << k < t->size; k++) {
        const uint32_t step = 1u << k;

        if (t->at + step < t->size)
            splitc_episode_tell(t, t->at + step, k, value);
        if (t->at >= step)
            value = splitc_combine(with, splitc_episode_hear(t, k, t->at - step), value);
    }
    return value;
}

/* ---- the library's names -------------------------------------------------------------- */

/* clang-format off */
#define TYPE_OF(value)                                                                             \
    _Generic((value),                                                                              \
             int: OF_INT, long: OF_LONG, unsigned: OF_UNSIGNED, unsigned long: OF_UNSIGNED_LONG,   \
             float: OF_FLOAT, double: OF_DOUBLE)

/* A value as it travels, and what arrives as one of that type. */
#define BITS(value)                                                                                \
    _Generic((value),                                                                              \
             float: splitc_double_bits((double)(value)),                                           \
             double: splitc_double_bits((double)(value)),                                          \
             default: (uint64_t)(value))
#define VALUE(type, bits)                                                                          \
    ((type)_Generic((type)0,                                                                       \
                    float: splitc_bits_double(bits),                                               \
                    double: splitc_bits_double(bits),                                              \
                    default: (bits)))
/* clang-format on */

/* The team of a program, or all ranks. */
static struct splitc_team *team_of(struct splitc_team *t)
{
    splitc_team_check(t);
    return t;
}

#define REDUCTION(call, how, which, type)                                                          \
    VALUE(type, call(how, SPLITC_##which, TYPE_OF(value), BITS(value)))
#define REDUCTIONS(name, type, how)                                                                \
    type splitc_all_reduce_to_all_##name(type value)                                               \
    {                                                                                              \
        return REDUCTION(reduce_to_all, &splitc_team_all, how, type);                              \
    }                                                                                              \
    type splitc_all_reduce_to_one_##name(type value)                                               \
    {                                                                                              \
        return REDUCTION(reduce_to_one, &splitc_team_all, how, type);                              \
    }                                                                                              \
    type splitc_all_scan_##name(type value)                                                        \
    {                                                                                              \
        return REDUCTION(scan, &splitc_team_all, how, type);                                       \
    }                                                                                              \
    type splitc_team_reduce_to_all_##name(struct splitc_team *t, type value)                       \
    {                                                                                              \
        return REDUCTION(reduce_to_all, team_of(t), how, type);                                    \
    }                                                                                              \
    type splitc_team_reduce_to_one_##name(struct splitc_team *t, type value)                       \
    {                                                                                              \
        return REDUCTION(reduce_to_one, team_of(t), how, type);                                    \
    }                                                                                              \
    type splitc_team_scan_##name(struct splitc_team *t, type value)                                \
    {                                                                                              \
        return REDUCTION(scan, team_of(t), how, type);                                             \
    }
SPLITC_REDUCTIONS(REDUCTIONS)

#define BROADCAST(letter, type)                                                                    \
    type splitc_all_bcast_##letter(type value)                                                     \
    {                                                                                              \
        return VALUE(type, broadcast(&splitc_team_all, TYPE_OF(value), BITS(value)));              \
    }                                                                                              \
    type splitc_team_bcast_##letter(struct splitc_team *t, type value)                             \
    {                                                                                              \
        return VALUE(type, broadcast(team_of(t), TYPE_OF(value), BITS(value)));                    \
    }
SPLITC_VALUES(BROADCAST)
