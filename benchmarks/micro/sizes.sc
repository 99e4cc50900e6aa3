/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sizes.sc MILLISECONDS BYTES... - stores and fetches of those sizes between two processors, over
 * whatever network; and accesses of one word.
 */
#include "measure.h"

#include <split-c/split-c.h>
#include <string.h>

enum { LONGEST = 1 << 20, FETCHES = 16 /* between two syncs */, OBJECTS = 1024 };

static char own[LONGEST];
static char *global there; /* the other's */
static long *global word;
static long value[OBJECTS];
static long bytes;

/* ---- any size ----------------------------------------------------------------------------- */

static double store_round_trips(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        on_one bulk_store(there, own, bytes);
        store_sync(bytes);
        on_proc(1) bulk_store(there, own, bytes);
    }
    return now_ns() - start;
}

static double store_stream(long n)
{
    double start;

    barrier();
    start = now_ns();
    on_one for (long i = 0; i < n; i++) bulk_store(there, own, bytes);
    on_proc(1)
    {
        store_sync(n * bytes);
        bulk_store(there, own, sizeof(long));
    }
    on_one store_sync(sizeof(long));
    return now_ns() - start;
}

static double get_stream(long n)
{
    double start;

    barrier();
    start = now_ns();
    on_one for (long i = 1; i <= n; i++)
    {
        bulk_get(own, there, bytes);
        if (i % FETCHES == 0 || i == n)
            sync();
    }
    barrier();
    return now_ns() - start;
}

static void measure_size(const struct team *team, const char *text)
{
    static const struct {
        const char *name;
        batch_fn *batch;
    } patterns[] = {
        {"round_trip", store_round_trips}, {"stream", store_stream}, {"get_stream", get_stream}};
    char metric[64];

    bytes = atol(text);
    if (bytes == 0) /* no store: nobody could wait for it */
        return;
    for (int i = 0; i < 3; i++) {
        snprintf(metric, sizeof metric, "%s_%ld", patterns[i].name, bytes);
        measure(team, metric, 1, patterns[i].batch, 0);
    }
}

/* ---- one word ----------------------------------------------------------------------------- */

static double reads(long n)
{
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < OBJECTS; i++)
            value[i] = word[i];
    return now_ns() - start;
}

static double writes(long n)
{
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < OBJECTS; i++)
            word[i] = value[i];
    return now_ns() - start;
}

static double gets(long n)
{
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < OBJECTS; i++)
            value[i] := word[i];
        sync();
    }
    return now_ns() - start;
}

static double put_all(long n)
{
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < OBJECTS; i++)
            word[i] := value[i];
        sync();
    }
    return now_ns() - start;
}

static double stores(long n)
{
    double start;

    barrier();
    start = now_ns();
    on_one for (long turn = 0; turn < n; turn++)
    {
        for (long i = 0; i < OBJECTS; i++)
            word[i] :- value[i];
    }
    on_proc(1)
    {
        store_sync(n * OBJECTS * (long)sizeof(long));
        bulk_store(there, own, sizeof(long));
    }
    on_one store_sync(sizeof(long));
    return now_ns() - start;
}

static void measure_words(const struct team *team)
{
    struct team alone = *team;

    alone.alone = 1;
    measure(&alone, "read", OBJECTS, reads, 0);
    measure(&alone, "write", OBJECTS, writes, 0);
    measure(&alone, "get", OBJECTS, gets, 0);
    measure(&alone, "put", OBJECTS, put_all, 0);
    measure(team, "store", OBJECTS, stores, 0);
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    there = toglobal(!MYPROC, own);
    word = toglobal(!MYPROC, value);
    memset(own, 1, sizeof own);
    barrier();
    measure_words(&team);
    for (int i = 2; i < argc; i++)
        measure_size(&team, argv[i]);
    return 0;
}
