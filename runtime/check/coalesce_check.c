/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coalesce_check.c - bursts of small accesses, which share messages where they go over a network.
 */
#include "check.h"
#include "library.h"
#include "runtime.h"

#include <split-c/am.h>

enum {
    ROUNDS = 20,
    ACCESSES = 700, /* of a burst: more than one message's */
    LONGEST = 256,
    ORDERED = 24, /* longer accesses that go by themselves may overtake, or be overtaken */
    SPAN = 4096,  /* of a rank's memory at each other rank */
    BURST = 3000,
};

/* ---- bursts of everything --------------------------------------------------------------- */

/* A get, and what it should bring. */
struct expected {
    unsigned char bytes[LONGEST];
    size_t n;
};

static size_t random_size(uint64_t *state, size_t longest)
{
    return 1 + next_random(state) % (next_random(state) % 8 ? 16 : longest);
}

/* One access of this rank's span at `to`, of which `model` is the copy. */
static void access_once(splitc_ptr to, unsigned char *model, uint64_t *state, unsigned char *got,
                        struct expected *expected)
{
    const unsigned kind = (unsigned)(next_random(state) % 3);
    const size_t n = random_size(state, kind == 2 ? ORDERED : LONGEST);
    const size_t half = n > ORDERED ? SPAN / 2 : 0; /* from which nothing is got */
    const size_t at = half + next_random(state) % (SPAN / 2 - n);
    unsigned char bytes[LONGEST];

    expected->n = kind == 2 ? n : 0;
    if (kind == 2) {
        memcpy(expected->bytes, model + at, n);
        splitc_get(got, to + at, n);
        return;
    }
    fill(bytes, n, (unsigned)next_random(state));
    memcpy(model + at, bytes, n);
    if (kind == 1)
        splitc_put(to + at, bytes, n);
    else
        splitc_store(to + at, bytes, n);
    memset(bytes, 0xee, n); /* the source may be reused */
}

/* Accesses of up to ORDERED bytes to one rank are done in their order, also before sync. */
static void bursts_of_everything(void)
{
    uint64_t state = 99 + (uint64_t)my_rank();
    splitc_ptr area = area_open(SPAN * (size_t)ranks());
    unsigned char *model = calloc((size_t)ranks(), SPAN);
    unsigned char(*got)[LONGEST] = calloc(ACCESSES, LONGEST);
    struct expected *expected = calloc(ACCESSES, sizeof *expected);

    memset(area_here(area), 0, SPAN * (size_t)ranks());
    splitc_barrier();
    for (int round = 0; round < ROUNDS; round++) {
        const int favourite = (int)(next_random(&state) % (unsigned)ranks());
        const int accesses = (int)(next_random(&state) % ACCESSES);

        for (int i = 0; i < accesses; i++) {
            const int to = next_random(&state) % 4 ? favourite
                                                   : (int)(next_random(&state) % (unsigned)ranks());

            access_once(area_at(area, to, SPAN * (size_t)my_rank()), model + SPAN * to, &state,
                        got[i], &expected[i]);
        }
        splitc_sync();
        for (int i = 0; i < accesses; i++)
            EXPECT_EQ(0, memcmp(expected[i].bytes, got[i], expected[i].n));
    }
    splitc_all_store_sync();
    for (int r = 0; r < ranks(); r++) {
        unsigned char *there = malloc(SPAN);

        splitc_bulk_read(there, area_at(area, r, SPAN * (size_t)my_rank()), SPAN);
        EXPECT_EQ(0, memcmp(model + SPAN * r, there, SPAN));
        free(there);
    }
    splitc_barrier();
    free(expected);
    free(got);
    free(model);
    area_close(area);
}

/* ---- what goes behind a burst ------------------------------------------------------------- */

static long values[BURST];
static volatile long heard;

static void on_burst(int source, am_word n)
{
    (void)source;
    heard = values[n - 1];
}

/* What splitcc emits. */
static void run_burst(int source, const union splitc_argument *argument)
{
    on_burst(source, argument[0].word);
}

static const struct splitc_handler own[] = {
    {(void (*)(void))on_burst, run_burst, "on_burst", 1, 0}};

static void __attribute__((constructor)) register_own(void)
{
    splitc_register_handlers(own, 1);
}

static void burst_of_stores(splitc_ptr area, int to, int n)
{
    for (long i = 0; i < n; i++) {
        const long value = i + 1;

        splitc_store(area_at(area, to, (size_t)i * sizeof value), &value, sizeof value);
    }
}

