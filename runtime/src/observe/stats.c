/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include "library.h"
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define MIB (1.0 / (1 << 20))

/* The report of a rank, as it is sent. */
struct stats {
    uint64_t sent, received; /* messages, without the packets of bulk transfers */
    uint64_t bulk;           /* bytes of bulk transfers sent from here */
    uint64_t stored;         /* bytes of signalling stores from here */
    uint64_t collectives;
    uint64_t stalls; /* times that a sender waited for room */
    uint64_t narrow; /* ranks to which only short packets pass the network */
    double waited[SPLITC_WAITS];
    double elapsed, cpu;
};

static bool stats_wanted;
static double waited[SPLITC_WAITS];
static double start;
static struct stats *table; /* at processor 0: of each rank, then the sum */
static uint32_t received;   /* reports of other ranks */

void splitc_stats_open(void)
{
    const char *setting = getenv("SPLITC_STATS");

    if (!setting || strcmp(setting, "0") == 0)
        return;
    if (strcmp(setting, "1") != 0)
        splitc_die_together("SPLITC_STATS is \"%s\": it may be 1, to be told what was sent and "
                            "waited for, or 0",
                            setting);
    stats_wanted = true;
    splitc_runtime.observed |= 1u << SPLITC_EVENT_WAIT_BEGUN;
    start = splitc_get_seconds();
    if (splitc_runtime.rank == 0)
        table = calloc(splitc_runtime.ranks + 1ul, sizeof *table);
    if (splitc_runtime.rank == 0 && !table)
        splitc_die("no memory for the statistics of %u ranks", splitc_runtime.ranks);
}

void splitc_stats_wait_ended(const struct splitc_event *e)
{
    if (e->wait->began > 0)
        waited[e->wait->kind] += splitc_get_seconds() - e->wait->began;
}

/* ---- gathering ------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) < 0)
        return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static struct stats own_stats(uint64_t stored)
{
    struct gam_stats g;
    struct reliable_stats network;
    struct stats s = {
        .collectives = splitc_runtime.collectives, .stored = stored, .cpu = cpu_seconds()};

    gam_stats(splitc_runtime.gam, &g);
    s.sent = g.requests + g.replies + g.mediums;
    s.received = g.handled;
    s.bulk = g.bulk_bytes;
    s.stalls = g.stalls;
    splitc_network_stats(&network);
    s.narrow = network.narrow;
    memcpy(s.waited, waited, sizeof s.waited);
    s.elapsed = splitc_get_seconds() - start;
    return s;
}

void splitc_on_stats(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_expect(m, table && m->length == sizeof *table);
    memcpy(&table[m->source], m->data, sizeof *table);
    received++;
}

/* ---- printing --------------------------------------------------------------------- */

static void add_stats(struct stats *sum, const struct stats *s)
{
    sum->sent += s->sent;
    sum->received += s->received;
    sum->bulk += s->bulk;
    sum->stored += s->stored;
    sum->collectives += s->collectives;
    sum->stalls += s->stalls;
    for (int i = 0; i < SPLITC_WAITS; i++)
        sum->waited[i] += s->waited[i];
    sum->elapsed += s->elapsed;
    sum->cpu += s->cpu;
}

static void print_head(FILE *out)
{
    static const char *const column[] = {
        [SPLITC_WAIT_ACCESS] = "access", [SPLITC_WAIT_SYNC] = "sync",
        [SPLITC_WAIT_STORES] = "stores", [SPLITC_WAIT_COLLECTIVE] = "collect.",
        [SPLITC_WAIT_LOCK] = "lock",     [SPLITC_WAIT_END] = "end"};

    fprintf(out, "splitc: %94s\n", "----------- seconds waited for --------------");
    fprintf(out, "splitc: %6s %9s %9s %6s %9s %9s %8s", "rank", "sent", "received", "stalls",
            "bulk MiB", "store MiB", "collect.");
    for (int i = 0; i < SPLITC_WAITS; i++)
        fprintf(out, " %8s", column[i]);
    fprintf(out, " %8s %8s\n", "elapsed", "CPU");
}

static void print_line(FILE *out, const char *rank, const struct stats *s)
{
    fprintf(out, "splitc: %6s %9lu %9lu %6lu %9.1f %9.1f %8lu", rank, s->sent, s->received,
            s->stalls, (double)s->bulk * MIB, (double)s->stored * MIB, s->collectives);
    for (int i = 0; i < SPLITC_WAITS; i++)
        fprintf(out, " %8.3f", s->waited[i]);
    fprintf(out, " %8.3f %8.3f\n", s->elapsed, s->cpu);
}

/* A smaller MTU somewhere on the path costs speed, and nothing else reports it. */
static void print_narrow(FILE *out, uint32_t rank, uint64_t narrow)
{
    if (narrow > 0)
        fprintf(out,
                "splitc: rank %u: on %lu of the ways to other ranks only packets shorter than our "
                "interface's pass; give all interfaces of the network the same MTU\n",
                rank, narrow);
}

static void print_table(void)
{
    struct stats *sum = &table[splitc_runtime.ranks];
    char *text = NULL, rank[16];
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return;
    print_head(out);
    for (uint32_t i = 0; i < splitc_runtime.ranks; i++) {
        snprintf(rank, sizeof rank, "%u", i);
        print_line(out, rank, &table[i]);
        add_stats(sum, &table[i]);
    }
    print_line(out, "total", sum);
    for (uint32_t i = 0; i < splitc_runtime.ranks; i++)
        print_narrow(out, i, table[i].narrow);
    fclose(out);
    fwrite(text, 1, length, stderr);
    free(text);
}

static bool all_received(void)
{
    return received == splitc_runtime.ranks - 1;
}

/* A rank that has sent its report needs nothing from the others any more. */
void splitc_stats_report(uint64_t stored, splitc_await_fn *await)
{
    struct stats own = own_stats(stored);

    if (!stats_wanted && splitc_is_verbose())
        print_narrow(stderr, splitc_runtime.rank, own.narrow);
    if (!stats_wanted)
        return;
    if (splitc_runtime.rank != 0) {
        splitc_sent(0, gam_request_medium(splitc_runtime.gam, 0, SPLITC_MSG_STATS, &own, sizeof own,
                                          0, NULL));
        return;
    }
    table[0] = own;
    await(all_received, SPLITC_ANYBODY);
    print_table();
}
