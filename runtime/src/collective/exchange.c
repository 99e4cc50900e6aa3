/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exchange.c - blocks of all members to one, to all, or from one, and from all to all.
 *
 * Blocks go straight from one array to the other.  Only many short ones between nodes take ways
 * with more hops and fewer messages: in round k of Bruck's algorithm each member sends to the one
 * 2^k away all blocks that go through there.  Short ones of one node go to another one together.
 * Long blocks that everybody gets go round in a ring, so that each comes to a node once.
 */
#include "algorithms.h"
#include "group.h"

#define SHORT_ALL 65536u  /* bytes of all blocks that go by Bruck's algorithm, at most */
#define SHORT_EACH 512u   /* bytes of one, where all members have one for each */
#define SHORT_BLOCK 2048u /* bytes of one that goes together with others of its node */
#define FEW_NODES 16u     /* of which each sends to all others */
#define FEW 4u            /* members to which each sends by itself */

/* ---- blocks ------------------------------------------------------------------------------- */

static size_t block_size(const struct splitc_blocks *b, uint32_t i)
{
    return b->size * (b->count ? (size_t)b->count[i] : b->each);
}

static size_t block_at(const struct splitc_blocks *b, uint32_t i)
{
    return b->size * (b->offset ? (size_t)b->offset[i] : b->each * i);
}

/* Of n bytes, to a member that sends a block of so many bytes in the same round. */
static void block_send(struct splitc_operation *o, uint32_t peer, const void *from, size_t n,
                       size_t theirs)
{
    if (theirs > 0)
        splitc_operation_send_ahead(o, peer, from, n);
    else
        splitc_operation_send(o, peer, from, n);
}

static bool by_network(const struct splitc_team *t)
{
    return t->near_size < t->size;
}

/* ---- nodes ------------------------------------------------------------------------------ */

/* Members of a team with blocks. */
struct node {
    uint32_t first, size;
};

static struct node node_number(const struct splitc_team *t, uint32_t k)
{
    const uint32_t behind = k + 1 < t->nodes ? t->first[k + 1] : t->size;

    return (struct node){t->first[k], behind - t->first[k]};
}

/* Whether the short blocks of a node are to go together: one message between nodes is worth a copy.
 * All members have to find the same, so the size of their own node does not matter. */
static bool goes_by_nodes(const struct splitc_team *t, size_t n)
{
    return t->blocks && t->size > t->nodes && n <= SHORT_BLOCK;
}

/* The other nodes' first members gather for the root: one message for each node. */
static void gather_by_nodes(struct splitc_operation *o, uint8_t *to, const void *from, size_t n,
                            uint32_t root)
{
    const struct splitc_team *t = o->team;
    const struct node here = node_number(t, t->node_at);
    const bool near_root = root - here.first < here.size;
    const uint32_t head = near_root ? root : here.first;
    uint8_t *all = near_root && t->at == root ? to + n * here.first : NULL; /* of this node */

    if (t->at == head && !near_root)
        all = splitc_operation_scratch(o, n * here.size);
    for (uint32_t i = 0; t->at == head && i < here.size; i++)
        if (here.first + i != head)
            splitc_operation_take(o, here.first + i, all + n * i, n);
    for (uint32_t k = 0; t->at == root && k < t->nodes; k++) {
        const struct node other = node_number(t, k);

        if (k != t->node_at)
            splitc_operation_take(o, other.first, to + n * other.first, n * other.size);
    }
    if (t->at == head)
        splitc_operation_copy(o, all + n * (head - here.first), from, n);
    else
        splitc_operation_send(o, head, from, n);
    splitc_operation_end_round(o);
    if (t->at == head && !near_root)
        splitc_operation_send(o, root, all, n * here.size);
    splitc_operation_end_round(o);
}

/* The same way back. */
static void scatter_by_nodes(struct splitc_operation *o, void *to, const uint8_t *from, size_t n,
                             uint32_t root)
{
    const struct splitc_team *t = o->team;
    const struct node here = node_number(t, t->node_at);
    const bool near_root = root - here.first < here.size;
    const uint32_t head = near_root ? root : here.first;
    const uint8_t *all = t->at == root ? from + n * here.first : NULL; /* of this node */

    for (uint32_t k = 0; t->at == root && k < t->nodes; k++) {
        const struct node other = node_number(t, k);

        if (k != t->node_at)
            splitc_operation_send(o, other.first, from + n * other.first, n * other.size);
    }
    if (t->at == head && !near_root) {
        uint8_t *theirs = splitc_operation_scratch(o, n * here.size);

        splitc_operation_take(o, root, theirs, n * here.size);
        splitc_operation_end_round(o);
        all = theirs;
    }
    for (uint32_t i = 0; t->at == head && i < here.size; i++)
        if (here.first + i != head)
            splitc_operation_send(o, here.first + i, all + n * i, n);
    if (t->at == head)
        splitc_operation_copy(o, to, all + n * (head - here.first), n);
    else
        splitc_operation_take(o, head, to, n);
    splitc_operation_end_round(o);
}

