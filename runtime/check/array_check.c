/* SPDX-License-Identifier: BSD-3-Clause
 *
 * array_check.c - operations on arrays, against what one rank alone computes.
 */
#include "check.h"
#include "collective/collective.h"
#include "library.h"

#include <split-c/operators.h>

extern struct splitc_team splitc_team_all;

enum { ADD = 1, MAX = 4, XOR = 7, LONGEST = 40000 };

static struct splitc_team *team;
static int size, at;
static uint64_t shared; /* a state that all members have in common */
static unsigned serial;
static bool split_phase;

/* What member m has at index i; one serial number for each operation. */
static uint32_t value_of(unsigned number, int m, long i)
{
    uint64_t state = (uint64_t)number << 40 ^ (uint64_t)m << 24 ^ (uint64_t)i;

    return (uint32_t)next_random(&state);
}

static uint32_t *values(unsigned number, int m, long n)
{
    uint32_t *v = malloc(((size_t)n + 1) * sizeof *v);

    for (long i = 0; i < n; i++)
        v[i] = value_of(number, m, i);
    return v;
}

static uint32_t *room_for(long n)
{
    uint32_t *v = malloc(((size_t)n + 1) * sizeof *v);

    for (long i = 0; i <= n; i++)
        v[i] = 0xeeeeeeee;
    return v;
}

/* ---- operators: one of the library, and one that does not commute ------------------------- */

/* Two linear maps x -> a x + b, one after the other. */
struct map {
    uint16_t a, b;
};

static void maps_follow(void *acc, const void *next, long count)
{
    struct map *f = acc;
    const struct map *g = next;

    for (long i = 0; i < count; i++)
        f[i] = (struct map){(uint16_t)(g[i].a * f[i].a), (uint16_t)(g[i].a * f[i].b + g[i].b)};
}

static splitc_operator_fn *some_operator(void)
{
    return next_random(&shared) % 2 ? maps_follow : (splitc_operator_fn *)ADD;
}

/* The combination of the members from `first` to `last`. */
static uint32_t combined(splitc_operator_fn *with, unsigned number, int first, int last, long i)
{
    uint32_t all = value_of(number, first, i);

    for (int m = first + 1; m <= last; m++) {
        const uint32_t theirs = value_of(number, m, i);

        if (with == maps_follow)
            maps_follow(&all, &theirs, 1);
        else
            all += theirs;
    }
    return all;
}

static void expect_combined(const uint32_t *to, splitc_operator_fn *with, unsigned number,
                            int first, int last, long n)
{
    for (long i = 0; i < n; i++)
        EXPECT_EQ(combined(with, number, first, last, i), to[i]);
    EXPECT_EQ(0xeeeeeeee, to[n]);
}

/* ---- both forms ------------------------------------------------------------------------------ */

/* Split-phase ones complete by any of the ways that there are. */
static void complete(unsigned long handle)
{
    switch (serial % 3) {
    case 0:
        splitc_sync();
        break;
    case 1:
        splitc_sync_h(handle);
        break;
    default:
        while (!splitc_test_h(handle))
            ;
    }
}

