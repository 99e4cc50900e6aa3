/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pair.h - two processors that import each other's buffer, for the measurements of the paper.
 */
#ifndef VMMC_PAIR_H
#define VMMC_PAIR_H

#include "measure.h"

#include <errno.h>
#include <split-c/gam.h>
#include <split-c/split-c.h>
#include <string.h>
#include <vmmc/vmmc.h>

enum { SECRET = 0x1997 };

static struct vmmc *v;

static void need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "vmmc: %s: %s\n", what, strerror(-rc));
    exit(1);
}

static void pair_open(void)
{
    struct gam *g;
    uint32_t first;

    if (PROCS != 2) {
        on_one fprintf(stderr, "vmmc: runs on 2 processors\n");
        exit(2);
    }
    g = splitc_gam(VMMC_HANDLERS, &first);
    need(vmmc_open(g, first, &v), "vmmc_open");
}

/* Collective: a buffer here, and the other's of that name. */
static void pair_export(uint64_t name, void *at, size_t n, unsigned flags,
                        struct vmmc_exported **mine, struct vmmc_imported **theirs)
{
    need(vmmc_export(v, name, SECRET, !MYPROC, at, n, flags, NULL, NULL, mine), "vmmc_export");
    need(vmmc_import(v, !MYPROC, name, SECRET, 10000, theirs, NULL), "vmmc_import");
}

static inline void pair_await(const struct vmmc_exported *mine, uint64_t bytes)
{
    while (vmmc_arrived(mine) < bytes)
        need(vmmc_poll(v), "vmmc_poll");
}

/* A size from the command line. */
static size_t size_of(const char *text, size_t most)
{
    const size_t bytes = strtoul(text, NULL, 10);

    if (bytes == 0 || bytes > most)
        need(-EINVAL, text);
    return bytes;
}

/* Called for each size, with its metric's name. */
static void measure_pair(const struct team *team, const char *kind, size_t bytes, long per_unit,
                         batch_fn *ours, batch_fn *raw)
{
    char metric[64];

    snprintf(metric, sizeof metric, "%s_%zu", kind, bytes);
    measure(team, metric, per_unit, ours, raw);
}

#endif
