/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Litmus tests of docs/memory-model.md: litmus NAME ROUNDS [count].
 *
 * Each group of two or four ranks runs a small race on two variables, x and y, again and
 * again, on fresh ones each time; then rank 0 looks for outcomes that the memory model
 * forbids.  The variables lie with any two members of the group, side by side or a
 * cache line apart, and everybody reaches all of them through global pointers.
 */
#include "check.h"
#include "library.h"

#define RACES 64 /* per round: x and y of each start at 0 */
#define ROLES 4
#define SEEN 2     /* values that a role observes */
#define STRIDE 16u /* ints in a cache line */

typedef void role_fn(splitc_ptr x, splitc_ptr y, int seen[SEEN]);

/* What all roles have seen in one race: [role][which]. */
typedef int outcome[ROLES][SEEN];

struct litmus {
    const char *name;
    role_fn *role[ROLES]; /* two or four */
    bool (*forbidden)(outcome o);
};

static bool counting; /* forbidden outcomes, rather than ending with the first */

static int get(splitc_ptr g)
{
    int value;

    splitc_read(&value, g, sizeof value);
    return value;
}

static void set(splitc_ptr g)
{
    const int one = 1;

    splitc_write(g, &one, sizeof one);
}

/* ---- store buffering: both write, then read what the other one writes ---------------- */

static void sync_between(splitc_ptr mine, splitc_ptr theirs, int seen[SEEN])
{
    set(mine);
    splitc_sync();
    seen[0] = get(theirs);
}

static void sb_sync_0(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    sync_between(x, y, seen);
}

static void sb_sync_1(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    sync_between(y, x, seen);
}

/* What nothing keeps from happening: how often it does shows whether the ranks race. */
static void sb_plain_0(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    set(x);
    seen[0] = get(y);
}

static void sb_plain_1(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    set(y);
    seen[0] = get(x);
}

static void sb_atomic_0(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    splitc_exchange(x, 1);
    seen[0] = get(y);
}

static void sb_atomic_1(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    splitc_fetch_add(y, 1);
    seen[0] = get(x);
}

static void sb_put_0(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    const int one = 1;

    splitc_put(x, &one, sizeof one);
    splitc_sync();
    splitc_get(&seen[0], y, sizeof seen[0]);
    splitc_sync();
}

static bool neither_seen(outcome o)
{
    return o[0][0] == 0 && o[1][0] == 0;
}

/* ---- message passing: y says that x is there ------------------------------------------- */

static void mp_write(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)seen;
    set(x);
    set(y);
}

static void mp_put(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    const int one = 1;

    (void)seen;
    splitc_put(x, &one, sizeof one);
    splitc_sync();
    splitc_put(y, &one, sizeof one);
}

static void mp_atomic(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)seen;
    set(x);
    splitc_cmp_and_swap(y, 0, 1);
}

static void mp_read(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = get(y);
    seen[1] = get(x);
}

static bool flag_without_data(outcome o)
{
    return o[1][0] == 1 && o[1][1] == 0;
}

/* ---- load buffering: both read, then write ------------------------------------------------ */

static void lb_0(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = get(x);
    set(y);
}

static void lb_1(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = get(y);
    set(x);
}

static bool both_from_the_future(outcome o)
{
    return o[0][0] == 1 && o[1][0] == 1;
}

/* ---- independent reads of independent writes ------------------------------------------------ */

static void write_x(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)y;
    (void)seen;
    set(x);
}

static void write_y(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)x;
    (void)seen;
    set(y);
}

static void x_then_y(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = get(x);
    splitc_sync();
    seen[1] = get(y);
}

static void y_then_x(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = get(y);
    splitc_sync();
    seen[1] = get(x);
}

static void add_x(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)y;
    (void)seen;
    splitc_fetch_add(x, 1);
}

static void add_y(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)x;
    (void)seen;
    splitc_fetch_add(y, 1);
}

