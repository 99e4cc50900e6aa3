/* SPDX-License-Identifier: BSD-3-Clause
 *
 * broadcast.c - an array of one member for all.
 *
 * Every node has a head, which gets the array over the network and passes it on; the root is the
 * head of its own.  Within a node the members read it from the head.  Between heads short arrays go
 * down a binomial tree.  Long ones go along a chain in segments, so that each node sends and
 * receives the array once and all do so at the same time.
 */
#include "algorithms.h"
#include "group.h"

#define FEW 16u            /* members that one may tell one after the other */
#define SEGMENT 131072u    /* bytes */
#define LONG (2 * SEGMENT) /* arrays that go in segments */

/* Whom this member gets it from, and whom it passes it on to. */
struct plan {
    bool is_root;
    uint32_t parent;
    uint32_t children;
    uint32_t child[2 * SPLITC_LEVELS];
    const struct splitc_group *rest; /* and on to all of these but itself; NULL: none */
};

static void plan_tree(struct plan *p, const struct splitc_group *g, uint32_t root_at)
{
    const uint32_t here = (g->at + g->size - root_at) % g->size;
    unsigned k = 0;

    if (here > 0)
        p->parent = splitc_group_member(g, ((here & (here - 1)) + root_at) % g->size);
    while (!(here >> k & 1) && 1u << k < g->size)
        k++;
    while (k-- > 0) /* the largest part of the tree first */
        if (here + (1u << k) < g->size)
            p->child[p->children++] =
                splitc_group_member(g, (here + (1u << k) + root_at) % g->size);
}

static void plan_chain(struct plan *p, const struct splitc_group *g, uint32_t root_at)
{
    const uint32_t here = (g->at + g->size - root_at) % g->size;

    if (here > 0)
        p->parent = splitc_group_member(g, (g->at + g->size - 1) % g->size);
    if (here + 1 < g->size)
        p->child[p->children++] = splitc_group_member(g, (g->at + 1) % g->size);
}

/* Within a node, from its head. */
static void plan_near(struct plan *p, const struct splitc_group *g, uint32_t head, size_t n)
{
    uint32_t head_at = 0;

    while (splitc_group_member(g, head_at) != head)
        head_at++;
    if (g->size > FEW && n < SEGMENT)
        plan_tree(p, g, head_at);
    else if (g->at == head_at)
        p->rest = g;
    else
        p->parent = head;
}

static void plan_across(struct plan *p, const struct splitc_team *t, uint32_t root, size_t n)
{
    struct splitc_group g = splitc_group_heads(t);
    const uint32_t root_at = splitc_group_node_of(t, root);

    if (n >= LONG)
        plan_chain(p, &g, root_at);
    else
        plan_tree(p, &g, root_at);
    /* The root stands for the first of its node. */
    if (p->parent == t->first[root_at])
        p->parent = root;
    for (uint32_t i = 0; i < p->children; i++)
        if (p->child[i] == t->first[root_at])
            p->child[i] = root;
}

static void send_on(struct splitc_operation *o, const struct plan *p, const uint8_t *from, size_t n)
{
    for (uint32_t i = 0; i < p->children; i++)
        splitc_operation_send(o, p->child[i], from, n);
    for (uint32_t i = 0; p->rest && i < p->rest->size; i++)
        if (i != p->rest->at)
            splitc_operation_send(o, splitc_group_member(p->rest, i), from, n);
}

/* In each round a member takes a segment, and passes on the one before. */
static void plan_follow(struct splitc_operation *o, const struct plan *p, uint8_t *buffer, size_t n,
                        size_t segment)
{
    size_t at = 0, before = 0;

    for (; at < n; before = at, at += segment) {
        const size_t here = n - at < segment ? n - at : segment;

        if (!p->is_root)
            splitc_operation_take(o, p->parent, buffer + at, here);
        else
            send_on(o, p, buffer + at, here);
        if (!p->is_root && at > 0)
            send_on(o, p, buffer + before, segment);
        if (!p->is_root)
            splitc_operation_end_round(o);
    }
    if (!p->is_root && n > 0)
        send_on(o, p, buffer + before, n - before);
    splitc_operation_end_round(o);
}

void splitc_add_broadcast(struct splitc_operation *o, void *buffer, size_t n, uint32_t root)
{
    const struct splitc_team *t = o->team;
    struct splitc_group g = t->blocks ? splitc_group_node(t) : splitc_group_all(t);
    struct plan p = {.is_root = t->at == root};
    size_t segment = n;
    uint32_t head = root;

    if (t->blocks) {
        const uint32_t root_node = splitc_group_node_of(t, root);

        head = t->node_at == root_node ? root : t->first[t->node_at];
        if (t->at == head)
            plan_across(&p, t, root, n);
        if (n >= LONG)
            segment = SEGMENT;
        plan_near(&p, &g, head, n);
    } else if (t->near_size == t->size) {
        plan_near(&p, &g, head, n);
    } else if (n >= LONG) {
        plan_chain(&p, &g, root);
        segment = SEGMENT;
    } else {
        plan_tree(&p, &g, root);
    }
    plan_follow(o, &p, buffer, n, segment);
}
