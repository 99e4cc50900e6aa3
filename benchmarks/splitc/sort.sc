/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sort.sc - the main program of the sorts.
 */
#include "sort.h"

#include <split-c/split-c.h>
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
    int check;
} given = {.keys = UNSET, .seed = 1, .variant = "bulk"};

static const struct option_entry options[] = {
    {"keys", OPTION_NUMBER, &given.keys, "N", "sort N random keys (default 524288 a processor)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random keys' seed (default 1)"},
    {"input", OPTION_TEXT, &given.input, "FILE", "sort a file of 32-bit little-endian keys"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write the sorted keys to a file"},
    {"variant", OPTION_TEXT, &given.variant, "small|bulk",
     "two keys a message, or one message a peer (default bulk)"},
    {"check", OPTION_FLAG, &given.check, "", "see that the result is the input, sorted"},
    {NULL},
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
    *total = given.keys != UNSET ? given.keys : (long)DEFAULT_KEYS * PROCS;
    return make_keys(*total, given.seed);
}

/* Collective: true unless a check was asked for and failed. */
static int report(const struct keys *keys, long total, const struct watch *watch,
                  struct fingerprint before)
{
    int good = !given.check || check_keys(keys, before);

    on_one printf("%s: %ld keys, %d processors, variant %s\n", program_name, total, PROCS,
                  given.variant);
    report_time(watch, total, "keys");
    on_one if (given.check) printf("  check         %s\n", good ? "verified" : "FAILED");
    return good;
}

int splitc_main(int argc, char *argv[])
{
    struct fingerprint before = {0, 0};
    enum variant variant;
    struct watch watch;
    struct keys keys;
    long total;
    int good;

    parse_options(argc, argv, sort_summary, options);
    variant = chosen_variant();
    keys = load(&total);
    if (given.check)
        before = fingerprint_keys(&keys);

    watch_start(&watch);
    sort_keys(&keys, total, variant, &watch);

    good = report(&keys, total, &watch, before);
    if (given.output)
        write_keys(given.output, &keys, total);
    free(keys.at);
    return good ? 0 : 1;
}
