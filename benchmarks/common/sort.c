/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sort.c - the main program of the sorts.
 */
#include "sort.h"

#include "team.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSET (-1)
#define DEFAULT_KEYS 524288 /* on each processor, as in the papers */

static struct {
    long keys;
    long seed;
    const char *input;
    const char *output;
    const char *variant;
} given = {.keys = UNSET, .seed = 1, .variant = "bulk"};

static const struct option_entry options[] = {
    {"keys", OPTION_NUMBER, &given.keys, "N", "sort N random keys (default 524288 a processor)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random keys' seed (default 1)"},
    {"input", OPTION_TEXT, &given.input, "FILE", "sort a file of 32-bit little-endian keys"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write the sorted keys to a file"},
    {"variant", OPTION_TEXT, &given.variant, "small|bulk",
     "two keys a message, or one message a peer (default bulk)"},
    {0},
};

static enum variant chosen_variant(void)
{
    if (strcmp(given.variant, "small") == 0)
        return SMALL;
    if (strcmp(given.variant, "bulk") != 0)
        all_quit(2, "--variant is small or bulk, not '%s'", given.variant);
    return BULK;
}

static struct keys load(long *total)
{
    if (given.input && given.keys != UNSET)
        all_quit(2, "--keys and --input exclude each other; give one of them");
    if (given.input)
        return read_keys(given.input, total);
    *total = given.keys != UNSET ? given.keys : (long)DEFAULT_KEYS * team_size();
    return make_keys(*total, given.seed);
}

int benchmark_main(int argc, char **argv)
{
    struct fingerprint before = {0, 0};
    enum variant variant;
    struct watch watch = {0};
    struct keys keys = {NULL, 0};
    long total;
    int good;

    parse_options(argc, argv, sort_summary, options);
    variant = chosen_variant();
    while (next_turn(&watch)) {
        free(keys.at);
        keys = load(&total);
        if (asked.check)
            before = fingerprint_keys(&keys);
        watch_start(&watch);
        sort_keys(&keys, total, variant, &watch);
    }

    good = !asked.check || check_keys(&keys, before);
    report(&watch, total, "keys", good, "%ld keys, variant %s", total, given.variant);
    if (given.output)
        write_keys(given.output, &keys, total);
    free(keys.at);
    return good ? 0 : 1;
}
