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

/* Height of the subtrees whose roots exchange values; at first that of the whole tree, which leaves
 * nothing to exchange. */
static unsigned height = SPLITC_LEVELS;

/* The level of this rank in subtrees of that height, from 0 for leaves to that of the roots.  It
 * has children of all levels below. */
static unsigned tree_level(unsigned up_to)
{
    const uint32_t rank = splitc_runtime.rank;

    return rank & ((1u << up_to) - 1) ? (unsigned)__builtin_ctz(rank) : up_to;
}

static bool tree_has_child(unsigned k, unsigned up_to)
{
    return k < tree_level(up_to) && splitc_runtime.rank + (1u << k) < splitc_runtime.ranks;
}

static bool tree_is_root(unsigned up_to)
{
    return tree_level(up_to) == up_to;
}

static uint32_t tree_parent(void)
{
    return splitc_runtime.rank & (splitc_runtime.rank - 1);
}

/* Combine the values of the part of the subtree below this rank.  Only its root has the result. */
static uint64_t tree_up(enum splitc_combine with, uint64_t value, unsigned up_to)
{
    for (unsigned k = 0; tree_has_child(k, up_to); k++)
        value =
            splitc_combine(with, value, splitc_episode_hear(k, splitc_runtime.rank + (1u << k)));
    if (!tree_is_root(up_to))
        splitc_episode_tell(tree_parent(), tree_level(up_to), value);
    return value;
}

static uint64_t tree_down(uint64_t value, unsigned from)
{
    unsigned k = 0;

    if (!tree_is_root(from))
        value = splitc_episode_hear(SPLITC_DOWN, tree_parent());
    while (tree_has_child(k, from))
        k++;
    while (k-- > 0) /* the largest part of the tree first */
        splitc_episode_tell(splitc_runtime.rank + (1u << k), SPLITC_DOWN, value);
    return value;
}

/* How many subtrees there are.  Their roots are numbered from 0. */
static uint32_t tree_roots(unsigned of_height)
{
    return ((splitc_runtime.ranks - 1) >> of_height) + 1;
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
static uint64_t tree_across(enum splitc_combine with, uint64_t value)
{
    const uint32_t all = tree_roots(height), here = splitc_runtime.rank >> height;

    for (unsigned k = 0; 1u << k < all; k++) {
        const uint32_t most = 1u << k, place = SPLITC_ACROSS + k;
        const uint32_t ours = here & -most, theirs = ours ^ most;
        const uint32_t of_ours = count_from(ours, most, all);
        const uint32_t of_theirs = count_from(theirs, most, all);
        uint64_t heard;

        if (of_theirs == 0)
            continue;
        for (uint32_t i = here - ours; i < of_theirs; i += of_ours)
            splitc_episode_tell((theirs + i) << height, place, value);
        heard = splitc_episode_hear(place, (theirs + (here - ours) % of_theirs) << height);
        value =
            ours < theirs ? splitc_combine(with, value, heard) : splitc_combine(with, heard, value);
    }
    return value;
}

/* Whether some root would have to tell too many others. */
static bool tree_is_lopsided(unsigned of_height)
{
    const uint32_t all = tree_roots(of_height);

    for (unsigned k = 0; 1u << k < all; k++) {
        const uint32_t last = all & ((2u << k) - 1); /* of the last subtree with two halves */

        if (last > 1u << k && (1u << k) / (last - (1u << k)) > FAN)
            return true;
    }
    return false;
}

/* The lowest level of the tree on which an edge of this node leaves it. */
static unsigned tree_height_of_node(void)
{
    unsigned lowest = SPLITC_LEVELS;

    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++) {
        const uint32_t rank = splitc_runtime.near[i];
        const unsigned k = rank ? (unsigned)__builtin_ctz(rank) : SPLITC_LEVELS;

        if (k < lowest && splitc_is_by_network(rank & (rank - 1)))
            lowest = k;
    }
    return lowest;
}

void splitc_collective_open(void)
{
    unsigned inside = 0;

    if (splitc_runtime.nodes > 0)
        inside = (unsigned)splitc_reduce_to_all(SPLITC_MIN, tree_height_of_node());
    height = tree_is_lopsided(inside) ? SPLITC_LEVELS : inside;
}

static uint64_t tree_reduce_to_all(enum splitc_combine with, uint64_t value)
{
    value = tree_up(with, value, height);
    if (tree_is_root(height))
        value = tree_across(with, value);
    return tree_down(value, height);
}

/* Only -fcheck uses the type of the values, which has to be the same on all ranks. */
static uint64_t reduce_to_all(enum splitc_combine with, enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_REDUCE_TO_ALL, with, type);
    splitc_meeting_begin(SPLITC_REDUCE_TO_ALL);
    if (splitc_runtime.crowded)
        value = splitc_gate_meet(SPLITC_REDUCE_TO_ALL, with, value);
    else
        value = tree_reduce_to_all(with, value);
    splitc_episode_passed();
    return value;
}

uint64_t splitc_reduce_to_all(enum splitc_combine with, uint64_t value)
{
    return reduce_to_all(with, OF_THE_RUNTIME, value);
}

/* Other ranks get 0, which has no bit set in any type. */
static uint64_t reduce_to_one(enum splitc_combine with, enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_REDUCE_TO_ONE, with, type);
    splitc_meeting_begin(SPLITC_REDUCE_TO_ONE);
    value = tree_up(with, value, SPLITC_LEVELS);
    return splitc_runtime.rank == 0 ? value : 0;
}

uint64_t splitc_broadcast(enum splitc_collective what, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_meeting_begin(what);
    return tree_down(value, SPLITC_LEVELS);
}

static uint64_t broadcast(enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_BROADCAST, type, 0);
    return splitc_broadcast(SPLITC_BROADCAST, value);
}

static uint64_t scan(enum splitc_combine with, enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_runtime.rank;

    splitc_check_collective(SPLITC_SCAN, with, type);
    splitc_meeting_begin(SPLITC_SCAN);
    for (unsigned k = 0; 1u << k < splitc_runtime.ranks; k++) {
        uint32_t step = 1u << k;

        if (rank + step < splitc_runtime.ranks)
            splitc_episode_tell(rank + step, k, value);
        if (rank >= step)
            value = splitc_combine(with, splitc_episode_hear(k, rank - step), value);
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

#define REDUCTIONS(name, type, how)                                                                \
    type splitc_all_reduce_to_all_##name(type value)                                               \
    {                                                                                              \
        return VALUE(type, reduce_to_all(SPLITC_##how, TYPE_OF(value), BITS(value)));              \
    }                                                                                              \
    type splitc_all_reduce_to_one_##name(type value)                                               \
    {                                                                                              \
        return VALUE(type, reduce_to_one(SPLITC_##how, TYPE_OF(value), BITS(value)));              \
    }                                                                                              \
    type splitc_all_scan_##name(type value)                                                        \
    {                                                                                              \
        return VALUE(type, scan(SPLITC_##how, TYPE_OF(value), BITS(value)));                       \
    }
SPLITC_REDUCTIONS(REDUCTIONS)

#define BROADCAST(letter, type)                                                                    \
    type splitc_all_bcast_##letter(type value)                                                     \
    {                                                                                              \
        return VALUE(type, broadcast(TYPE_OF(value), BITS(value)));                                \
    }
SPLITC_VALUES(BROADCAST)