/* The first members exchange the blocks of their nodes; the others read all of it from them. */
static void allgather_by_nodes(struct splitc_operation *o, uint8_t *to, const void *from, size_t n)
{
    const struct splitc_team *t = o->team;
    const struct node here = node_number(t, t->node_at);
    const uint32_t head = here.first;

    if (t->at != head) {
        splitc_operation_send(o, head, from, n);
        splitc_operation_take(o, head, to, n * t->size);
        splitc_operation_end_round(o);
        return;
    }
    for (uint32_t m = head + 1; m < head + here.size; m++)
        splitc_operation_take(o, m, to + n * m, n);
    splitc_operation_copy(o, to + n * head, from, n);
    splitc_operation_end_round(o);
    for (uint32_t i = 1; i < t->nodes; i++) {
        const struct node other = node_number(t, (t->node_at + i) % t->nodes);

        splitc_operation_send(o, other.first, to + n * head, n * here.size);
        splitc_operation_take(o, other.first, to + n * other.first, n * other.size);
    }
    splitc_operation_end_round(o);
    for (uint32_t m = head + 1; m < head + here.size; m++)
        splitc_operation_send(o, m, to, n * t->size);
    splitc_operation_end_round(o);
}

/* ---- gather and scatter ------------------------------------------------------------- */

void splitc_add_gather(struct splitc_operation *o, void *to, struct splitc_blocks blocks,
                       const void *from, size_t n, uint32_t root)
{
    const struct splitc_team *t = o->team;

    if (blocks.equal && goes_by_nodes(t, n)) {
        gather_by_nodes(o, to, from, n, root);
        return;
    }
    for (uint32_t i = 0; t->at == root && i < t->size; i++)
        if (i != root)
            splitc_operation_take(o, i, (uint8_t *)to + block_at(&blocks, i),
                                  block_size(&blocks, i));
    if (t->at == root)
        splitc_operation_copy(o, (uint8_t *)to + block_at(&blocks, root), from, n);
    else
        splitc_operation_send(o, root, from, n);
    splitc_operation_end_round(o);
}

void splitc_add_scatter(struct splitc_operation *o, void *to, size_t n, const void *from,
                        struct splitc_blocks blocks, uint32_t root)
{
    const struct splitc_team *t = o->team;

    if (blocks.equal && goes_by_nodes(t, n)) {
        scatter_by_nodes(o, to, from, n, root);
        return;
    }
    for (uint32_t i = 1; t->at == root && i < t->size; i++) {
        const uint32_t other = (root + i) % t->size;

        splitc_operation_send(o, other, (const uint8_t *)from + block_at(&blocks, other),
                              block_size(&blocks, other));
    }
    if (t->at == root)
        splitc_operation_copy(o, to, (const uint8_t *)from + block_at(&blocks, root), n);
    else
        splitc_operation_take(o, root, to, n);
    splitc_operation_end_round(o);
}

/* ---- all blocks to all -------------------------------------------------------------- */

static void allgather_direct(struct splitc_operation *o, uint8_t *to, struct splitc_blocks blocks,
                             const void *from, size_t n)
{
    const struct splitc_team *t = o->team;

    for (uint32_t i = 1; i < t->size; i++) {
        const uint32_t other = (t->at + i) % t->size;

        block_send(o, other, from, n, block_size(&blocks, other));
        splitc_operation_take(o, other, to + block_at(&blocks, other), block_size(&blocks, other));
    }
    splitc_operation_copy(o, to + block_at(&blocks, t->at), from, n);
    splitc_operation_end_round(o);
}

static void allgather_ring(struct splitc_operation *o, uint8_t *to, struct splitc_blocks blocks,
                           const void *from, size_t n)
{
    const struct splitc_team *t = o->team;
    const uint32_t next = (t->at + 1) % t->size, previous = (t->at + t->size - 1) % t->size;

    splitc_operation_copy(o, to + block_at(&blocks, t->at), from, n);
    splitc_operation_end_round(o);
    for (uint32_t i = 0; i + 1 < t->size; i++) {
        const uint32_t out = (t->at + t->size - i) % t->size;
        const uint32_t in = (out + t->size - 1) % t->size;

        splitc_operation_send(o, next, to + block_at(&blocks, out), block_size(&blocks, out));
        splitc_operation_take(o, previous, to + block_at(&blocks, in), block_size(&blocks, in));
        splitc_operation_end_round(o);
    }
}

