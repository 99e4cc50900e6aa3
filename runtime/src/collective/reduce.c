/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce.c - reductions, broadcasts and scans of one value per rank.
 *
 * Reductions climb a binomial tree: rank r's parent is r without its lowest set
 * bit, its child of level k is r + 2^k and stands for the ranks [r + 2^k,
 * r + 2^(k+1)).  Children are combined from the lowest level up, so values
 * combine in the order of ranks, whatever the order of arrival: floating-point
 * results repeat.  Broadcasts go down the same tree.  Where all get the result,
 * the tree's lowest levels gather what lies within nodes; above them the two
 * halves of each subtree swap their values, a butterfly, so that everybody has
 * the result after half as many messages one behind the other, from the same
 * combinations.  In round k of a scan, rank r hears from r - 2^k.
 *
 * Values travel as 64 bits: integers extended to that by their sign, if they have one, floats as
 * doubles.
 */
#include "episode.h"

#include "job/checks.h"
#include "job/endpoints.h"
#include "library.h"

/* What a program's values are. */
enum value_type {
    OF_THE_RUNTIME,
    OF_INT,
    OF_LONG,
    OF_UNSIGNED,
    OF_UNSIGNED_LONG,
    OF_FLOAT,
    OF_DOUBLE,
};

/* ---- combining ------------------------------------------------------------------ */

static double to_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t from_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t splitc_combine(enum splitc_combine with, uint64_t a, uint64_t b)
{
    switch (with) {
    case SPLITC_ADD:
        return a + b;
    case SPLITC_MAX:
        return (int64_t)a > (int64_t)b ? a : b;
    case SPLITC_MIN:
        return (int64_t)a < (int64_t)b ? a : b;
    case SPLITC_MAX_UNSIGNED:
        return a > b ? a : b;
    case SPLITC_MIN_UNSIGNED:
        return a < b ? a : b;
    case SPLITC_ADD_REAL:
        return from_double(to_double(a) + to_double(b));
    case SPLITC_MAX_REAL:
        return to_double(a) > to_double(b) ? a : b;
    default: /* SPLITC_MIN_REAL */
        return to_double(a) < to_double(b) ? a : b;
    }
}

/* ---- up, down and across ------------------------------------------------------------ */

#define FAN 16u /* messages of one rank, one after the other, in a round across */

/* Of the subtrees that gather before their roots meet; until it is known, of the whole tree. */
static unsigned height = SPLITC_LEVELS;

/* The level of this rank in subtrees so high, from the one of the leaves, 0, to their roots': it
 * has children on all levels below. */
static unsigned level(unsigned up_to)
{
    const uint32_t rank = splitc_runtime.rank;

    return rank & ((1u << up_to) - 1) ? (unsigned)__builtin_ctz(rank) : up_to;
}

static bool has_child(unsigned k, unsigned up_to)
{
    return k < level(up_to) && splitc_runtime.rank + (1u << k) < splitc_runtime.ranks;
}

static bool is_root(unsigned up_to)
{
    return level(up_to) == up_to;
}

static uint32_t parent(void)
{
    return splitc_runtime.rank & (splitc_runtime.rank - 1);
}

/* Combine our part of the subtree; the result counts on its root. */
static uint64_t up(enum splitc_combine with, uint64_t value, unsigned up_to)
{
    for (unsigned k = 0; has_child(k, up_to); k++)
        value = splitc_combine(with, value, splitc_hear(k, splitc_runtime.rank + (1u << k)));
    if (!is_root(up_to))
        splitc_tell(parent(), level(up_to), value);
    return value;
}

static uint64_t down(uint64_t value, unsigned from)
{
    unsigned k = 0;

    if (!is_root(from))
        value = splitc_hear(SPLITC_DOWN, parent());
    while (has_child(k, from))
        k++;
    while (k-- > 0) /* the largest part of the tree first */
        splitc_tell(splitc_runtime.rank + (1u << k), SPLITC_DOWN, value);
    return value;
}

/* The roots of subtrees are numbered from 0. */
static uint32_t roots(unsigned of_height)
{
    return ((splitc_runtime.ranks - 1) >> of_height) + 1;
}

/* How many of so many are among those from the first on, at most most. */
static uint32_t count_from(uint32_t first, uint32_t most, uint32_t all)
{
    if (all <= first)
        return 0;
    return all - first < most ? all - first : most;
}