#define DO(name, ...)                                                                              \
    do {                                                                                           \
        if (split_phase)                                                                           \
            complete(splitc_team_##name##_begin(__VA_ARGS__));                                     \
        else                                                                                       \
            splitc_team_##name(__VA_ARGS__);                                                       \
    } while (0)

static long some_count(void)
{
    static const long longest[] = {1, 5, 20, 600, 3000, LONGEST};

    return (long)(next_random(&shared) % (uint64_t)(longest[next_random(&shared) % 6] + 1));
}

static int some_member(void)
{
    return (int)(next_random(&shared) % (uint64_t)size);
}

static void broadcast_some(void)
{
    const long n = some_count();
    const int root = some_member();
    uint32_t *v = at == root ? values(serial, root, n) : room_for(n);

    DO(broadcast, team, v, n, root, sizeof *v);
    for (long i = 0; i < n; i++)
        EXPECT_EQ(value_of(serial, root, i), v[i]);
    free(v);
}

static void reduce_some(void)
{
    splitc_operator_fn *with = some_operator();
    const long n = some_count();
    const int root = some_member(), all = (int)(next_random(&shared) % 2);
    const bool in_place = next_random(&shared) % 2;
    uint32_t *from = values(serial, at, n), *to = in_place ? from : room_for(n);

    to[n] = 0xeeeeeeee;
    if (all)
        DO(allreduce, team, to, from, n, with, sizeof *to, SPLITC_TYPE_UINT);
    else
        DO(reduce, team, at == root ? to : NULL, from, n, with, root, sizeof *to, SPLITC_TYPE_UINT);
    if (all || at == root)
        expect_combined(to, with, serial, 0, size - 1, n);
    for (long i = 0; !in_place && i < n; i++)
        EXPECT_EQ(value_of(serial, at, i), from[i]);
    if (!in_place)
        free(to);
    free(from);
}

static void scan_some(void)
{
    splitc_operator_fn *with = some_operator();
    const long n = some_count();
    const bool in_place = next_random(&shared) % 2, exclusive = next_random(&shared) % 2;
    uint32_t *from = values(serial, at, n), *to = in_place ? from : room_for(n);

    to[n] = 0xeeeeeeee;
    if (exclusive)
        DO(exscan, team, to, from, n, with, sizeof *to, SPLITC_TYPE_UINT);
    else
        DO(scan, team, to, from, n, with, sizeof *to, SPLITC_TYPE_UINT);
    if (!exclusive || at > 0)
        expect_combined(to, with, serial, 0, exclusive ? at - 1 : at, n);
    else if (!in_place && n > 0)
        EXPECT_EQ(0xeeeeeeee, to[0]);
    if (!in_place)
        free(to);
    free(from);
}

static void expect_blocks(const uint32_t *to, long n)
{
    for (int m = 0; m < size; m++)
        for (long i = 0; i < n; i++)
            EXPECT_EQ(value_of(serial, m, i), to[m * n + i]);
    EXPECT_EQ(0xeeeeeeee, to[size * n]);
}

static void gather_some(void)
{
    const long n = some_count() / size;
    const int root = some_member(), all = (int)(next_random(&shared) % 2);
    uint32_t *from = values(serial, at, n), *to = room_for(n * size);

    if (all)
        DO(allgather, team, to, from, n, sizeof *to);
    else
        DO(gather, team, to, from, n, root, sizeof *to);
    if (all || at == root)
        expect_blocks(to, n);
    free(to);
    free(from);
}

static void scatter_some(void)
{
    const long n = some_count() / size;
    const int root = some_member();
    uint32_t *from = at == root ? values(serial, root, n * size) : NULL, *to = room_for(n);

    DO(scatter, team, to, from, n, root, sizeof *to);
    for (long i = 0; i < n; i++)
        EXPECT_EQ(value_of(serial, root, at * n + i), to[i]);
    EXPECT_EQ(0xeeeeeeee, to[n]);
    free(to);
    free(from);
}

static void alltoall_some(void)
{
    const long n = some_count() / size;
    uint32_t *from = values(serial, at, n * size), *to = room_for(n * size);

    DO(alltoall, team, to, from, n, sizeof *to);
    for (int m = 0; m < size; m++)
        for (long i = 0; i < n; i++)
            EXPECT_EQ(value_of(serial, m, at * n + i), to[m * n + i]);
    EXPECT_EQ(0xeeeeeeee, to[size * n]);
    free(to);
    free(from);
}

/* The last member reads what has come after the others have gone on. */
static void array_short_blocks_in_turn(void)
{
    enum { TURNS = 500, PAUSE = 2000 };
    const int here = my_rank(), all = ranks();
    long *from = calloc((size_t)all, sizeof *from), *to = calloc((size_t)all, sizeof *to);

    for (long turn = 0; turn < TURNS; turn++) {
        for (int k = 0; k < all; k++)
            from[k] = turn << 32 | here << 16 | k;
        for (volatile int i = 0; here == all - 1 && i < PAUSE; i++)
            ;
        splitc_team_alltoall(&splitc_team_all, to, from, 1, sizeof *to);
        for (int k = 0; k < all; k++)
            EXPECT_EQ(turn << 32 | k << 16 | here, to[k]);
        splitc_team_allgather(&splitc_team_all, to, &turn, 1, sizeof *to);
        for (int k = 0; k < all; k++)
            EXPECT_EQ(turn, to[k]);
    }
    free(from);
    free(to);
}

/* ---- unequal blocks ----------------------------------------------------------------- */

/* How many elements member m sends member k; many are empty. */
static long count_of(int m, int k)
{
    const long most = serial % 2 ? 30 : 3000;

    return (long)(value_of(serial + 1000000, m, k) % 3) * (value_of(serial, k, m) % most);
}

/* Blocks in descending order, with a gap of one element between them. */
static long offsets_down(const long *count, long *offset)
{
    long behind = 0;

    for (int m = size; m-- > 0; behind += count[m] + 1)
        offset[m] = behind;
    return behind;
}

static void gatherv_some(void)
{
    long *count = calloc((size_t)size, sizeof *count),
         *offset = calloc((size_t)size, sizeof *offset);
    const int root = some_member(), all = (int)(next_random(&shared) % 2);
    const long n = count_of(at, 0);
    uint32_t *from = values(serial, at, n), *to;
    long behind;

    for (int m = 0; m < size; m++)
        count[m] = count_of(m, 0);
    behind = offsets_down(count, offset);
    to = room_for(behind);
    if (all)
        DO(allgatherv, team, to, count, offset, from, n, sizeof *to);
    else
        DO(gatherv, team, to, at == root ? count : NULL, at == root ? offset : NULL, from, n, root,
           sizeof *to);
    for (int m = 0; m < size && (all || at == root); m++) {
        for (long i = 0; i < count[m]; i++)
            EXPECT_EQ(value_of(serial, m, i), to[offset[m] + i]);
        EXPECT_EQ(0xeeeeeeee, to[offset[m] + count[m]]);
    }
    if (all || at == root) { /* and back */
        for (long i = 0; i < n; i++)
            from[i] = 0;
    }
    DO(scatterv, team, from, n, to, count, offset, all ? 0 : root, sizeof *to);
    for (long i = 0; i < n; i++)
        EXPECT_EQ(value_of(serial, at, i), from[i]);
    free(to);
    free(from);
    free(offset);
    free(count);
}

static void alltoallv_some(void)
{
    long *list = calloc((size_t)size * 4, sizeof *list);
    long *in = list, *in_at = in + size, *out = in_at + size, *out_at = out + size, behind;
    uint32_t *from, *to;

    for (int m = 0; m < size; m++) {
        in[m] = count_of(m, at);
        out[m] = count_of(at, m);
    }
    behind = offsets_down(out, out_at);
    from = room_for(behind);
    for (int m = 0; m < size; m++)
        for (long i = 0; i < out[m]; i++)
            from[out_at[m] + i] = value_of(serial, at, 1000 * m + i);
    behind = offsets_down(in, in_at);
    to = room_for(behind);
    DO(alltoallv, team, to, in, in_at, from, out, out_at, sizeof *to);
    for (int m = 0; m < size; m++) {
        for (long i = 0; i < in[m]; i++)
            EXPECT_EQ(value_of(serial, m, 1000 * at + i), to[in_at[m] + i]);
        EXPECT_EQ(0xeeeeeeee, to[in_at[m] + in[m]]);
    }
    free(to);
    free(from);
    free(list);
}

/* ---- many of them ------------------------------------------------------------------- */

static void one_more(void)
{
    static void (*const some[])(void) = {broadcast_some, reduce_some,   scan_some,
                                         gather_some,    scatter_some,  alltoall_some,
                                         gatherv_some,   alltoallv_some};

    serial++;
    split_phase = next_random(&shared) % 2;
    some[next_random(&shared) % 8]();
}

static void use_team(struct splitc_team *t, uint64_t seed)
{
    team = t;
    size = splitc_team_size(t);
    at = splitc_team_rank(t);
    shared = seed;
}

static void array_operations(void)
{
    const int turns = ranks() > 4 ? 40 : 80;

    use_team(&splitc_team_all, 3);
    for (int i = 0; i < turns; i++)
        one_more();
}

static void array_operations_on_teams(void)
{
    struct splitc_team *halves = splitc_all_split(my_rank() % 2, my_rank());
    struct splitc_team *turned = splitc_all_split(0, -my_rank() % 3);

    for (int i = 0; i < 25; i++) {
        use_team(halves, (uint64_t)i);
        one_more();
        use_team(turned, 1000u + (uint64_t)i);
        one_more();
    }
    splitc_team_free(halves);
    splitc_team_free(turned);
}

enum { MANY = 150 };

/* More than one fence apart, all under way at the same time, on two teams. */
static void many_under_way(void)
{
    struct splitc_team *t = splitc_all_split(my_rank() % 2, 0);
    static long sum[MANY], mine[MANY], sum_of_team[MANY], all[MANY][64];
    long members = 0;

    for (int i = 0; i < splitc_team_size(t); i++)
        members += splitc_team_proc_of(t, i);
    for (int i = 0; i < MANY; i++) {
        mine[i] = my_rank() + i;
        splitc_team_allreduce_begin(&splitc_team_all, &sum[i], &mine[i], 1,
                                    (splitc_operator_fn *)ADD, sizeof(long), SPLITC_TYPE_LONG);
        splitc_team_allreduce_begin(t, &sum_of_team[i], &mine[i], 1, (splitc_operator_fn *)ADD,
                                    sizeof(long), SPLITC_TYPE_LONG);
        splitc_team_allgather_begin(&splitc_team_all, all[i], &mine[i], 1, sizeof(long));
        if (i % 40 == 0)
            splitc_barrier();
    }
    splitc_sync();
    for (int i = 0; i < MANY; i++) {
        EXPECT_EQ((long)ranks() * (ranks() - 1) / 2 + (long)i * ranks(), sum[i]);
        EXPECT_EQ(members + (long)i * splitc_team_size(t), sum_of_team[i]);
        EXPECT_EQ(ranks() - 1 + i, all[i][ranks() - 1]);
    }
    splitc_team_free(t);
}

/* A root that sends and never waits is held up by nobody, and holds nobody's memory for ever. */
static void array_root_runs_ahead(void)
{
    long value = 0;

    for (long i = 0; i < 1000; i++) {
        value = my_rank() ? -1 : i;
        splitc_team_broadcast(&splitc_team_all, &value, 1, 0, sizeof value);
        EXPECT_EQ(i, value);
    }
}

/* The same of one that begins all of them before the others begin any. */
static void array_root_begins_early(void)
{
    enum { ALL = 400 };
    static long value[ALL];

    if (my_rank() > 0)
        splitc_barrier();
    for (long i = 0; i < ALL; i++) {
        value[i] = my_rank() ? -1 : i;
        splitc_team_broadcast_begin(&splitc_team_all, &value[i], 1, 0, sizeof value[i]);
    }
    if (my_rank() == 0)
        splitc_barrier();
    splitc_sync();
    for (long i = 0; i < ALL; i++)
        EXPECT_EQ(i, value[i]);
}

/* Blocks of one member come before the others are in the call. */
static void array_blocks_come_early(void)
{
    enum { ALL = 40, N = 4000 };
    uint32_t *from[ALL], *to[ALL];
    splitc_ptr area = area_open(sizeof(int));

    for (int i = 0; i < ALL; i++) {
        from[i] = values((unsigned)i, my_rank(), (long)N * ranks());
        to[i] = room_for((long)N * ranks());
    }
    while (my_rank() > 0 && splitc_fetch_add(area_at(area, 0, 0), 0) == 0)
        ;
    for (int i = 0; i < ALL; i++)
        splitc_team_alltoall_begin(&splitc_team_all, to[i], from[i], N, sizeof *to[i]);
    if (my_rank() == 0)
        splitc_fetch_add(area_at(area, 0, 0), 1);
    splitc_sync();
    splitc_barrier();
    area_close(area);
    for (int i = 0; i < ALL; i++) {
        for (int m = 0; m < ranks(); m++)
            for (long k = 0; k < N; k++)
                EXPECT_EQ(value_of((unsigned)i, m, (long)my_rank() * N + k), to[i][m * N + k]);
        free(from[i]);
        free(to[i]);
    }
}

/* Blocks that go at once, and those that are too long for that, to members that are in the call or
 * not; also sums, which combine what has come. */
static void array_long_swaps(void)
{
    static const long lengths[] = {2000, 8064, 8065, 25000, 65535, 65536, 65537};
    uint64_t state = 7 + (uint64_t)my_rank();

    for (unsigned i = 0; i < 4 * (sizeof lengths / sizeof *lengths); i++) {
        const long n = lengths[i / 4];
        uint32_t *from = values(i, my_rank(), n * ranks()), *to = room_for(n * ranks());

        skew(&state);
        splitc_team_alltoall(&splitc_team_all, to, from, n, sizeof *to);
        for (int m = 0; m < ranks(); m++)
            for (long k = 0; k < n; k++)
                EXPECT_EQ(value_of(i, m, (long)my_rank() * n + k), to[m * n + k]);
        splitc_team_allreduce(&splitc_team_all, to, from, n, (splitc_operator_fn *)ADD, sizeof *to,
                              SPLITC_TYPE_UINT);
        for (long k = 0; k < n; k++) {
            uint32_t sum = 0;

            for (int m = 0; m < ranks(); m++)
                sum += value_of(i, m, k);
            EXPECT_EQ(sum, to[k]);
        }
        free(from);
        free(to);
    }
}

/* Sums of doubles: the same bits on all, and each time. */
static void array_sums_repeat(void)
{
    enum { N = 9000 };
    double *from = malloc(N * sizeof *from), *first = malloc(N * sizeof *first);
    double *again = malloc(N * sizeof *again), *theirs = malloc(N * sizeof *theirs);
    uint64_t state = 31 + (uint64_t)my_rank();

    for (int i = 0; i < N; i++)
        from[i] = 1.0 / (3 + my_rank() + i);
    for (long n = 1; n <= N; n = n * 20 - 11) {
        splitc_team_allreduce(&splitc_team_all, first, from, n, (splitc_operator_fn *)ADD,
                              sizeof *from, SPLITC_TYPE_DOUBLE);
        for (int turn = 0; turn < 5; turn++) {
            skew(&state);
            splitc_team_allreduce(&splitc_team_all, again, from, n, (splitc_operator_fn *)ADD,
                                  sizeof *from, SPLITC_TYPE_DOUBLE);
            EXPECT_EQ(0, memcmp(first, again, (size_t)n * sizeof *first));
        }
        memcpy(theirs, first, (size_t)n * sizeof *first);
        splitc_team_broadcast(&splitc_team_all, theirs, n, ranks() - 1, sizeof *theirs);
        EXPECT_EQ(0, memcmp(first, theirs, (size_t)n * sizeof *first));
    }
    free(theirs);
    free(again);
    free(first);
    free(from);
}

/* ---- what programs do wrong --------------------------------------------------------- */

static long longs[100];

/* A member's own block is shorter than what it has for it. */
static void array_own_block(void)
{
    const long count[] = {1, 1, 1, 1}, offset[] = {0, 1, 2, 3};
    int to[8], from[2] = {0};

    splitc_team_allgatherv(&splitc_team_all, to, count, offset, from, 2, sizeof *to);
}

static void array_counts_differ(void)
{
    splitc_team_broadcast(&splitc_team_all, longs, my_rank() ? 2 : 3, 0, sizeof(long));
    splitc_barrier();
}

/* Counts that short blocks of one node have, and no others. */
static void array_blocks_differ(void)
{
    splitc_team_alltoall(&splitc_team_all, longs + 50, longs, my_rank() ? 1 : 2, sizeof(long));
}

/* The same of blocks that over a network are sent before they are asked for. */
static void array_long_blocks_differ(void)
{
    static long from[2000], to[2000];

    splitc_team_alltoall(&splitc_team_all, to, from, my_rank() ? 900 : 1000, sizeof(long));
}

static void array_begun_by_some(void)
{
    if (my_rank() == 0)
        splitc_sync_h(
            splitc_team_allgather_begin(&splitc_team_all, longs, longs + 50, 1, sizeof(long)));
    else
        splitc_team_allgather(&splitc_team_all, longs, longs + 50, 1, sizeof(long));
}

static void array_count_negative(void)
{
    splitc_team_allgather(&splitc_team_all, longs, longs + 50, -1, sizeof(long));
}

static void array_no_root(void)
{
    splitc_team_broadcast(&splitc_team_all, longs, 1, ranks(), sizeof(long));
}

static void array_no_operator(void)
{
    splitc_team_allreduce(&splitc_team_all, longs, longs, 1, (splitc_operator_fn *)XOR,
                          sizeof(double), SPLITC_TYPE_DOUBLE);
}

/* One member has ended without it, before or after the others began. */
static void array_member_gone(void)
{
    if (my_rank() != ranks() - 1)
        splitc_team_allgather(&splitc_team_all, longs, longs + 50, 1, sizeof(long));
}

static void array_member_gone_unwaited(void)
{
    struct splitc_team *t = splitc_all_split(0, 0);

    if (my_rank() != ranks() - 1) {
        splitc_team_allgather_begin(t, longs, longs + 50, 1, sizeof(long));
        splitc_sync();
    } else {
        const double end = splitc_get_seconds() + 0.5;

        while (splitc_get_seconds() < end) /* so it is asked before it ends */
            splitc_poll();
    }
}

static void array_and_barrier(void)
{
    if (my_rank() == 1)
        splitc_barrier();
    else
        splitc_team_allgather(&splitc_team_all, longs, longs + 50, 1, sizeof(long));
}

static void array_calls_differ(void)
{
    if (my_rank() == 0)
        splitc_team_broadcast(&splitc_team_all, longs, 1, 0, sizeof(long));
    else
        splitc_team_scatter(&splitc_team_all, longs, NULL, 1, 0, sizeof(long));
    splitc_barrier();
}

static void waits(void *acc, const void *next, long count)
{
    (void)acc;
    (void)next;
    (void)count;
    splitc_barrier();
}

static void array_operator_waits(void)
{
    splitc_team_allreduce(&splitc_team_all, longs, longs, 1, waits, sizeof(long), SPLITC_TYPE_LONG);
}

/* Giving up a team completes what was begun on it. */
static void array_free_under_way(void)
{
    static uint8_t large[5][100000];
    uint64_t state = 3 + (uint64_t)my_rank();

    for (int turn = 0; turn < 20; turn++) {
        struct splitc_team *t = splitc_all_split(my_rank() % 2, 0);
        const int root = turn % splitc_team_size(t);

        for (int i = 0; i < 5; i++) {
            memset(large[i], splitc_team_rank(t) == root ? turn + i : 99, sizeof large[i]);
            splitc_team_broadcast_begin(t, large[i], sizeof large[i], root, 1);
        }
        skew(&state);
        splitc_team_free(t);
        for (int i = 0; i < 5; i++)
            EXPECT_EQ(turn + i, large[i][sizeof large[i] - 1]);
    }
}

/* A barrier that is begun is complete when all members have begun it; other operations go on. */
static void array_barrier_is_begun(void)
{
    splitc_ptr area = area_open(sizeof(int));
    uint64_t state = 11 + (uint64_t)my_rank();

    for (int round = 1; round <= 40; round++) {
        unsigned long barrier, sums;
        long one = 1, sum = 0;

        skew(&state);
        splitc_fetch_add(area_at(area, 0, 0), 1);
        barrier = splitc_team_barrier_begin(&splitc_team_all);
        sums = splitc_team_allreduce_begin(&splitc_team_all, &sum, &one, 1,
                                           (splitc_operator_fn *)ADD, sizeof sum, SPLITC_TYPE_LONG);
        if (round % 2)
            splitc_sync_h(sums);
        splitc_sync_h(barrier);
        EXPECT(splitc_fetch_add(area_at(area, 0, 0), 0) >= round * ranks());
        splitc_sync_h(sums);
        EXPECT_EQ(ranks(), sum);
    }
    splitc_barrier();
    area_close(area);
}

/* ---- what a rank sends that lies ----------------------------------------------------- */

static uint64_t piece_of(uint64_t slot, uint64_t what, uint64_t number)
{
    return slot << 32 | what << 26 | number;
}

static uint64_t piece_from(uint64_t member, uint64_t kind, uint64_t bytes)
{
    return member << 48 | kind << 44 | bytes;
}

static uint64_t inquiry_of(uint64_t member)
{
    return SPLITC_BARRIER << 16 | member;
}

/* Rank 1 sends rank 0 what makes no sense; the argument says what. */
static void lying_pieces(void)
{
    const uint64_t what = SPLITC_ARRAY_BROADCAST, odd = (uintptr_t)longs + 1;
    const struct lie {
        const char *name;
        enum splitc_message message;
        uint32_t words;
        uint64_t word[4];
    } lies[] = {
        {"team", SPLITC_MSG_PIECE, 4, {piece_of(77, what, 1), piece_from(1, 0, 8)}},
        {"use", SPLITC_MSG_PIECE, 4, {piece_of(1 << 16, what, 1), piece_from(1, 0, 8)}},
        {"member", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 1), piece_from(0, 0, 8)}},
        {"nobody", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 1), piece_from(5, 0, 8)}},
        {"number", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 200), piece_from(1, 0, 8)}},
        {"what", SPLITC_MSG_PIECE, 4, {piece_of(0, 60, 1), piece_from(1, 0, 8)}},
        {"empty", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 1), piece_from(1, 0, 0)}},
        {"long", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 1), piece_from(1, 0, 17)}},
        {"kind", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 1), piece_from(1, 3, 8)}},
        {"behind", SPLITC_MSG_PIECE, 4, {piece_of(0, what, 1), piece_from(1, 1, 8)}},
        {"words", SPLITC_MSG_PIECE, 1, {piece_of(0, what, 1)}},
        {"taken", SPLITC_MSG_TAKEN, 1, {piece_of(0, 0, 0)}},
        {"pulled", SPLITC_MSG_PULLED, 1, {piece_of(0, 0, 0)}},
        {"asker", SPLITC_MSG_INQUIRY, 4, {inquiry_of(0), 0, 0, 0}},
        {"nothing", SPLITC_MSG_INQUIRY, 4, {inquiry_of(1) & ~0xff0000ul, 9, 9, 0}},
        {"early", SPLITC_MSG_NEVER, 3, {inquiry_of(1), 99, 99}},
        {"unnamed", SPLITC_MSG_NEVER, 3, {77ul << 32 | inquiry_of(1), 0, 0}},
        {"value", SPLITC_MSG_COLLECTIVE, 3, {1, 1, 77 << 16 | SPLITC_BARRIER << 8}},
        {"type", SPLITC_MSG_ATOMIC, 4, {(uintptr_t)longs}},
        {"odd", SPLITC_MSG_ATOMIC, 4, {odd | (uint64_t)SPLITC_TYPE_LONG << 48}},
        {"real", SPLITC_MSG_ATOMIC, 4, {(uintptr_t)longs | (3ull << 8 | SPLITC_TYPE_DOUBLE) << 48}},
        {"old", SPLITC_MSG_ATOMIC_DONE, 2, {0}},
        {"got", SPLITC_MSG_GOT, 1, {5}},
        {"put", SPLITC_MSG_PUT_DONE, 1, {5}},
    };

    splitc_barrier();
    for (size_t i = 0; my_rank() == 1 && i < sizeof lies / sizeof *lies; i++)
        if (strcmp(lies[i].name, check_argv[0]) == 0)
            gam_request(splitc_runtime.gam, 0, lies[i].message, lies[i].words, lies[i].word);
    splitc_barrier();
}

