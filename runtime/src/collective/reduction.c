/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduction.c - reductions and scans of arrays.
 *
 * Short arrays: the members of a node send theirs to its first one, which combines them; the first
 * ones of the nodes exchange theirs in a butterfly, or send them up a binomial tree.  Long arrays
 * are cut into one part for each member, which combines that of all the others; then the parts are
 * put together.  So every byte goes over the network, or through a cache, as seldom as possible,
 * and all members combine at the same time.
 *
 * Values combine in the order of members, whatever the order of arrival: results repeat to the bit,
 * and are the same on all members, because each element is combined in one place or from the same
 * operands.
 */
#include "algorithms.h"
#include "group.h"

#define FEW 16u    /* members that send to one */
#define PART 1024u /* bytes that each member of a long reduction has to have, at least */

/* ---- short arrays ------------------------------------------------------------------------ */

/* The combination of a group's arrays at its first member; `to` begins with this member's. */
static void reduce_flat(struct splitc_operation *o, const struct splitc_group *g, void *to,
                        size_t n)
{
    for (uint32_t i = 1; g->at == 0 && i < g->size; i++)
        splitc_operation_take_combine(o, splitc_group_member(g, i), to, n);
    if (g->at > 0)
        splitc_operation_send(o, splitc_group_member(g, 0), to, n);
    splitc_operation_end_round(o);
}

static void reduce_tree(struct splitc_operation *o, const struct splitc_group *g, void *to,
                        size_t n)
{
    const uint32_t here = g->at;

    for (unsigned k = 0; 1u << k < g->size; k++) {
        if (here >> k & 1) {
            splitc_operation_send(o, splitc_group_member(g, here - (1u << k)), to, n);
            splitc_operation_end_round(o);
            return;
        }
        if (here + (1u << k) < g->size)
            splitc_operation_take_combine(o, splitc_group_member(g, here + (1u << k)), to, n);
        splitc_operation_end_round(o);
    }
}

static void reduce_group(struct splitc_operation *o, const struct splitc_group *g, void *to,
                         size_t n)
{
    if (g->size <= FEW)
        reduce_flat(o, g, to, n);
    else
        reduce_tree(o, g, to, n);
}

/* From the first member of a group to all. */
static void spread_group(struct splitc_operation *o, const struct splitc_group *g, void *to,
                         size_t n)
{
    const uint32_t here = g->at;
    unsigned k = 0;

    if (g->size <= FEW) {
        for (uint32_t i = 1; here == 0 && i < g->size; i++)
            splitc_operation_send(o, splitc_group_member(g, i), to, n);
        if (here > 0)
            splitc_operation_take(o, splitc_group_member(g, 0), to, n);
        splitc_operation_end_round(o);
        return;
    }
    if (here > 0)
        splitc_operation_take(o, splitc_group_member(g, here & (here - 1)), to, n);
    splitc_operation_end_round(o);
    while (!(here >> k & 1) && 1u << k < g->size)
        k++;
    while (k-- > 0)
        if (here + (1u << k) < g->size)
            splitc_operation_send(o, splitc_group_member(g, here + (1u << k)), to, n);
    splitc_operation_end_round(o);
}

static uint32_t power_of_two_up_to(uint32_t n)
{
    return 1u << (31 - __builtin_clz(n));
}

/* Who takes part in the butterfly as number i: of the first pairs, the first ones. */
static uint32_t butterfly_member(const struct splitc_group *g, uint32_t pairs, uint32_t i)
{
    return splitc_group_member(g, i < pairs ? 2 * i : i + pairs);
}

/* The combination of a group's arrays at all of them.  Where their number is no power of two, some
 * are combined in pairs first.  A partner takes what is sent before it changes. */
static void butterfly(struct splitc_operation *o, const struct splitc_group *g, void *to, size_t n)
{
    const uint32_t most = power_of_two_up_to(g->size), pairs = g->size - most, here = g->at;
    const uint32_t number = here < 2 * pairs ? here / 2 : here - pairs;
    void *theirs = splitc_operation_scratch(o, n);

    if (here < 2 * pairs && here % 2 == 1) {
        splitc_operation_send(o, splitc_group_member(g, here - 1), to, n);
        splitc_operation_end_round(o);
        splitc_operation_take(o, splitc_group_member(g, here - 1), to, n);
        splitc_operation_end_round(o);
        return;
    }
    if (here < 2 * pairs)
        splitc_operation_take_combine(o, splitc_group_member(g, here + 1), to, n);
    splitc_operation_end_round(o);
    for (uint32_t step = 1; step < most; step *= 2) {
        const uint32_t partner = butterfly_member(g, pairs, number ^ step);

        splitc_operation_send_ahead(o, partner, to, n);
        splitc_operation_take(o, partner, theirs, n);
        if (number & step)
            splitc_operation_combine_before(o, to, theirs, n);
        else
            splitc_operation_combine(o, to, theirs, n);
        splitc_operation_end_round(o);
    }
    if (here < 2 * pairs)
        splitc_operation_send(o, splitc_group_member(g, here + 1), to, n);
    splitc_operation_end_round(o);
}

