/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of how a program begins, ends and prints.
 */
#include "check.h"
#include "library.h"
#include "observe/trace.h"

#include <errno.h>
#include <split-c/am.h>
#include <sys/wait.h>
#include <unistd.h>

static void identity(void)
{
    int n = ranks(), log = splitc_job.procslog;

    EXPECT(n >= 1 && my_rank() >= 0 && my_rank() < n);
    EXPECT_EQ(n * (n - 1) / 2, splitc_all_reduce_to_all_add(my_rank()));
    if (n & (n - 1))
        EXPECT(log < 0);
    else
        EXPECT_EQ(n, 1 << log);
}

/* Called as: arguments one "" "two words". */
static void arguments(void)
{
    EXPECT_EQ(3, check_argc);
    EXPECT(strcmp(check_argv[0], "one") == 0);
    EXPECT(strcmp(check_argv[1], "") == 0);
    EXPECT(strcmp(check_argv[2], "two words") == 0);
    EXPECT(check_argv[3] == NULL);
}

static void time_goes_on(void)
{
    double begin = splitc_get_seconds(), now;

    do {
        now = splitc_get_seconds();
        EXPECT(now >= begin);
    } while (now - begin < 1e-3);
    EXPECT(now - begin < 30);
}

/* Written in pieces, each line comes out in one. */
static void whole_lines(void)
{
    for (int line = 0; line < 200; line++) {
        printf("<%d", my_rank());
        for (int i = 0; i < 20; i++)
            printf("-%d", i);
        printf(">\n");
    }
}

/* Rank 0 goes on long after the others have returned, and they still serve it. */
static void leaving_early(void)
{
    static long object;
    splitc_ptr area = area_open(sizeof(splitc_ptr));
    splitc_ptr g;

    object = 5 * my_rank();
    *(splitc_ptr *)splitc_address(area) = splitc_from_local(&object);
    splitc_barrier();
    if (my_rank() != 0)
        return;
    for (int i = 0; i < 1000; i++) {
        long seen;

        splitc_read(&g, area_at(area, neighbour(i), 0), sizeof g);
        splitc_read(&seen, g, sizeof seen);
        EXPECT_EQ(5 * neighbour(i), seen);
    }
    printf("served to the end\n");
}

static void said_at_exit(void)
{
    printf("exit handler of rank %d\n", my_rank());
}

/* exit(0) from anywhere ends a rank as returning does. */
static void exits_well(void)
{
    atexit(said_at_exit);
    if (my_rank() % 2)
        splitc_exit(0);
    exit(0);
}

/* Children that end are not the end of their rank. */
static void children(void)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        exit(my_rank() + 1);
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT(WIFEXITED(status));
    EXPECT_EQ(my_rank() + 1, WEXITSTATUS(status));
    EXPECT_EQ(0, system("true"));
    splitc_barrier();
    EXPECT_EQ(ranks(), splitc_all_reduce_to_all_add(1));
}

/* Puts that nobody has waited for are complete when the job ends. */
static void unfinished_puts(void)
{
    splitc_ptr area = area_open(8 * 1000);

    for (long i = 0; i < 1000; i++)
        splitc_put(area_at(area, neighbour(1), 8 * (size_t)i), &i, sizeof i);
}

/* ---- active messages of the program's own ---------------------------------------- */

static _Atomic long answers, sum_seen; /* also another thread serves, if the job is told so */

static void on_sum(int source, am_word sum)
{
    (void)source;
    sum_seen += (long)sum;
    answers++;
}

static void on_add(int source, am_word a, am_word b)
{
    EXPECT_EQ(0, am_reply_1(source, on_sum, a + b));
}

/* What splitcc emits. */
static void run_sum(int source, const union splitc_argument *argument)
{
    on_sum(source, argument[0].word);
}

static void run_add(int source, const union splitc_argument *argument)
{
    on_add(source, argument[0].word, argument[1].word);
}

static const struct splitc_handler own[] = {
    {(void (*)(void))on_sum, run_sum, "on_sum", 1, 0},
    {(void (*)(void))on_add, run_add, "on_add", 2, 0},
};

static void __attribute__((constructor)) register_own(void)
{
    splitc_register_handlers(own, 2);
}

static void own_messages(void)
{
    long expected = 0;

    EXPECT_EQ(0, am_enable());
    EXPECT_EQ(ranks(), am_procs());
    EXPECT_EQ(my_rank(), am_my_proc());
    for (int i = 0; i < 1000; i++) {
        EXPECT_EQ(0, am_request_2(neighbour(i), on_add, (am_word)i, 1));
        expected += i + 1;
    }
    while (answers < 1000)
        splitc_poll();
    EXPECT_EQ(expected, sum_seen);
    splitc_barrier();
}

/* A token goes round; who has not got it waits as programs do that know active messages alone. */
static void waits_by_polling(void)
{
    for (long round = 1; round <= 400; round++) {
        if (my_rank() == 0)
            am_request_1(neighbour(1), on_sum, 1);
        while (answers < round)
            am_poll();
        if (my_rank() != 0)
            am_request_1(neighbour(1), on_sum, 1);
    }
    splitc_barrier();
}

/* Rank 0 waits a tenth of a second for what rank 1 stores; what else there is to count. */
static void late_store(void)
{
    splitc_ptr area = area_open(1 << 20);
    long value = 1;

    if (my_rank() == 1) {
        usleep(100000);
        splitc_store(area_at(area, 0, 0), &value, sizeof value);
        splitc_bulk_store(area_at(area, 0, 8), area_here(area), (1 << 20) - 8);
    }
    if (my_rank() == 0)
        splitc_store_sync(1 << 20);
    splitc_barrier();
}

static void poll_until(bool (*done)(void), uint32_t whom)
{
    (void)whom;
    while (!done())
        splitc_poll();
}

/* The traces of the others come before rank 0 is at its own.  Rank 0 does not leave before the
 * others do, and their messages that say so come after their traces. */
static void traced_early(void)
{
    if (my_rank() != 0)
        splitc_trace_report(poll_until);
}

/* All fail, each with a line and code 3; every line has to come out. */
static void fails_together(void)
{
    fprintf(stderr, "rank %d fails\n", my_rank());
    exit(3);
}

/* The last rank looks only at its own memory, which the one before it writes: in C a race, in
 * Split-C what memory is for. */
__attribute__((no_sanitize("thread"))) static void waiting_without_polling(void)
{
    static volatile int flag;
    const int one = 1;

    if (my_rank() == ranks() - 2)
        splitc_write(splitc_make(ranks() - 1, (const void *)&flag), &one, sizeof one);
    if (my_rank() == ranks() - 1)
        while (!flag)
            ;
    splitc_barrier();
}

const struct check program_checks[] = {
    {"waiting_without_polling", waiting_without_polling},
    {"identity", identity},
    {"arguments", arguments},
    {"time_goes_on", time_goes_on},
    {"whole_lines", whole_lines},
    {"leaving_early", leaving_early},
    {"exits_well", exits_well},
    {"children", children},
    {"unfinished_puts", unfinished_puts},
    {"own_messages", own_messages},
    {"waits_by_polling", waits_by_polling},
    {"late_store", late_store},
    {"traced_early", traced_early},
    {"fails_together", fails_together},
    {0},
};