/* The same in several messages, to a member that awaits them or not: the second one is longer than
 * what is left, belongs to something else, or is a piece of its own; or the piece is longer than
 * those that go so. */
static void lying_parts(void)
{
    static uint8_t bytes[2000], from[6000], to[6000];
    const char *lie = check_argv[0];
    const bool awaited = strcmp(check_argv[1], "awaited") == 0;
    const uint64_t whole = strcmp(lie, "much") == 0 ? (256u << 10) + 1 : 3000;
    uint64_t word[4] = {piece_of(0, SPLITC_ARRAY_ALLTOALLV, 1), piece_from(1, 1, whole)};
    const long counts[] = {3000, 3000}, offsets[] = {0, 3000};

    if (my_rank() == 0 && awaited)
        splitc_team_alltoallv_begin(&splitc_team_all, to, counts, offsets, from, counts, offsets,
                                    1);
    splitc_barrier();
    for (int i = 0; my_rank() == 1 && i < 2; i++) {
        if (i == 1 && strcmp(lie, "between") == 0) {
            word[1] = piece_from(1, 0, 8);
            gam_request(splitc_runtime.gam, 0, SPLITC_MSG_PIECE, 4, word);
            break;
        }
        gam_request_medium(splitc_runtime.gam, 0, SPLITC_MSG_PIECE, bytes,
                           strcmp(lie, "beyond") == 0 ? 2000 : 1000, 2, word);
        word[0] += strcmp(lie, "other") == 0;
    }
    splitc_barrier();
}

