/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gups.c - the main program of the random updates.
 */
#include "common.h"
#include "keys.h"
#include "team.h"
#include "updates.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MAX 40

static struct {
    long log2;
    long updates;
    long seed;
    const char *input;
    const char *output;
} given = {.log2 = 20, .seed = 1};

static const struct option_entry options[] = {
    {"log2", OPTION_NUMBER, &given.log2, "N", "a table of 2^N numbers (default 20)"},
    {"updates", OPTION_NUMBER, &given.updates, "N", "random updates (default 4 a number)"},
    {"input", OPTION_TEXT, &given.input, "FILE", "update for each 32-bit key of a file instead"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random updates' seed (default 1)"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write the table, 64-bit little-endian"},
    {0},
};

static void replay(const struct table *table, const struct updates *updates, long first, long n,
                   long *expected)
{
    for (long i = 0; i < updates->n; i++) {
        unsigned long update = update_of(updates, i);
        long slot = slot_of(table, update);

        if (slot >= first && slot < first + n)
            expected[slot - first] += (long)update;
    }
}

/* All keys of a file, for the check. */
static struct keys read_all_keys(const char *file)
{
    long length;
    int fd = open_input(file, &length);
    struct keys keys = {allocate(length), length / (long)sizeof(key)};

    all_require(problem_of(read_at(fd, keys.at, length, 0)), file,
                "it could not be read to its end");
    close(fd);
    return keys;
}

/* Collective: each processor goes through all updates for its block of the table. */
static int check(const struct table *table, long total, long first, long n)
{
    struct updates all = {0, total, given.seed, NULL};
    long *expected = allocate(n * sizeof *expected);
    struct keys keys = {NULL, 0};
    int good;

    if (given.input) {
        keys = read_all_keys(given.input);
        all.key = keys.at;
    }
    memset(expected, 0, n * sizeof *expected);
    replay(table, &all, first, n, expected);
    good = memcmp(table->at, expected, n * sizeof *expected) == 0;
    free(expected);
    free(keys.at);
    return (int)team_min(good);
}

static void write_table(const char *file, const struct table *table, long first, long n)
{
    int fd = open_output(file, (long)sizeof(long) << table->log2);
    int error = write_at(fd, table->at, n * (long)sizeof(long), first * (long)sizeof(long));

    close(fd);
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}

int benchmark_main(int argc, char **argv)
{
    struct updates updates;
    struct keys keys = {NULL, 0};
    struct table table;
    struct watch watch = {0};
    long size, n, first, total;
    int good;

    parse_options(argc, argv, "Random updates of a table that all processors share.", options);
    if (given.log2 > LOG_MAX)
        all_quit(2, "--log2 is from 0 to %d, not %ld", LOG_MAX, given.log2);
    if (given.input && given.updates)
        all_quit(2, "--updates and --input exclude each other; give one of them");
    size = 1l << given.log2;
    total = given.updates ? given.updates : 4 * size;
    if (given.input)
        keys = read_keys(given.input, &total);
    n = block_share(size, team_rank());
    first = n > 0 ? team_rank() * block_length(size) : 0;
    table = (struct table){given.log2, allocate(n * sizeof(long))};
    updates = (struct updates){team_rank() * block_length(total), block_share(total, team_rank()),
                               given.seed, keys.at};

    while (next_turn(&watch)) {
        watch_start(&watch);
        apply(&table, &updates, &watch);
    }

    good = !asked.check || check(&table, total, first, n);
    report(&watch, total, "updates", good, "%ld updates of %ld numbers", total, size);
    if (given.output)
        write_table(given.output, &table, first, n);
    free(keys.at);
    free(table.at);
    return good ? 0 : 1;
}
