/* SPDX-License-Identifier: BSD-3-Clause
 *
 * arrays.c - the operations on arrays as programs call them (split-c/collective.h).
 */
#include "access/access.h"
#include "algorithms.h"
#include "library.h"
#include "near.h"

#include <split-c/operators.h>

#define BYTES_MOST (1ul << 43) /* of an array */

/* ---- what programs pass -------------------------------------------------------------------- */

static void check_count(enum splitc_collective what, long count, size_t size)
{
    if (count < 0)
        splitc_die("%s of %ld elements", splitc_collective_name(&splitc_team_all, what), count);
    if ((size_t)count > BYTES_MOST / (size ? size : 1))
        splitc_die("%s of %ld elements of %zu bytes, more than there can be",
                   splitc_collective_name(&splitc_team_all, what), count, size);
}

static uint32_t check_root(const struct splitc_team *t, enum splitc_collective what, int root)
{
    if (root < 0 || (uint32_t)root >= t->size)
        splitc_die("%s: there is no member %d of the team, only 0 to %u",
                   splitc_collective_name(t, what), root, t->size - 1);
    return (uint32_t)root;
}

static struct splitc_operator check_operator(enum splitc_collective what, splitc_operator_fn *with,
                                             size_t size, int type)
{
    static const char *const name[SPLITC_OPERATORS] = {
        "TEAM_ADD", "TEAM_MUL", "TEAM_MIN", "TEAM_MAX", "TEAM_AND", "TEAM_OR", "TEAM_XOR"};
    const char *call = splitc_collective_name(&splitc_team_all, what);
    const uintptr_t number = (uintptr_t)with;
    struct splitc_operator o = {.size = size, .call = call};

    if (number > SPLITC_OPERATORS) {
        o.own = with;
        return o;
    }
    o.kernel = splitc_kernel(number, type);
    if (!o.kernel)
        splitc_die("%s: there is no %s of %s; give it a function of your own", call,
                   number == 0 ? "operator that is NULL" : name[number - 1],
                   type == SPLITC_TYPE_OTHER ? "elements that are no numbers"
                                             : "elements of that type");
    return o;
}

static uint64_t operator_number(splitc_operator_fn *with, int type)
{
    const uintptr_t number = (uintptr_t)with;

    return number > SPLITC_OPERATORS ? SPLITC_OPERATORS + 1 : number << 4 | (unsigned)type;
}

/* First member 0 tells all what it is about to do, as a part of the operation: a call that only
 * begins one may not wait. */
static void check_add(struct splitc_operation *o, uint64_t a, uint64_t b)
{
    struct splitc_account *account = splitc_operation_scratch(o, 2 * sizeof *account);

    splitc_collective_checks->account(&account[0], o->what, a, b);
    account[1] = account[0];
    splitc_add_broadcast(o, &account[1], sizeof account[1], 0);
    splitc_operation_end_round(o);
    o->account = account;
    o->checked = o->rounds;
}

/* With -fcheck all members have to say the same of the elements, the root and the operator. */
static struct splitc_operation *operation_new(struct splitc_team *t, enum splitc_collective what,
                                              long count, size_t size, int root, uint64_t with)
{
    struct splitc_operation *o = splitc_operation_new(t, what);

    if (__builtin_expect(splitc_collective_checks != NULL, 0) && t->size > 1)
        check_add(o, (uint64_t)count,
                  (uint64_t)size << 32 | with << 24 | ((uint64_t)root & 0xffffff));
    return o;
}

static struct splitc_blocks equal_blocks(size_t size, long count)
{
    return (struct splitc_blocks){.equal = true, .size = size, .each = (size_t)count};
}

static struct splitc_blocks blocks_of(const struct splitc_team *t, enum splitc_collective what,
                                      size_t size, const long *count, const long *offset)
{
    for (uint32_t i = 0; i < t->size; i++) {
        check_count(what, count[i], size);
        if (offset[i] < 0 || (size_t)offset[i] > BYTES_MOST / (size ? size : 1))
            splitc_die("%s: block %u begins at element %ld", splitc_collective_name(t, what), i,
                       offset[i]);
    }
    return (struct splitc_blocks){.count = count, .offset = offset, .size = size};
}

/* What this member sends or takes has to be as long as its own block in the lists. */
static void check_own_block(const struct splitc_team *t, enum splitc_collective what,
                            const long *counts, long count)
{
    if (counts[t->at] != count)
        splitc_die("%s: this member has %ld elements, and its block in the list %ld",
                   splitc_collective_name(t, what), count, counts[t->at]);
}