/* Equal blocks, in the order in which they come to this member: its own first. */
static void allgather_bruck(struct splitc_operation *o, uint8_t *to, const void *from, size_t n)
{
    const struct splitc_team *t = o->team;
    uint8_t *all = splitc_operation_scratch(o, n * t->size);

    splitc_operation_copy(o, all, from, n);
    splitc_operation_end_round(o);
    for (uint32_t have = 1; have < t->size; have *= 2) {
        const uint32_t more = t->size - have < have ? t->size - have : have;

        splitc_operation_send(o, (t->at + t->size - have) % t->size, all, n * more);
        splitc_operation_take(o, (t->at + have) % t->size, all + n * have, n * more);
        splitc_operation_end_round(o);
    }
    splitc_operation_copy(o, to + n * t->at, all, n * (t->size - t->at));
    splitc_operation_copy(o, to, all + n * (t->size - t->at), n * t->at);
    splitc_operation_end_round(o);
}

void splitc_add_allgather(struct splitc_operation *o, void *to, struct splitc_blocks blocks,
                          const void *from, size_t n)
{
    const struct splitc_team *t = o->team;

    if (!by_network(t) || t->size <= 2)
        allgather_direct(o, to, blocks, from, n);
    else if (blocks.equal && goes_by_nodes(t, n) && t->nodes <= FEW_NODES)
        allgather_by_nodes(o, to, from, n);
    else if (blocks.equal && n * t->size <= SHORT_ALL)
        allgather_bruck(o, to, from, n);
    else
        allgather_ring(o, to, blocks, from, n);
}

/* ---- from all to all ---------------------------------------------------------------------- */

static void alltoall_direct(struct splitc_operation *o, uint8_t *to, struct splitc_blocks of_to,
                            const uint8_t *from, struct splitc_blocks of_from)
{
    const struct splitc_team *t = o->team;

    for (uint32_t i = 1; i < t->size; i++) {
        const uint32_t out = (t->at + i) % t->size, in = (t->at + t->size - i) % t->size;

        block_send(o, out, from + block_at(&of_from, out), block_size(&of_from, out),
                   block_size(&of_to, out));
        splitc_operation_take(o, in, to + block_at(&of_to, in), block_size(&of_to, in));
    }
    splitc_operation_copy(o, to + block_at(&of_to, t->at), from + block_at(&of_from, t->at),
                          block_size(&of_to, t->at));
    splitc_operation_end_round(o);
}

/* Block i of `all` is for the member i above this one, or has come so far on its way from one
 * below. In round k those whose number has that bit travel on by 2^k. */
static void alltoall_bruck(struct splitc_operation *o, uint8_t *to, const uint8_t *from, size_t n)
{
    const struct splitc_team *t = o->team;
    uint8_t *all = splitc_operation_scratch(o, n * t->size);
    uint8_t *out = splitc_operation_scratch(o, n * t->size);
    uint8_t *in = splitc_operation_scratch(o, n * t->size);

    splitc_operation_copy(o, all, from + n * t->at, n * (t->size - t->at));
    splitc_operation_copy(o, all + n * (t->size - t->at), from, n * t->at);
    for (uint32_t step = 1; step < t->size; step *= 2) {
        size_t packed = 0;

        for (uint32_t i = 0; i < t->size; i++)
            if (i & step)
                splitc_operation_copy(o, out + n * packed++, all + n * i, n);
        splitc_operation_end_round(o);
        splitc_operation_send(o, (t->at + step) % t->size, out, n * packed);
        splitc_operation_take(o, (t->at + t->size - step) % t->size, in, n * packed);
        packed = 0;
        for (uint32_t i = 0; i < t->size; i++)
            if (i & step)
                splitc_operation_copy(o, all + n * i, in + n * packed++, n);
    }
    for (uint32_t i = 0; i < t->size; i++)
        splitc_operation_copy(o, to + n * ((t->at + t->size - i) % t->size), all + n * i, n);
    splitc_operation_end_round(o);
}

void splitc_add_alltoall(struct splitc_operation *o, void *to, struct splitc_blocks of_to,
                         const void *from, struct splitc_blocks of_from)
{
    const struct splitc_team *t = o->team;
    const size_t n = of_to.each * of_to.size;

    if (by_network(t) && of_to.equal && t->size > FEW && n <= SHORT_EACH)
        alltoall_bruck(o, to, from, n);
    else
        alltoall_direct(o, to, of_to, from, of_from);
}
