/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.c - reductions, broadcasts and scans of one value per rank.
 *
 * Reductions climb a binomial tree: rank r's parent is r without its lowest set
 * bit, its child of level k is r + 2^k and stands for the ranks [r + 2^k,
 * r + 2^(k+1)).  Children are combined from the lowest level up, so values
 * combine in the order of ranks, whatever the order of arrival: floating-point
 * results repeat.  Broadcasts go down the same tree.  In round k of a scan,
 * rank r hears from r - 2^k.
 *
 * Values travel as 64 bits: doubles as they are, ints sign-extended.
 */
#include "episode.h"

#include "checks.h"
#include "library.h"

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

/* Integers are sign-extended on the way; sums wrap. */
static uint64_t from_int(int value)
{
    return (uint64_t)(int64_t)value;
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
    case SPLITC_ADD_REAL:
        return from_double(to_double(a) + to_double(b));
    case SPLITC_MAX_REAL:
        return to_double(a) > to_double(b) ? a : b;
    default: /* SPLITC_MIN_REAL */
        return to_double(a) < to_double(b) ? a : b;
    }
}

/* ---- up, down and across ------------------------------------------------------------ */

/* The tree's level of this rank: it has children on all levels below it. */
static unsigned level(void)
{
    return splitc_runtime.rank ? (unsigned)__builtin_ctz(splitc_runtime.rank) : SPLITC_LEVELS;
}

static bool has_child(unsigned k)
{
    return k < level() && splitc_runtime.rank + (1u << k) < splitc_runtime.ranks;
}

static uint32_t parent(void)
{
    return splitc_runtime.rank & (splitc_runtime.rank - 1);
}

/* Combine our part of the tree; the result counts on processor 0. */
static uint64_t up(enum splitc_combine with, uint64_t value)
{
    for (unsigned k = 0; has_child(k); k++)
        value = splitc_combine(with, value, splitc_hear(k, splitc_runtime.rank + (1u << k)));
    if (splitc_runtime.rank != 0)
        splitc_tell(parent(), level(), value);
    return value;
}

static uint64_t down(uint64_t value)
{
    unsigned k = 0;

    if (splitc_runtime.rank != 0)
        value = splitc_hear(SPLITC_DOWN, parent());
    while (has_child(k))
        k++;
    while (k-- > 0) /* the largest part of the tree first */
        splitc_tell(splitc_runtime.rank + (1u << k), SPLITC_DOWN, value);
    return value;
}

uint64_t splitc_reduce_to_all(enum splitc_combine with, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_REDUCE_TO_ALL, with, 0);
    splitc_episode_begin(SPLITC_REDUCE_TO_ALL);
    if (splitc_runtime.crowded)
        value = splitc_gate_meet(splitc_last_episode(), SPLITC_REDUCE_TO_ALL, with, value);
    else
        value = down(up(with, value));
    splitc_episode_met();
    return value;
}

static uint64_t reduce_to_one(enum splitc_combine with, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_REDUCE_TO_ONE, with, 0);
    splitc_episode_begin(SPLITC_REDUCE_TO_ONE);
    return up(with, value);
}

uint64_t splitc_broadcast(enum splitc_collective what, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_episode_begin(what);
    return down(value);
}

static uint64_t broadcast(bool real, uint64_t value)
{
    SPLITC_INSIDE;
    splitc_check_collective(SPLITC_BROADCAST, real, 0);
    return splitc_broadcast(SPLITC_BROADCAST, value);
}

static uint64_t scan(enum splitc_combine with, uint64_t value)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_runtime.rank;

    splitc_check_collective(SPLITC_SCAN, with, 0);
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

static int all_int(enum splitc_combine with, int value)
{
    return (int)splitc_reduce_to_all(with, from_int(value));
}

static double all_double(enum splitc_combine with, double value)
{
    return to_double(splitc_reduce_to_all(with, from_double(value)));
}

static int one_int(enum splitc_combine with, int value)
{
    uint64_t result = reduce_to_one(with, from_int(value));

    return splitc_runtime.rank == 0 ? (int)result : 0;
}

static double one_double(enum splitc_combine with, double value)
{
    uint64_t result = reduce_to_one(with, from_double(value));

    return splitc_runtime.rank == 0 ? to_double(result) : 0.0;
}

static int scan_int(enum splitc_combine with, int value)
{
    return (int)scan(with, from_int(value));
}

static double scan_double(enum splitc_combine with, double value)
{
    return to_double(scan(with, from_double(value)));
}

int splitc_all_reduce_to_all_add(int value)
{
    return all_int(SPLITC_ADD, value);
}

int splitc_all_reduce_to_all_max(int value)
{
    return all_int(SPLITC_MAX, value);
}

int splitc_all_reduce_to_all_min(int value)
{
    return all_int(SPLITC_MIN, value);
}

double splitc_all_reduce_to_all_dadd(double value)
{
    return all_double(SPLITC_ADD_REAL, value);
}

double splitc_all_reduce_to_all_dmax(double value)
{
    return all_double(SPLITC_MAX_REAL, value);
}

double splitc_all_reduce_to_all_dmin(double value)
{
    return all_double(SPLITC_MIN_REAL, value);
}

int splitc_all_reduce_to_one_add(int value)
{
    return one_int(SPLITC_ADD, value);
}

int splitc_all_reduce_to_one_max(int value)
{
    return one_int(SPLITC_MAX, value);
}

int splitc_all_reduce_to_one_min(int value)
{
    return one_int(SPLITC_MIN, value);
}

double splitc_all_reduce_to_one_dadd(double value)
{
    return one_double(SPLITC_ADD_REAL, value);
}

double splitc_all_reduce_to_one_dmax(double value)
{
    return one_double(SPLITC_MAX_REAL, value);
}

double splitc_all_reduce_to_one_dmin(double value)
{
    return one_double(SPLITC_MIN_REAL, value);
}

int splitc_all_scan_add(int value)
{
    return scan_int(SPLITC_ADD, value);
}

int splitc_all_scan_max(int value)
{
    return scan_int(SPLITC_MAX, value);
}

int splitc_all_scan_min(int value)
{
    return scan_int(SPLITC_MIN, value);
}

double splitc_all_scan_dadd(double value)
{
    return scan_double(SPLITC_ADD_REAL, value);
}

double splitc_all_scan_dmax(double value)
{
    return scan_double(SPLITC_MAX_REAL, value);
}

double splitc_all_scan_dmin(double value)
{
    return scan_double(SPLITC_MIN_REAL, value);
}

int splitc_all_bcast_i(int value)
{
    return (int)broadcast(false, from_int(value));
}

double splitc_all_bcast_d(double value)
{
    return to_double(broadcast(true, from_double(value)));
}