/* The roots of each half of a larger subtree have the same value, and swap it with those of the
 * other half.  The last half may have fewer; each then tells several. */
static uint64_t across(enum splitc_combine with, uint64_t value)
{
    const uint32_t all = roots(height), here = splitc_runtime.rank >> height;

    for (unsigned k = 0; 1u << k < all; k++) {
        const uint32_t most = 1u << k, place = SPLITC_ACROSS + k;
        const uint32_t ours = here & -most, theirs = ours ^ most;
        const uint32_t of_ours = count_from(ours, most, all);
        const uint32_t of_theirs = count_from(theirs, most, all);
        uint64_t heard;

        if (of_theirs == 0)
            continue;
        for (uint32_t i = here - ours; i < of_theirs; i += of_ours)
            splitc_tell((theirs + i) << height, place, value);
        heard = splitc_hear(place, (theirs + (here - ours) % of_theirs) << height);
        value =
            ours < theirs ? splitc_combine(with, value, heard) : splitc_combine(with, heard, value);
    }
    return value;
}

/* Whether some root would have to tell too many. */
static bool is_lopsided(unsigned of_height)
{
    const uint32_t all = roots(of_height);

    for (unsigned k = 0; 1u << k < all; k++) {
        const uint32_t last = all & ((2u << k) - 1); /* of the last subtree with two halves */

        if (last > 1u << k && (1u << k) / (last - (1u << k)) > FAN)
            return true;
    }
    return false;
}

/* The lowest level of the tree on which an edge of ours leaves the node. */
static unsigned height_of_node(void)
{
    unsigned lowest = SPLITC_LEVELS;

    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++) {
        const uint32_t rank = splitc_runtime.near[i];
        const unsigned k = rank ? (unsigned)__builtin_ctz(rank) : SPLITC_LEVELS;

        if (k < lowest && splitc_by_network(rank & (rank - 1)))
            lowest = k;
    }
    return lowest;
}

void splitc_collectives_open(void)
{
    unsigned inside = 0;

    if (splitc_runtime.nodes > 0)
        inside = (unsigned)splitc_reduce_to_all(SPLITC_MIN, height_of_node());
    height = is_lopsided(inside) ? SPLITC_LEVELS : inside;
}

static uint64_t meet(enum splitc_combine with, uint64_t value)
{
    value = up(with, value, height);
    if (is_root(height))
        value = across(with, value);
    return down(value, height);
}

/* The type of the values is told for -fcheck alone: all ranks have to say the same. */
static uint64_t reduce_to_all(enum splitc_combine with, enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_REDUCE_TO_ALL, with, type);
    splitc_episode_begin(SPLITC_REDUCE_TO_ALL);
    if (splitc_runtime.crowded)
        value = splitc_gate_meet(splitc_last_episode(), SPLITC_REDUCE_TO_ALL, with, value);
    else
        value = meet(with, value);
    splitc_episode_met();
    return value;
}

uint64_t splitc_reduce_to_all(enum splitc_combine with, uint64_t value)
{
    return reduce_to_all(with, OF_THE_RUNTIME, value);
}

/* No bit set: 0 of any type. */
static uint64_t reduce_to_one(enum splitc_combine with, enum value_type type, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_REDUCE_TO_ONE, with, type);
    splitc_episode_begin(SPLITC_REDUCE_TO_ONE);
    value = up(with, value, SPLITC_LEVELS);
    return splitc_runtime.rank == 0 ? value : 0;
}

uint64_t splitc_broadcast(enum splitc_collective what, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_episode_begin(what);
    return down(value, SPLITC_LEVELS);
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
    splitc_episode_begin(SPLITC_SCAN);
    for (unsigned k = 0; 1u << k < splitc_runtime.ranks; k++) {
        uint32_t step = 1u << k;

        if (rank + step < splitc_runtime.ranks)
            splitc_tell(rank + step, k, value);
        if (rank >= step)
            value = splitc_combine(with, splitc_hear(k, rank - step), value);
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
    _Generic((value), float: from_double((double)(value)), double: from_double((double)(value)),   \
             default: (uint64_t)(value))
#define VALUE(type, bits)                                                                          \
    ((type)_Generic((type)0, float: to_double(bits), double: to_double(bits), default: (bits)))
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