/* A read, an active message or a bulk transfer behind a burst finds it done. */
static void burst_then_message(void)
{
    const splitc_ptr area = splitc_make(my_rank(), values);
    const int to = neighbour(1);

    for (int n = 1; n < BURST; n = n * 3 / 2 + 1) {
        long last;

        memset(values, 0, sizeof values);
        heard = 0;
        splitc_barrier();
        burst_of_stores(area, to, n);
        splitc_bulk_read(&last, area_at(area, to, (size_t)(n - 1) * sizeof last), sizeof last);
        EXPECT_EQ(n, last);
        splitc_all_store_sync();
        memset(values, 0, sizeof values);
        splitc_barrier();
        burst_of_stores(area, to, n);
        am_request_1(to, on_burst, n);
        while (heard == 0)
            am_poll();
        EXPECT_EQ(n, heard);
        splitc_all_store_sync();
    }
}

/* A rank that waits in all_store_sync for what usually comes sends its bursts: others, who read
 * from it until they have those, store afterwards. */
static void burst_then_all_store_sync(void)
{
    enum { PHASES = 40, USUAL = 20, WORDS = 6, READS = 200 };
    const splitc_ptr area = splitc_make(my_rank(), values);
    const long one = 1;
    long reads_most = 0;

    for (int round = 1; round <= PHASES; round++) {
        heard = values[WORDS - 1] = 0;
        for (int i = 0; i < USUAL; i++) {
            splitc_barrier();
            if (my_rank() > 0)
                splitc_store(area_at(area, 0, WORDS * sizeof one), &one, sizeof one);
            splitc_all_store_sync();
        }
        for (int to = 1; my_rank() == 0 && to < ranks(); to++)
            burst_of_stores(area, to, WORDS);
        if (my_rank() > 0) {
            long reads = 0;

            for (; ((volatile long *)values)[WORDS - 1] != WORDS; reads++)
                splitc_bulk_read((void *)&heard, area_at(area, 0, 0), sizeof heard);
            reads_most = reads > reads_most ? reads : reads_most;
            splitc_store(area_at(area, 0, WORDS * sizeof one), &one, sizeof one);
        }
        splitc_all_store_sync();
    }
    EXPECT(splitc_castable(area_at(area, 0, 0)) || reads_most <= READS);
}

/* A rank that only polls sends its bursts, whatever their length. */
static void burst_then_polls(void)
{
    const splitc_ptr area = splitc_make(my_rank(), values);

    for (int n = 1; n < 200; n += 7) {
        burst_of_stores(area, neighbour(1), n);
        while (!splitc_is_store_sync(n * (long)sizeof(long)))
            continue;
        splitc_store_sync(n * (long)sizeof(long));
        for (int i = 0; i < n; i++)
            EXPECT_EQ(i + 1, values[i]);
        splitc_barrier();
    }
}

/* The same where the target waits and the others enter a collective. */
static void burst_then_collective(void)
{
    const splitc_ptr area = splitc_make(my_rank(), values);

    for (int n = 1; n < 200; n += 7) {
        if (my_rank() == 1 % ranks())
            burst_of_stores(area, 0, n);
        if (my_rank() == 0)
            splitc_store_sync(n * (long)sizeof(long));
        splitc_barrier();
    }
}

/* Runs of neighbouring elements, forwards and backwards, in one message. */
static void bursts_of_runs(void)
{
    splitc_ptr area = area_open(sizeof values);
    const int to = neighbour(1), from = neighbour(-1);
    long back[BURST];

    for (long i = 0; i < BURST; i++) {
        const long at = i < BURST / 2 ? i : BURST - 1 - (i - BURST / 2), value = 7 * at + my_rank();

        splitc_put(area_at(area, to, (size_t)at * sizeof value), &value, sizeof value);
    }
    for (long i = 0; i < BURST; i++)
        splitc_get(&back[i], area_at(area, to, (size_t)i * sizeof(long)), sizeof(long));
    splitc_sync();
    for (long i = 0; i < BURST; i++)
        EXPECT_EQ(7 * i + my_rank(), back[i]);
    splitc_barrier();
    for (long i = 0; i < BURST; i++)
        EXPECT_EQ(7 * i + from, ((long *)splitc_address(area))[i]);
    area_close(area);
}