static void allreduce_short(struct splitc_operation *o, void *to, size_t n)
{
    const struct splitc_team *t = o->team;
    const struct splitc_group all = splitc_group_all(t);

    if (t->blocks) {
        const struct splitc_group node = splitc_group_node(t), heads = splitc_group_heads(t);

        reduce_group(o, &node, to, n);
        if (node.at == 0)
            butterfly(o, &heads, to, n);
        spread_group(o, &node, to, n);
    } else if (t->crowded) { /* each step of a butterfly would wait for a rank to run */
        reduce_group(o, &all, to, n);
        spread_group(o, &all, to, n);
    } else {
        butterfly(o, &all, to, n);
    }
}

/* At member 0. */
static void reduce_short(struct splitc_operation *o, void *to, size_t n)
{
    const struct splitc_team *t = o->team;
    const struct splitc_group all = splitc_group_all(t);

    if (t->blocks) {
        const struct splitc_group node = splitc_group_node(t), heads = splitc_group_heads(t);

        reduce_group(o, &node, to, n);
        if (node.at == 0)
            reduce_tree(o, &heads, to, n);
    } else if (t->crowded || t->near_size == t->size) {
        reduce_group(o, &all, to, n);
    } else {
        reduce_tree(o, &all, to, n);
    }
}

/* ---- long arrays --------------------------------------------------------------------------- */

/* A part of an array, in elements, and where part i of so many begins. */
struct part {
    size_t first, count;
};

static struct part part_of(struct part whole, uint32_t i, uint32_t parts)
{
    const size_t from = whole.count / parts * i + whole.count % parts * i / parts;
    const size_t to = whole.count / parts * (i + 1) + whole.count % parts * (i + 1) / parts;

    return (struct part){whole.first + from, to - from};
}

/* Combine this member's part of that of the group's arrays; `to` has this member's own values in
 * it, and `from` is where the others' parts of them are.  The nearest members come first, so that
 * not all begin with the same one. */
static void scatter_parts(struct splitc_operation *o, const struct splitc_group *g, uint8_t *to,
                          const uint8_t *from, struct part whole)
{
    const size_t size = o->with.size;
    const struct part mine = part_of(whole, g->at, g->size);
    uint8_t *acc = to + mine.first * size;

    for (uint32_t i = 1; i < g->size; i++) {
        const uint32_t other = (g->at + g->size - i) % g->size;
        const struct part theirs = part_of(whole, other, g->size);

        splitc_operation_send_ahead(o, splitc_group_member(g, other), from + theirs.first * size,
                                    theirs.count * size);
    }
    for (uint32_t i = g->at; i-- > 0;)
        splitc_operation_take_combine_before(o, splitc_group_member(g, i), acc, mine.count * size);
    for (uint32_t i = g->at + 1; i < g->size; i++)
        splitc_operation_take_combine(o, splitc_group_member(g, i), acc, mine.count * size);
    splitc_operation_end_round(o);
}

/* Let all of the group have all parts of it. */
static void gather_parts(struct splitc_operation *o, const struct splitc_group *g, uint8_t *to,
                         struct part whole)
{
    const size_t size = o->with.size;
    const struct part mine = part_of(whole, g->at, g->size);

    for (uint32_t i = 1; i < g->size; i++) {
        const uint32_t other = (g->at + i) % g->size;
        const struct part theirs = part_of(whole, other, g->size);

        splitc_operation_send_ahead(o, splitc_group_member(g, other), to + mine.first * size,
                                    mine.count * size);
        splitc_operation_take(o, splitc_group_member(g, other), to + theirs.first * size,
                              theirs.count * size);
    }
    splitc_operation_end_round(o);
}

/* Whether all nodes have as many members. */
static bool nodes_are_alike(const struct splitc_team *t)
{
    const uint32_t each = t->size / t->nodes;

    for (uint32_t i = 0; i < t->nodes; i++)
        if (t->first[i] != i * each)
            return false;
    return t->size % t->nodes == 0;
}

/* The members of each node combine their arrays first; then those of the same index combine their
 * parts across the nodes. */
