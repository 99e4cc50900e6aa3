/* SPDX-License-Identifier: BSD-3-Clause
 *
 * team_check.c - teams, and the calls on one value that their members make.
 */
#include "check.h"
#include "library.h"

#include <limits.h>

extern struct splitc_team splitc_team_all, splitc_team_node;

static int member_of(int rank, int colours)
{
    return rank / colours;
}

/* Ranks with the same remainder, in descending order where `down`. */
static struct splitc_team *split_by_remainder(int colours, bool down)
{
    return splitc_all_split(my_rank() % colours - 1, down ? -my_rank() : 7);
}

static int size_by_remainder(int colours)
{
    return (ranks() - my_rank() % colours + colours - 1) / colours;
}

static void team_members(void)
{
    for (int colours = 1; colours <= 3; colours++)
        for (int down = 0; down <= 1; down++) {
            struct splitc_team *t = split_by_remainder(colours, down);
            const int size = size_by_remainder(colours), at = member_of(my_rank(), colours);

            EXPECT_EQ(size, splitc_team_size(t));
            EXPECT_EQ(down ? size - 1 - at : at, splitc_team_rank(t));
            for (int i = 0; i < size; i++) {
                const int rank = my_rank() % colours + colours * (down ? size - 1 - i : i);

                EXPECT_EQ(rank, splitc_team_proc_of(t, i));
                EXPECT_EQ(i, splitc_team_member(t, rank));
            }
            for (int r = 0; r < ranks(); r++)
                if (r % colours != my_rank() % colours)
                    EXPECT_EQ(-1, splitc_team_member(t, r));
            EXPECT_EQ(-1, splitc_team_member(t, ranks()));
            EXPECT_EQ(-1, splitc_team_member(t, -1));
            splitc_team_free(t);
        }
}

static void team_predefined(void)
{
    struct splitc_team *node = &splitc_team_node;
    int sum;

    EXPECT_EQ(ranks(), splitc_team_size(&splitc_team_all));
    EXPECT_EQ(my_rank(), splitc_team_rank(&splitc_team_all));
    EXPECT_EQ(ranks() - 1, splitc_team_proc_of(&splitc_team_all, ranks() - 1));
    EXPECT_EQ(my_rank(), splitc_team_proc_of(node, splitc_team_rank(node)));
    splitc_team_barrier(node);
    EXPECT_EQ(splitc_team_size(node), splitc_team_reduce_to_all_add(node, 1));
    sum = splitc_all_reduce_to_all_add(splitc_team_rank(node) == 0 ? splitc_team_size(node) : 0);
    EXPECT_EQ(ranks(), sum);
    EXPECT_EQ(ranks() * (ranks() - 1) / 2,
              splitc_team_reduce_to_all_add(&splitc_team_all, my_rank()));
}

/* Every call, against what one rank alone computes. */
static void calls_agree(struct splitc_team *t, int turn)
{
    const int size = splitc_team_size(t), at = splitc_team_rank(t);
    const int mine = 100 * my_rank() + turn;
    int sum = 0, up_to_me = 0, max = INT_MIN;

    for (int i = 0; i < size; i++) {
        const int theirs = 100 * splitc_team_proc_of(t, i) + turn;

        sum += theirs;
        up_to_me += i <= at ? theirs : 0;
        max = theirs > max ? theirs : max;
    }
    EXPECT_EQ(sum, splitc_team_reduce_to_all_add(t, mine));
    EXPECT_EQ(max, splitc_team_reduce_to_all_max(t, mine));
    EXPECT_EQ(at ? 0 : sum, splitc_team_reduce_to_one_add(t, mine));
    EXPECT_EQ(up_to_me, splitc_team_scan_add(t, mine));
    EXPECT_EQ(100 * splitc_team_proc_of(t, 0) + turn, splitc_team_bcast_i(t, mine));
    EXPECT_DOUBLE(sum / 8.0, splitc_team_reduce_to_all_dadd(t, mine / 8.0));
    EXPECT((long)sum << 33 == splitc_team_reduce_to_all_ladd(t, (long)mine << 33));
}

static void team_calls(void)
{
    uint64_t state = 5 + (uint64_t)my_rank();
    struct splitc_team *by_two = split_by_remainder(2, true),
                       *by_three = split_by_remainder(3, false);
    struct splitc_team *alone = splitc_all_split(my_rank(), 0);

    for (int turn = 0; turn < 20; turn++) {
        skew(&state);
        calls_agree(by_two, turn);
        calls_agree(by_three, turn);
        if (turn % 3 == 0)
            splitc_team_barrier(by_two);
        calls_agree(alone, turn);
        if (turn % 4 == 0)
            EXPECT_EQ(ranks(), splitc_all_reduce_to_all_add(1));
    }
    splitc_team_free(by_three);
    splitc_team_free(by_two);
    splitc_team_free(alone);
}