const struct check array_checks[] = {
    {"lying_pieces", lying_pieces},
    {"lying_parts", lying_parts},
    {"array_long_swaps", array_long_swaps},
    {"array_operations", array_operations},
    {"array_operations_on_teams", array_operations_on_teams},
    {"many_under_way", many_under_way},
    {"array_root_runs_ahead", array_root_runs_ahead},
    {"array_root_begins_early", array_root_begins_early},
    {"array_blocks_come_early", array_blocks_come_early},
    {"array_sums_repeat", array_sums_repeat},
    {"array_short_blocks_in_turn", array_short_blocks_in_turn},
    {"array_counts_differ", array_counts_differ},
    {"array_blocks_differ", array_blocks_differ},
    {"array_long_blocks_differ", array_long_blocks_differ},
    {"array_begun_by_some", array_begun_by_some},
    {"array_own_block", array_own_block},
    {"array_count_negative", array_count_negative},
    {"array_no_root", array_no_root},
    {"array_no_operator", array_no_operator},
    {"array_member_gone", array_member_gone},
    {"array_member_gone_unwaited", array_member_gone_unwaited},
    {"array_and_barrier", array_and_barrier},
    {"array_calls_differ", array_calls_differ},
    {"array_operator_waits", array_operator_waits},
    {"array_free_under_way", array_free_under_way},
    {"array_barrier_is_begun", array_barrier_is_begun},
    {0},
};