/* A rank waits for what its stores cause by reading the memory of a rank of its node, which serves
 * no messages: rank 0 stores to 2, which then writes to 1, and 0 looks there. */
static void waits_by_reading(void)
{
    static volatile int flag;
    const splitc_ptr there = splitc_make(1 % ranks(), (void *)(uintptr_t)&flag);
    const int n = 7, one = 1;

    flag = ranks() == 1; /* where nobody else would write it */
    splitc_barrier();
    if (my_rank() == 0) {
        const volatile int *near = splitc_castable(there);

        burst_of_stores(splitc_make(0, values), ranks() - 1, n);
        while (near ? *near == 0 : splitc_far_read_word(there, sizeof flag) == 0)
            continue;
    }
    if (my_rank() == ranks() - 1 && ranks() > 1) {
        splitc_store_sync(n * (long)sizeof(long));
        splitc_write(there, &one, sizeof one);
    }
    splitc_barrier();
}

/* Stores to the same object are done in their order, however long they are. */
static void stores_keep_order(void)
{
    enum { WORDS = 400 };
    splitc_ptr area = area_open(WORDS * sizeof(long));
    uint64_t state = 5;
    long model[WORDS] = {0};

    memset(area_here(area), 0, sizeof model);
    splitc_barrier();
    for (int i = 0; i < 4000; i++) {
        const size_t most = next_random(&state) % 4 ? 3 : WORDS;
        const size_t n = 1 + next_random(&state) % most, at = next_random(&state) % (WORDS - n + 1);
        long words[WORDS];

        for (size_t k = 0; k < n; k++)
            model[at + k] = words[k] = (long)next_random(&state);
        splitc_bulk_store(area_at(area, neighbour(1), at * sizeof(long)), words,
                          (long)(n * sizeof(long)));
        if (i % 500 == 499) {
            splitc_all_store_sync();
            EXPECT_EQ(0, memcmp(model, area_here(area), sizeof model));
            splitc_barrier();
        }
    }
    area_close(area);
}

/* ---- lies ------------------------------------------------------------------------------------ */

/* Rank 1 sends records that make no sense; the argument says which. */
static void lying_records(void)
{
    const uint64_t in_bounds = (uintptr_t)values;
    struct lie {
        const char *name;
        enum splitc_message message;
        uint64_t record[3];
        size_t length;
        uint32_t words;
        uint64_t counts[2];
    } lies[] = {
        {"short", SPLITC_MSG_RECORDS, {1ull << 62 | 8ull << 48 | in_bounds}, 12, 2, {0}},
        {"long", SPLITC_MSG_RECORDS, {1ull << 62 | 24ull << 48 | in_bounds}, 24, 2, {0}},
        {"kind", SPLITC_MSG_RECORDS, {8ull << 48 | in_bounds}, 16, 2, {0}},
        {"get",
         SPLITC_MSG_RECORDS,
         {3ull << 62 | 8100ull << 48 | in_bounds, in_bounds},
         16,
         2,
         {0}},
        {"cut", SPLITC_MSG_RECORDS, {3ull << 62 | 8ull << 48 | in_bounds}, 8, 2, {0}},
        {"words", SPLITC_MSG_RECORDS, {0}, 0, 1, {0}},
        {"puts", SPLITC_MSG_RECORDS_DONE, {0}, 0, 2, {1, 0}},
        {"gets", SPLITC_MSG_RECORDS_DONE, {0}, 0, 2, {0, 1}},
        {"answer", SPLITC_MSG_RECORDS_DONE, {16ull << 48 | in_bounds}, 16, 2, {0}},
    };

    splitc_barrier();
    if (my_rank() == 1) {
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            if (strcmp(lies[i].name, check_argv[0]) == 0)
                gam_request_medium(splitc_runtime.gam, 0, lies[i].message, lies[i].record,
                                   lies[i].length, lies[i].words, lies[i].counts);
        }
    }
    splitc_barrier();
}

const struct check coalesce_checks[] = {
    {"bursts_of_everything", bursts_of_everything},
    {"burst_then_message", burst_then_message},
    {"burst_then_all_store_sync", burst_then_all_store_sync},
    {"burst_then_polls", burst_then_polls},
    {"burst_then_collective", burst_then_collective},
    {"bursts_of_runs", bursts_of_runs},
    {"waits_by_reading", waits_by_reading},
    {"stores_keep_order", stores_keep_order},
    {"lying_records", lying_records},
    {0},
};