/* ---- one builder for both forms of each --------------------------------------------------- */

static struct splitc_operation *broadcast(struct splitc_team *t, void *buffer, long count, int root,
                                          splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_BROADCAST;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    check_root(t, what, root);
    o = operation_new(t, what, count, size, root, 0);
    splitc_add_broadcast(o, buffer, (size_t)count * size, (uint32_t)root);
    return o;
}

static struct splitc_operation *reduce(struct splitc_team *t, void *to, const void *from,
                                       long count, splitc_operator_fn *with, int root,
                                       splitc_size size, int type)
{
    const enum splitc_collective what = SPLITC_ARRAY_REDUCE;
    struct splitc_operator op;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    check_root(t, what, root);
    op = check_operator(what, with, size, type);
    o = operation_new(t, what, count, size, root, operator_number(with, type));
    o->with = op;
    if (size > 0)
        splitc_add_reduce(o, to, from, (size_t)count * size, (uint32_t)root);
    return o;
}

static struct splitc_operation *allreduce(struct splitc_team *t, void *to, const void *from,
                                          long count, splitc_operator_fn *with, splitc_size size,
                                          int type)
{
    const enum splitc_collective what = SPLITC_ARRAY_ALLREDUCE;
    struct splitc_operator op;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    op = check_operator(what, with, size, type);
    o = operation_new(t, what, count, size, 0, operator_number(with, type));
    o->with = op;
    if (size > 0)
        splitc_add_allreduce(o, to, from, (size_t)count * size);
    return o;
}

static struct splitc_operation *scan_any(struct splitc_team *t, void *to, const void *from,
                                         long count, splitc_operator_fn *with, splitc_size size,
                                         int type, enum splitc_collective what)
{
    struct splitc_operator op;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    op = check_operator(what, with, size, type);
    o = operation_new(t, what, count, size, 0, operator_number(with, type));
    o->with = op;
    if (size > 0)
        splitc_add_scan(o, to, from, (size_t)count * size, what == SPLITC_ARRAY_EXSCAN);
    return o;
}

static struct splitc_operation *scan(struct splitc_team *t, void *to, const void *from, long count,
                                     splitc_operator_fn *with, splitc_size size, int type)
{
    return scan_any(t, to, from, count, with, size, type, SPLITC_ARRAY_SCAN);
}

static struct splitc_operation *exscan(struct splitc_team *t, void *to, const void *from,
                                       long count, splitc_operator_fn *with, splitc_size size,
                                       int type)
{
    return scan_any(t, to, from, count, with, size, type, SPLITC_ARRAY_EXSCAN);
}

static struct splitc_operation *gather(struct splitc_team *t, void *to, const void *from,
                                       long count, int root, splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_GATHER;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    check_root(t, what, root);
    o = operation_new(t, what, count, size, root, 0);
    splitc_add_gather(o, to, equal_blocks(size, count), from, (size_t)count * size, (uint32_t)root);
    return o;
}

static struct splitc_operation *gatherv(struct splitc_team *t, void *to, const long *counts,
                                        const long *offsets, const void *from, long count, int root,
                                        splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_GATHERV;
    struct splitc_blocks blocks = {.size = size};
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    if (check_root(t, what, root) == t->at) {
        blocks = blocks_of(t, what, size, counts, offsets);
        check_own_block(t, what, counts, count);
    }
    o = operation_new(t, what, 0, size, root, 0);
    splitc_add_gather(o, to, blocks, from, (size_t)count * size, (uint32_t)root);
    return o;
}

static struct splitc_operation *scatter(struct splitc_team *t, void *to, const void *from,
                                        long count, int root, splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_SCATTER;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    check_root(t, what, root);
    o = operation_new(t, what, count, size, root, 0);
    splitc_add_scatter(o, to, (size_t)count * size, from, equal_blocks(size, count),
                       (uint32_t)root);
    return o;
}

static struct splitc_operation *scatterv(struct splitc_team *t, void *to, long count,
                                         const void *from, const long *counts, const long *offsets,
                                         int root, splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_SCATTERV;
    struct splitc_blocks blocks = {.size = size};
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    if (check_root(t, what, root) == t->at) {
        blocks = blocks_of(t, what, size, counts, offsets);
        check_own_block(t, what, counts, count);
    }
    o = operation_new(t, what, 0, size, root, 0);
    splitc_add_scatter(o, to, (size_t)count * size, from, blocks, (uint32_t)root);
    return o;
}