static void ask_x_then_y(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = splitc_fetch_add(x, 0);
    seen[1] = splitc_fetch_add(y, 0);
}

static void ask_y_then_x(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = splitc_fetch_add(y, 0);
    seen[1] = splitc_fetch_add(x, 0);
}

static bool two_orders(outcome o)
{
    return o[2][0] == 1 && o[2][1] == 0 && o[3][0] == 1 && o[3][1] == 0;
}

/* ---- coherence: one variable -------------------------------------------------------------- */

static void count_x(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    const int two = 2;

    (void)y;
    (void)seen;
    set(x);
    splitc_write(x, &two, sizeof two);
}

static void x_twice(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)y;
    seen[0] = get(x);
    seen[1] = get(x);
}

static bool backwards(outcome o)
{
    return o[1][0] > o[1][1];
}

/* Both write what they then read: who sees the other's value has been overtaken. */
static void write_2_and_read(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    const int two = 2;

    (void)y;
    splitc_write(x, &two, sizeof two);
    seen[0] = get(x);
    seen[1] = get(x);
}

static void write_1_and_read(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    (void)y;
    set(x);
    seen[0] = get(x);
    seen[1] = get(x);
}

static bool own_write_lost(outcome o)
{
    bool mine_then_theirs = o[0][0] == 0 || o[1][0] == 0;
    bool each_overtaken = o[0][1] == 1 && o[1][1] == 2;
    bool returned = (o[0][0] == 1 && o[0][1] == 2) || (o[1][0] == 2 && o[1][1] == 1);

    return mine_then_theirs || each_overtaken || returned;
}

/* ---- atomic operations -------------------------------------------------------------------- */

static void take_x(splitc_ptr x, splitc_ptr y, int seen[SEEN])
{
    seen[0] = splitc_test_and_set(x);
    seen[1] = splitc_cmp_and_swap(y, 0, my_rank() + 1);
}

static bool not_exactly_one(outcome o)
{
    return (o[0][0] == 0) + (o[1][0] == 0) != 1 || (o[0][1] == 0) + (o[1][1] == 0) != 1;
}

static const struct litmus all[] = {
    {"sb_plain", {sb_plain_0, sb_plain_1}, neither_seen},
    {"sb_sync", {sb_sync_0, sb_sync_1}, neither_seen},
    {"sb_atomic", {sb_atomic_0, sb_atomic_1}, neither_seen},
    {"sb_put", {sb_put_0, sb_sync_1}, neither_seen},
    {"mp_write", {mp_write, mp_read}, flag_without_data},
    {"mp_put", {mp_put, mp_read}, flag_without_data},
    {"mp_atomic", {mp_atomic, mp_read}, flag_without_data},
    {"lb", {lb_0, lb_1}, both_from_the_future},
    {"iriw", {write_x, write_y, x_then_y, y_then_x}, two_orders},
    {"iriw_atomic", {add_x, add_y, ask_x_then_y, ask_y_then_x}, two_orders},
    {"coherent_reads", {count_x, x_twice}, backwards},
    {"coherent_writes", {write_2_and_read, write_1_and_read}, own_write_lost},
    {"atomic", {take_x, take_x}, not_exactly_one},
};

/* ---- running them ------------------------------------------------------------------------- */

struct shared {
    int x[RACES * STRIDE], y[RACES * STRIDE];
    int seen[ROLES][RACES][SEEN]; /* the first member's: of all */
};

static int roles_of(const struct litmus *l)
{
    return l->role[2] ? 4 : 2;
}

