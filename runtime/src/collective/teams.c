/* SPDX-License-Identifier: BSD-3-Clause
 *
 * teams.c - the predefined teams, and the table of all of which this rank is a member.
 */
#include "teams.h"
#include "access/access.h"
#include "team.h"
#include "tree.h"

#include <stdlib.h>

/* Static, so that their boards have the same addresses on every rank. */
static struct {
    struct splitc_board board;
    uint64_t left[GAM_RANKS_MAX];
} all, node;

struct splitc_team splitc_team_all = {.state = SPLITC_TEAM_LIVE, .board = &all.board};
struct splitc_team splitc_team_node = {
    .state = SPLITC_TEAM_LIVE, .board = &node.board, .own_slot = 1};

/* A slot is an index in this table and, above it, a number that tells uses of the same index apart,
 * so that a late message of a team that was freed is not taken for one of another. */
#define PREDEFINED 2u
#define INDEX_BITS 16

static struct splitc_team *predefined[PREDEFINED] = {&splitc_team_all, &splitc_team_node};
static struct splitc_team **table = predefined;
static uint32_t table_size = PREDEFINED;
static uint32_t uses;

struct splitc_team *splitc_team_named(uint64_t slot)
{
    const uint64_t index = slot & ((1u << INDEX_BITS) - 1);
    struct splitc_team *t = index < table_size ? table[index] : NULL;

    return t && t->own_slot == slot ? t : NULL;
}

static bool table_grow(void)
{
    const uint32_t size = 2 * table_size;
    struct splitc_team **larger = calloc(size, sizeof *larger);

    if (!larger || size > 1u << INDEX_BITS) {
        free(larger);
        return false;
    }
    memcpy(larger, table, table_size * sizeof *table);
    if (table != predefined)
        free(table);
    table = larger;
    table_size = size;
    return true;
}

bool splitc_team_enter(struct splitc_team *t)
{
    uint32_t index = PREDEFINED;

    while (index < table_size && table[index])
        index++;
    if (index == table_size && !table_grow())
        return false;
    table[index] = t;
    t->own_slot = index | uses++ % ((1u << INDEX_BITS) - 1) << INDEX_BITS;
    return true;
}

void splitc_team_leave(struct splitc_team *t)
{
    table[t->own_slot & ((1u << INDEX_BITS) - 1)] = NULL;
}

bool splitc_team_is_predefined(const struct splitc_team *t)
{
    return t == &splitc_team_all || t == &splitc_team_node;
}

void splitc_team_bad(const struct splitc_team *t)
{
    const char *call = splitc_place.what ? splitc_place.what : "a call";

    if (!t)
        splitc_die("%s of a team that is NULL: all_split gives NULL to processors whose colour is "
                   "TEAM_NONE, and they have to stay out",
                   call);
    if (t->state == SPLITC_TEAM_FREED)
        splitc_die("%s of a team that was freed", call);
    splitc_die("%s of %p, which is no team; use what all_split or team_split has returned, "
               "TEAM_ALL or TEAM_NODE",
               call, (const void *)t);
}

/* ---- at the start --------------------------------------------------------------- */

static const splitc_ptr *boards_at_one_address(const struct splitc_board *board,
                                               const uint32_t *rank, uint32_t ranks)
{
    splitc_ptr *member = malloc(ranks * sizeof *member);

    if (!member)
        splitc_die("no memory for the list of %u ranks", ranks);
    for (uint32_t i = 0; i < ranks; i++)
        member[i] = splitc_make((int)(rank ? rank[i] : i), board);
    return member;
}

void splitc_teams_init(const uint32_t *local, uint32_t local_ranks)
{
    struct splitc_team *t = &splitc_team_all, *n = &splitc_team_node;

    t->at = splitc_runtime.rank;
    t->size = splitc_runtime.ranks;
    t->height = SPLITC_LEVELS; /* nothing to exchange across, until nodes are known */
    t->member = boards_at_one_address(t->board, NULL, t->size);
    n->size = local_ranks;
    n->member = boards_at_one_address(n->board, local, local_ranks);
    while (splitc_team_proc(n, n->at) != splitc_runtime.rank)
        n->at++;
    splitc_tree_choose_height(n, 0);
}

static uint32_t lowest_edge(const uint32_t *near, uint32_t nears)
{
    unsigned lowest = SPLITC_LEVELS;

    for (uint32_t i = 0; i < nears; i++) {
        const uint32_t rank = near[i];
        const unsigned k = rank ? (unsigned)__builtin_ctz(rank) : SPLITC_LEVELS;

        if (k < lowest && splitc_is_by_network(rank & (rank - 1)))
            lowest = k;
    }
    return lowest;
}

/* The node's ranks are near one another if any are.  Which of them share cores they tell each
 * other. */
static void node_open(void)
{
    struct splitc_team *n = &splitc_team_node;
    uint32_t *index = malloc(n->size * sizeof *index);

    if (!index)
        splitc_die("no memory for the list of %u ranks", n->size);
    for (uint32_t i = 0; i < n->size; i++)
        index[i] = i;
    n->near_size = splitc_runtime.near_ranks;
    if (n->near_size < n->size) /* this rank alone */
        index[0] = n->at;
    else
        n->near_at = n->at;
    n->near = index;
    if (splitc_runtime.nodes == 0)
        n->crowded = splitc_runtime.crowded;
    else
        n->crowded = splitc_reduce_to_all(n, SPLITC_MAX, splitc_shares_cores());
}

/* Whether the ranks of each node follow one another. */
static bool node_is_block(const struct splitc_team *t)
{
    return t->near[t->near_size - 1] - t->near[0] == t->near_size - 1;
}

void splitc_teams_open(void)
{
    struct splitc_team *t = &splitc_team_all;
    unsigned inside = 0;

    t->crowded = splitc_runtime.crowded;
    t->near = splitc_runtime.near;
    t->near_size = splitc_runtime.near_ranks;
    t->near_at = splitc_runtime.near_at;
    t->first = splitc_runtime.first;
    t->nodes = splitc_runtime.nodes;
    t->node_at = splitc_runtime.node_at;
    if (t->nodes > 0) {
        inside = (unsigned)splitc_reduce_to_all(t, SPLITC_MIN, lowest_edge(t->near, t->near_size));
        t->blocks = splitc_reduce_to_all(t, SPLITC_MIN, node_is_block(t)) && t->nodes > 1;
    }
    splitc_tree_choose_height(t, inside);
    node_open();
}

struct splitc_account *splitc_team_account(struct splitc_team *t, uint64_t *number)
{
    *number = t->accounts++;
    return &t->board->account[*number % SPLITC_ACCOUNTS];
}

splitc_ptr splitc_team_first_account(const struct splitc_team *t, uint64_t number)
{
    return t->member[0] + offsetof(struct splitc_board, account) +
           number % SPLITC_ACCOUNTS * sizeof(struct splitc_account);
}
