/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include "common.h"
#include "team.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES(n) ((n) * (long)sizeof(key))

struct keys make_keys(long total, unsigned long seed)
{
    struct keys keys = {NULL, block_share(total, team_rank())};
    long first = team_rank() * block_length(total);

    keys.at = allocate(BYTES(keys.n));
    for (long i = 0; i < keys.n; i++)
        keys.at[i] = random_at(seed, first + i) >> 32;
    return keys;
}

struct keys read_keys(const char *file, long *total)
{
    long length;
    int fd = open_input(file, &length);
    struct keys keys;

    if (length % sizeof(key) != 0)
        all_quit(1,
                 "%s: its length, %ld bytes, is no multiple of %zu; keys are 32 bits, so cut or "
                 "pad the file",
                 file, length, sizeof(key));
    *total = length / sizeof(key);
    keys.n = block_share(*total, team_rank());
    keys.at = allocate(BYTES(keys.n));
    all_require(
        problem_of(read_at(fd, keys.at, BYTES(keys.n), BYTES(team_rank() * block_length(*total)))),
        file, "it could not be read to its end");
    close(fd);
    return keys;
}

/* ---- what all know of all -------------------------------------------------- */

struct summary {
    long n;
    key first, last;
    int sorted;
    struct fingerprint before, after;
};

void write_keys(const char *file, const struct keys *keys, long total)
{
    int fd = open_output(file, BYTES(total));
    long first = team_before(keys->n);
    int error = write_at(fd, keys->at, BYTES(keys->n), BYTES(first));

    if (close(fd) < 0 && !error)
        error = errno;
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}

struct fingerprint fingerprint_keys(const struct keys *keys)
{
    struct fingerprint f = {0, 0};

    for (long i = 0; i < keys->n; i++) {
        f.sum += keys->at[i];
        f.mixed += random_at(0, keys->at[i]);
    }
    return f;
}

static int is_sorted(const struct keys *keys)
{
    for (long i = 1; i < keys->n; i++)
        if (keys->at[i - 1] > keys->at[i])
            return 0;
    return 1;
}

static struct fingerprint join(struct fingerprint a, struct fingerprint b)
{
    return (struct fingerprint){a.sum + b.sum, a.mixed + b.mixed};
}

/* Those of all processors, in order. */
static int agree(const struct summary summaries[])
{
    struct fingerprint before = {0, 0}, after = {0, 0};
    key highest = 0;

    for (int p = 0; p < team_size(); p++) {
        struct summary s = summaries[p];

        before = join(before, s.before);
        after = join(after, s.after);
        if (!s.sorted || (s.n > 0 && s.first < highest))
            return 0;
        if (s.n > 0)
            highest = s.last;
    }
    return before.sum == after.sum && before.mixed == after.mixed;
}

int check_keys(const struct keys *keys, struct fingerprint before)
{
    struct summary *all = allocate(team_size() * sizeof *all);
    struct summary mine = {.n = keys->n,
                           .first = keys->n > 0 ? keys->at[0] : 0,
                           .last = keys->n > 0 ? keys->at[keys->n - 1] : 0,
                           .sorted = is_sorted(keys),
                           .before = before,
                           .after = fingerprint_keys(keys)};
    int good;

    team_gather(all, &mine, sizeof mine);
    good = agree(all);
    free(all);
    return good;
}