static struct splitc_operation *allgather(struct splitc_team *t, void *to, const void *from,
                                          long count, splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_ALLGATHER;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    o = operation_new(t, what, count, size, 0, 0);
    splitc_add_allgather(o, to, equal_blocks(size, count), from, (size_t)count * size);
    return o;
}

static struct splitc_operation *allgatherv(struct splitc_team *t, void *to, const long *counts,
                                           const long *offsets, const void *from, long count,
                                           splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_ALLGATHERV;
    struct splitc_blocks blocks;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    blocks = blocks_of(t, what, size, counts, offsets);
    check_own_block(t, what, counts, count);
    o = operation_new(t, what, 0, size, 0, 0);
    splitc_add_allgather(o, to, blocks, from, (size_t)count * size);
    return o;
}

static struct splitc_operation *alltoall(struct splitc_team *t, void *to, const void *from,
                                         long count, splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_ALLTOALL;
    struct splitc_operation *o;

    splitc_team_check(t);
    check_count(what, count, size);
    o = operation_new(t, what, count, size, 0, 0);
    splitc_add_alltoall(o, to, equal_blocks(size, count), from, equal_blocks(size, count));
    return o;
}

static struct splitc_operation *alltoallv(struct splitc_team *t, void *to, const long *to_counts,
                                          const long *to_offsets, const void *from,
                                          const long *from_counts, const long *from_offsets,
                                          splitc_size size)
{
    const enum splitc_collective what = SPLITC_ARRAY_ALLTOALLV;
    struct splitc_blocks of_to, of_from;
    struct splitc_operation *o;

    splitc_team_check(t);
    of_to = blocks_of(t, what, size, to_counts, to_offsets);
    of_from = blocks_of(t, what, size, from_counts, from_offsets);
    if (to_counts[t->at] != from_counts[t->at])
        splitc_die("team_alltoallv: this member sends itself %ld elements and takes %ld",
                   from_counts[t->at], to_counts[t->at]);
    o = operation_new(t, what, 0, size, 0, 0);
    splitc_add_alltoall(o, to, of_to, from, of_from);
    return o;
}

static struct splitc_operation *barrier(struct splitc_team *t)
{
    struct splitc_operation *o;

    splitc_team_check(t);
    o = operation_new(t, SPLITC_ARRAY_BARRIER, 0, 0, 0, 0);
    splitc_operation_add_barrier(o);
    return o;
}

/* ---- short blocks of one node --------------------------------------------------------------- */

static bool allgather_near(struct splitc_team *t, void *to, const void *from, long count,
                           splitc_size size)
{
    splitc_team_check(t);
    check_count(SPLITC_ARRAY_ALLGATHER, count, size);
    return splitc_near_allgather(t, to, from, (size_t)count * size);
}

static bool alltoall_near(struct splitc_team *t, void *to, const void *from, long count,
                          splitc_size size)
{
    splitc_team_check(t);
    check_count(SPLITC_ARRAY_ALLTOALL, count, size);
    return splitc_near_alltoall(t, to, from, (size_t)count * size);
}

/* ---- the library's names ------------------------------------------------------------------ */

#define BLOCKING(name, parameters, ...)                                                            \
    void splitc_team_##name parameters                                                             \
    {                                                                                              \
        SPLITC_INSIDE;                                                                             \
        splitc_operation_run(name(__VA_ARGS__));                                                   \
    }
#define BEGUN(name, parameters, ...)                                                               \
    unsigned long splitc_team_##name##_begin parameters                                            \
    {                                                                                              \
        SPLITC_INSIDE;                                                                             \
        return splitc_operation_begin(name(__VA_ARGS__));                                          \
    }
#define EXCHANGE(name, parameters, ...)                                                            \
    void splitc_team_##name parameters                                                             \
    {                                                                                              \
        SPLITC_INSIDE;                                                                             \
        if (!name##_near(__VA_ARGS__))                                                             \
            splitc_operation_run(name(__VA_ARGS__));                                               \
    }
SPLITC_ARRAY_STEPS(BLOCKING)
SPLITC_ARRAY_EXCHANGES(EXCHANGE)
SPLITC_ARRAY_OPERATIONS(BEGUN)

unsigned long splitc_team_barrier_begin(struct splitc_team *t)
{
    SPLITC_INSIDE;
    return splitc_operation_begin(barrier(t));
}
