/* SPDX-License-Identifier: BSD-3-Clause
 *
 * split.c - making teams of the members of another one, and giving them up.
 *
 * Each member prepares a board and a slot, and tells all others of it together with its colour and
 * key.  So every member finds out alone who belongs to its new team and how to reach them.
 */
#include "access/access.h"
#include "algorithms.h"
#include "library.h"
#include "meeting.h"
#include "team.h"
#include "teams.h"
#include "tree.h"

#include <limits.h>
#include <stdlib.h>

#define NO_COLOUR INT_MIN /* TEAM_NONE */
#define KEPT 256u         /* teams that were freed, whose use is noticed */

/* What a member tells of itself. */
struct bid {
    int32_t colour, key;
    splitc_ptr board; /* at its rank; 0: it has none */
    uint32_t slot;
    uint32_t node;
    uint32_t member; /* of the team that is split */
    bool shares;     /* windows with the ranks of its node, and cores with some */
    bool has_windows;
};

/* ---- preparing ---------------------------------------------------------------------------- */

static void *memory_for(size_t n)
{
    void *p = aligned_alloc(64, (n + 63) / 64 * 64);

    if (!p)
        splitc_die("no memory for a team");
    memset(p, 0, n);
    return p;
}

/* Its board has room for what each member leaves at the gate; how many there will be is known
 * later. */
static struct splitc_team *team_prepare(uint32_t members_at_most)
{
    struct splitc_team *t = memory_for(sizeof *t);

    t->board = memory_for(sizeof *t->board + members_at_most * sizeof(uint64_t));
    if (!splitc_team_enter(t))
        splitc_die("no room for one more team; free those that are not used any more by team_free");
    return t;
}

/* The node of a rank as a number that its ranks have in common. */
static uint32_t own_node(void)
{
    return splitc_runtime.nodes > 0 ? splitc_runtime.first[splitc_runtime.node_at] : 0;
}

/* ---- choosing ------------------------------------------------------------------------------- */

static int compare_bids(const void *one, const void *other)
{
    const struct bid *a = one, *b = other;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->member < b->member ? -1 : 1;
}

/* Those of that colour, in the order of the new team, at the start of the list. */
static uint32_t choose_bids(struct bid *all, uint32_t bids, int32_t colour)
{
    uint32_t chosen = 0;

    for (uint32_t i = 0; i < bids; i++)
        if (all[i].colour == colour)
            all[chosen++] = all[i];
    qsort(all, chosen, sizeof *all, compare_bids);
    return chosen;
}

/* ---- what a new team knows ---------------------------------------------------------------- */