/* Members are `group`, `group` + 1 and so on. */
static void race(const struct litmus *l, splitc_ptr area, int group, int round, uint64_t *random)
{
    const int roles = roles_of(l), role = my_rank() - group;
    const size_t step = round % 2 ? STRIDE : 1;
    const int x_home = group + round / 2 % roles, y_home = group + round / 2 / roles % roles;
    int seen[RACES][SEEN] = {{0}};

    for (size_t i = 0; i < RACES; i++) {
        size_t at = i * step * sizeof(int);

        for (volatile uint64_t pause = next_random(random) % 64; pause > 0; pause--)
            ;
        l->role[role](area_at(area, x_home, offsetof(struct shared, x) + at),
                      area_at(area, y_home, offsetof(struct shared, y) + at), seen[i]);
    }
    splitc_bulk_write(
        area_at(area, group, offsetof(struct shared, seen) + (size_t)role * sizeof seen), seen,
        sizeof seen);
}

static long judge(const struct litmus *l, const struct shared *s, int round)
{
    long found = 0;

    for (int i = 0; i < RACES; i++) {
        outcome o;

        for (int role = 0; role < ROLES; role++)
            memcpy(o[role], s->seen[role][i], sizeof o[role]);
        if (!l->forbidden(o))
            continue;
        found++;
        if (counting)
            continue;
        fprintf(stderr,
                "litmus %s, round %d, race %d: forbidden outcome %d %d, %d %d, %d %d, %d %d\n",
                l->name, round, i, o[0][0], o[0][1], o[1][0], o[1][1], o[2][0], o[2][1], o[3][0],
                o[3][1]);
        exit(1);
    }
    return found;
}

static void run_litmus(const struct litmus *l, int rounds)
{
    const int roles = roles_of(l), group = my_rank() / roles * roles;
    splitc_ptr area = area_open(sizeof(struct shared));
    struct shared *s = splitc_address(area);
    uint64_t random = (uint64_t)my_rank() + 1;
    long found = 0;

    for (int round = 0; round < rounds; round++) {
        memset(s, 0, sizeof *s);
        splitc_barrier();
        if (group + roles <= ranks())
            race(l, area, group, round, &random);
        splitc_barrier();
        if (my_rank() == group && group + roles <= ranks())
            found += judge(l, s, round);
        splitc_barrier();
    }
    area_close(area);
    if (counting && my_rank() == group)
        printf("%s: %ld of %d races\n", l->name, found, rounds * RACES);
}

static void litmus(void)
{
    EXPECT(check_argc == 2 || check_argc == 3);
    counting = check_argc == 3;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, check_argv[0]) == 0) {
            run_litmus(&all[i], atoi(check_argv[1]));
            return;
        }
    fprintf(stderr, "no litmus test \"%s\"\n", check_argv[0]);
    exit(2);
}

/* ---- stores, barriers, reductions: what waited for them sees what was before -------------- */

/* The next rank may read our plain variable once it has got our store, and later once the
 * barrier or the reduction is over. */
static void litmus_ordering(void)
{
    static volatile long plain;
    splitc_ptr area = area_open(sizeof(long));
    splitc_ptr theirs = splitc_make(neighbour(-1), (const void *)&plain);
    long rounds = atol(check_argv[0]);

    for (long round = 1; round <= rounds; round++) {
        long seen;

        plain = 3 * round;
        splitc_store(area_at(area, neighbour(1), 0), &round, sizeof round);
        splitc_store_sync(sizeof round);
        EXPECT_EQ(round, *(volatile long *)splitc_address(area));
        splitc_read(&seen, theirs, sizeof seen);
        EXPECT(seen >= 3 * round);
        splitc_barrier();
        plain = 3 * round + 1;
        splitc_barrier();
        splitc_read(&seen, theirs, sizeof seen);
        EXPECT_EQ(3 * round + 1, seen);
        splitc_barrier();
        plain = 3 * round + 2;
        splitc_all_reduce_to_all_add(1);
        splitc_read(&seen, theirs, sizeof seen);
        EXPECT(seen >= 3 * round + 2);
        splitc_barrier();
    }
    area_close(area);
}

const struct check litmus_checks[] = {
    {"litmus", litmus},
    {"litmus_ordering", litmus_ordering},
    {0},
};