/* Nobody leaves a team's barrier before all members have come; the others take no part. */
static void team_barrier_holds(void)
{
    struct splitc_team *t = splitc_all_split(my_rank() % 2 ? 1 : INT_MIN, 0);
    splitc_ptr area = area_open(sizeof(int));
    uint64_t state = 7 + (uint64_t)my_rank();

    EXPECT_EQ(my_rank() % 2, t != NULL);
    for (int round = 1; t && round <= 50; round++) {
        skew(&state);
        splitc_fetch_add(area_at(area, 1, 0), 1);
        splitc_team_barrier(t);
        EXPECT_EQ(round * splitc_team_size(t), splitc_fetch_add(area_at(area, 1, 0), 0));
        splitc_team_barrier(t);
    }
    splitc_barrier();
    splitc_team_free(t);
    area_close(area);
}

/* Teams of teams, down to single ranks, and given up in any order. */
static void teams_of_teams(void)
{
    struct splitc_team *t[20] = {splitc_team_split(&splitc_team_all, 0, -my_rank())};
    int depth = 0;

    while (splitc_team_size(t[depth]) > 1) {
        const int half = splitc_team_size(t[depth]) / 2;

        t[depth + 1] = splitc_team_split(t[depth], splitc_team_rank(t[depth]) < half, 0);
        depth++;
        calls_agree(t[depth], depth);
        calls_agree(t[depth - 1], depth);
    }
    for (int i = 0; i <= depth; i++)
        splitc_team_free(t[i]);
    splitc_barrier();
}

/* As many as the argument says; of more than are kept, memory and slots are used again. */
static void teams_come_and_go(void)
{
    const int turns = check_argc > 0 ? atoi(check_argv[0]) : 40;

    for (int i = 0; i < turns; i++) {
        struct splitc_team *t = splitc_all_split(my_rank() / 2, i);

        if (i % 20 == 0)
            calls_agree(t, i);
        splitc_team_free(t);
    }
}

/* ---- what programs do wrong -------------------------------------------------------------- */

static void team_null(void)
{
    splitc_team_barrier(NULL);
}

static void team_after_free(void)
{
    struct splitc_team *t = splitc_all_split(0, 0);

    splitc_team_free(t);
    for (int i = 0; i < 100; i++)
        splitc_team_free(splitc_all_split(0, 0));
    splitc_team_reduce_to_all_add(t, 1);
}

static void team_free_predefined(void)
{
    splitc_team_free(&splitc_team_all);
}

static void team_wild(void)
{
    static uint64_t no_team[100];

    splitc_team_size((struct splitc_team *)no_team);
}

static void team_no_member(void)
{
    splitc_team_proc_of(&splitc_team_all, ranks());
}

static void team_calls_differ(void)
{
    struct splitc_team *t = splitc_all_split(0, 0);

    if (my_rank() == 1)
        splitc_team_barrier(t);
    else
        splitc_team_reduce_to_all_add(t, 1);
}

/* One member has ended without it. */
static void team_member_gone(void)
{
    struct splitc_team *t = splitc_all_split(0, 0);

    if (my_rank() != 1)
        splitc_team_barrier(t);
}

static int called;

static void note_call(void *object, const void *arguments, void *result)
{
    (void)object;
    (void)arguments;
    (void)result;
    called++;
}

/* Who is no member calls members that do nothing but meet. */
static void team_barrier_serves(void)
{
    static struct splitc_atomic function = {.name = "note_call", .run = note_call};
    const splitc_ptr area = area_open(16);
    const int last = ranks() - 1;
    struct splitc_team *t;

    called = 0;
    splitc_register_atomic(&function);
    t = splitc_all_split(my_rank() < 2 && my_rank() < last, 0);
    if (my_rank() < 2 && my_rank() < last)
        while (!splitc_team_reduce_to_all_add(t, called))
            splitc_team_barrier(t);
    else if (my_rank() == last && last > 0)
        splitc_run_atomic(&function, area_at(area, 0, 0), NULL, NULL);
    splitc_team_free(t);
    splitc_barrier();
}

const struct check team_checks[] = {
    {"team_members", team_members},
    {"team_predefined", team_predefined},
    {"team_calls", team_calls},
    {"team_barrier_holds", team_barrier_holds},
    {"team_barrier_serves", team_barrier_serves},
    {"teams_of_teams", teams_of_teams},
    {"teams_come_and_go", teams_come_and_go},
    {"team_null", team_null},
    {"team_after_free", team_after_free},
    {"team_free_predefined", team_free_predefined},
    {"team_wild", team_wild},
    {"team_no_member", team_no_member},
    {"team_calls_differ", team_calls_differ},
    {"team_member_gone", team_member_gone},
    {0},
};