static void allreduce_long(struct splitc_operation *o, uint8_t *to, const uint8_t *from,
                           size_t count)
{
    const struct splitc_team *t = o->team;
    const struct part whole = {0, count};
    const struct splitc_group all = splitc_group_all(t);

    if (t->blocks && nodes_are_alike(t)) {
        const struct splitc_group node = splitc_group_node(t);
        const struct splitc_group across = {
            .first = node.at, .step = node.size, .size = t->nodes, .at = t->node_at};
        const struct part mine = part_of(whole, node.at, node.size);

        scatter_parts(o, &node, to, from, whole);
        scatter_parts(o, &across, to, to, mine);
        gather_parts(o, &across, to, mine);
        gather_parts(o, &node, to, whole);
    } else {
        scatter_parts(o, &all, to, from, whole);
        gather_parts(o, &all, to, whole);
    }
}

static bool is_long(const struct splitc_operation *o, size_t n)
{
    return o->team->size > 1 && n / o->team->size >= PART;
}

/* The members' own values of the parts that they combine. */
static void copy_own_part(struct splitc_operation *o, uint8_t *to, const uint8_t *from,
                          const struct splitc_group *g, size_t count)
{
    const struct part mine = part_of((struct part){0, count}, g->at, g->size);
    const size_t size = o->with.size;

    splitc_operation_copy(o, to + mine.first * size, from + mine.first * size, mine.count * size);
    splitc_operation_end_round(o);
}

void splitc_add_allreduce(struct splitc_operation *o, void *to, const void *from, size_t n)
{
    const struct splitc_team *t = o->team;
    const struct splitc_group g =
        t->blocks && nodes_are_alike(t) ? splitc_group_node(t) : splitc_group_all(t);

    if (is_long(o, n)) {
        copy_own_part(o, to, from, &g, n / o->with.size);
        allreduce_long(o, to, from, n / o->with.size);
        return;
    }
    splitc_operation_copy(o, to, from, n);
    splitc_operation_end_round(o);
    if (t->size > 1)
        allreduce_short(o, to, n);
}

/* ---- to one member -------------------------------------------------------------------------- */

static void reduce_long(struct splitc_operation *o, uint8_t *to, const uint8_t *from, size_t count,
                        uint32_t root)
{
    const struct splitc_group all = splitc_group_all(o->team);
    const struct part whole = {0, count};
    const size_t size = o->with.size;

    scatter_parts(o, &all, to, from, whole);
    for (uint32_t i = 0; all.at == root && i < all.size; i++) {
        const struct part theirs = part_of(whole, i, all.size);

        if (i != root)
            splitc_operation_take(o, i, to + theirs.first * size, theirs.count * size);
    }
    if (all.at != root) {
        const struct part mine = part_of(whole, all.at, all.size);

        splitc_operation_send(o, root, to + mine.first * size, mine.count * size);
    }
    splitc_operation_end_round(o);
}

void splitc_add_reduce(struct splitc_operation *o, void *to, const void *from, size_t n,
                       uint32_t root)
{
    const struct splitc_team *t = o->team;
    const struct splitc_group all = splitc_group_all(t);
    void *acc = t->at == root ? to : splitc_operation_scratch(o, n);

    if (is_long(o, n)) {
        copy_own_part(o, acc, from, &all, n / o->with.size);
        reduce_long(o, acc, from, n / o->with.size, root);
        return;
    }
    splitc_operation_copy(o, acc, from, n);
    splitc_operation_end_round(o);
    reduce_short(o, acc, n);
    if (root != 0 && t->at == 0)
        splitc_operation_send(o, root, acc, n);
    if (root != 0 && t->at == root)
        splitc_operation_take(o, 0, to, n);
    splitc_operation_end_round(o);
}

/* ---- scans ---------------------------------------------------------------------------------- */

/* In round k a member hears from the one 2^k below it the combination of the 2^k up to there, which
 * comes in front of what it knows: `before`, the combination of the members in front of it. */
void splitc_add_scan(struct splitc_operation *o, void *to, const void *from, size_t n,
                     bool exclusive)
{
    const struct splitc_team *t = o->team;
    uint8_t *all = splitc_operation_scratch(o, n), *heard = splitc_operation_scratch(o, n);
    uint8_t *before = splitc_operation_scratch(o, n);

    splitc_operation_copy(o, all, from, n);
    splitc_operation_end_round(o);
    for (uint32_t step = 1; step < t->size; step *= 2) {
        const bool hears = t->at >= step;

        if (t->at + step < t->size)
            splitc_operation_send(o, t->at + step, all, n);
        if (hears) {
            splitc_operation_take(o, t->at - step, heard, n);
            splitc_operation_combine_before(o, all, heard, n);
        }
        if (hears && step == 1)
            splitc_operation_copy(o, before, heard, n);
        else if (hears)
            splitc_operation_combine_before(o, before, heard, n);
        splitc_operation_end_round(o);
    }
    if (!exclusive)
        splitc_operation_copy(o, to, all, n);
    else if (t->at > 0)
        splitc_operation_copy(o, to, before, n);
    splitc_operation_end_round(o);
}