static int compare_words(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

static void team_list_members(struct splitc_team *t, const struct bid *bid, uint32_t bids)
{
    splitc_ptr *member = memory_for(bids * sizeof *member);
    uint32_t *slot = memory_for(bids * sizeof *slot);
    uint64_t *by_rank = memory_for(bids * sizeof *by_rank);

    for (uint32_t i = 0; i < bids; i++) {
        const uint64_t rank = (uint64_t)splitc_rank(bid[i].board);

        member[i] = bid[i].board;
        slot[i] = bid[i].slot;
        by_rank[i] = rank << 32 | i;
        if (rank == splitc_runtime.rank)
            t->at = i;
    }
    qsort(by_rank, bids, sizeof *by_rank, compare_words);
    t->size = bids;
    t->member = member;
    t->slot = slot;
    t->by_rank = by_rank;
}

/* The first member of each node, in ascending order. */
static void team_list_nodes(struct splitc_team *t, const struct bid *bid)
{
    uint32_t *near = memory_for(t->size * sizeof *near);
    uint32_t *first = memory_for(t->size * sizeof *first);
    bool blocks = true;

    for (uint32_t i = 0; i < t->size; i++) {
        bool is_first = true;

        if (bid[i].node == bid[t->at].node) {
            if (i == t->at)
                t->near_at = t->near_size;
            near[t->near_size++] = i;
        }
        for (uint32_t k = 0; is_first && k < t->nodes; k++)
            is_first = bid[first[k]].node != bid[i].node;
        if (is_first)
            first[t->nodes++] = i;
        else
            blocks &= bid[i].node == bid[i - 1].node;
    }
    while (bid[first[t->node_at]].node != bid[t->at].node)
        t->node_at++;
    t->near = near;
    t->first = first;
    t->blocks = blocks && t->nodes > 1;
}

static bool bids_all(const struct bid *bid, uint32_t bids, bool (*is)(const struct bid *))
{
    for (uint32_t i = 0; i < bids; i++)
        if (!is(&bid[i]))
            return false;
    return true;
}

static bool bid_has_windows(const struct bid *b)
{
    return b->has_windows;
}

static bool bid_is_alone(const struct bid *b)
{
    return !b->shares;
}

static void team_choose_ways(struct splitc_team *t, const struct bid *bid)
{
    uint32_t *node = memory_for(t->size * sizeof *node);
    const bool windows = bids_all(bid, t->size, bid_has_windows);

    for (uint32_t i = 0; i < t->size; i++)
        node[i] = bid[i].node;
    if (!windows) { /* as if each were on a node of its own */
        *(uint32_t *)(uintptr_t)t->near = t->at;
        t->near_at = 0;
        t->near_size = 1;
        t->blocks = false;
    }
    if (!windows || t->nodes == 1)
        t->nodes = 0;
    t->crowded = windows && t->nodes == 0 && t->size > 1 && !bids_all(bid, t->size, bid_is_alone);
    splitc_tree_choose_height(t, t->nodes > 0 ? splitc_tree_level_inside(node, 0, t->size) : 0);
    free(node);
}

/* ---- giving up ---------------------------------------------------------------------- */

static void team_release_lists(struct splitc_team *t)
{
    splitc_operations_free(t);
    free((void *)(uintptr_t)t->member);
    free((void *)(uintptr_t)t->slot);
    free((void *)(uintptr_t)t->near);
    free((void *)(uintptr_t)t->first);
    free(t->by_rank);
    free(t->board);
}

/* Its memory is not used again for a while, so that its use is noticed. */
static void team_discard(struct splitc_team *t)
{
    static struct splitc_team *kept[KEPT];
    static unsigned next;

    splitc_team_leave(t);
    team_release_lists(t);
    t->state = SPLITC_TEAM_FREED;
    free(kept[next % KEPT]);
    kept[next++ % KEPT] = t;
}

/* A barrier of messages alone: who leaves another one may still read the gate on a board that is
 * about to go. */
void splitc_team_free(struct splitc_team *t)
{
    SPLITC_INSIDE;
    struct splitc_operation *o;

    if (!t)
        return;
    splitc_team_check(t);
    if (splitc_team_is_predefined(t))
        splitc_die("team_free of %s, which stays",
                   t == &splitc_team_all ? "TEAM_ALL" : "TEAM_NODE");
    splitc_check_collective(t, SPLITC_TEAM_FREE, 0, 0);
    o = splitc_operation_new(t, SPLITC_TEAM_FREE);
    splitc_operation_add_barrier(o);
    splitc_operation_run(o);
    splitc_operations_finish(t);
    team_discard(t);
}

/* ---- the split ---------------------------------------------------------------------- */

static struct bid *exchange_bids(struct splitc_team *parent, const struct bid *mine)
{
    struct bid *all = memory_for(parent->size * sizeof *all);
    struct splitc_operation *o = splitc_operation_new(parent, SPLITC_TEAM_SPLIT);

    splitc_add_allgather(o, all,
                         (struct splitc_blocks){.equal = true, .size = sizeof *mine, .each = 1},
                         mine, sizeof *mine);
    splitc_operation_run(o);
    return all;
}

struct splitc_team *splitc_team_split(struct splitc_team *parent, int colour, int key)
{
    SPLITC_INSIDE;
    struct bid mine = {.colour = colour, .key = key}, *all;
    struct splitc_team *t = NULL;

    splitc_team_check(parent);
    splitc_check_collective(parent, SPLITC_TEAM_SPLIT, 0, 0);
    if (colour != NO_COLOUR) {
        t = team_prepare(parent->size);
        mine.board = splitc_from_local(t->board);
        mine.slot = t->own_slot;
    }
    mine.node = own_node();
    mine.member = parent->at;
    mine.has_windows =
        splitc_runtime.nodes > 0 || splitc_runtime.near_ranks == splitc_runtime.ranks;
    mine.shares = splitc_shares_cores();
    all = exchange_bids(parent, &mine);
    if (t) {
        const uint32_t members = choose_bids(all, parent->size, colour);

        team_list_members(t, all, members);
        team_list_nodes(t, all);
        team_choose_ways(t, all);
        t->state = SPLITC_TEAM_LIVE;
    }
    free(all);
    splitc_meet(parent, SPLITC_TEAM_SPLIT); /* afterwards all know theirs */
    return t;
}

struct splitc_team *splitc_all_split(int colour, int key)
{
    return splitc_team_split(&splitc_team_all, colour, key);
}

/* ---- who is who --------------------------------------------------------------------- */

int splitc_team_rank(const struct splitc_team *t)
{
    splitc_team_check(t);
    return (int)t->at;
}

int splitc_team_size(const struct splitc_team *t)
{
    splitc_team_check(t);
    return (int)t->size;
}

int splitc_team_proc_of(const struct splitc_team *t, int member)
{
    splitc_team_check(t);
    if (member < 0 || (uint32_t)member >= t->size)
        splitc_die("team_proc: there is no member %d of the team, only 0 to %u", member,
                   t->size - 1);
    return (int)splitc_team_proc(t, (uint32_t)member);
}

/* Members of the predefined teams are in the order of ranks. */
int splitc_team_member(const struct splitc_team *t, int proc)
{
    uint32_t low = 0, high;

    splitc_team_check(t);
    high = t->size;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint32_t i = t->by_rank ? (uint32_t)t->by_rank[middle] : middle;
        const int here = (int)splitc_team_proc(t, i);

        if (here == proc)
            return (int)i;
        if (here < proc)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
