/* SPDX-License-Identifier: BSD-3-Clause
 *
 * explain.c - what connections do, and why.
 */
#include "front.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

void front_print_counters(FILE *out, const struct sockets_counters *counters)
{
    fprintf(out, "unetsock: %" PRIu64 " connections\n", counters->connections);
    for (int i = 0; i < SOCKETS_REASONS; i++)
        if (counters->reason[i] > 0)
            fprintf(out, "  %10" PRIu64 "  %s\n", counters->reason[i], sockets_reason_text(i));
    fprintf(out,
            "  by the rings %" PRIu64 " bytes; upgraded, but by TCP %" PRIu64 " bytes\n"
            "  %" PRIu64 " bells, %" PRIu64 " sleeps, %" PRIu64 " looks in vain\n"
            "  %" PRIu64 " changes of epoll sets put off, %" PRIu64
            " polls of several answered by rings\n"
            "  %" PRIu64 " sleeps on the core of the other end\n"
            "  %" PRIu64 " messages to other hosts waited to share a packet\n",
            counters->ring_bytes, counters->tcp_bytes, counters->bells, counters->sleeps,
            counters->spins_lost, counters->deferred, counters->answers, counters->joined,
            counters->shared);
}

/* Where it keeps what, in its own memory. */
struct places {
    uint64_t pool;
    uint64_t stats; /* the counters of --stats, or 0 */
    bool loaded;    /* the library */
};

/* The pool of a process that maps it twice was forked; its own one is the last. */
static bool find_pool(pid_t pid, struct places *places)
{
    char path[64], line[512];
    FILE *maps;

    *places = (struct places){0};
    snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
    maps = fopen(path, "re");
    if (!maps)
        return false;
    errno = 0;
    while (fgets(line, sizeof(line), maps)) {
        places->loaded |= strstr(line, "libunetsock.so") != NULL;
        if (strstr(line, "/memfd:unetsock-pool"))
            places->pool = strtoull(line, NULL, 16);
        else if (strstr(line, "/memfd:unetsock-stats"))
            places->stats = strtoull(line, NULL, 16);
    }
    fclose(maps);
    return places->pool != 0;
}

static const char *carrier_of(const struct sockets_record *record)
{
    const bool sends = record->tx.phase & 1, receives = record->rx.phase & 1;

    return sends && receives ? "by the rings"
           : sends           ? "sends by the rings, receives by TCP"
           : receives        ? "sends by TCP, receives by the rings"
                             : "by TCP";
}

/* Operations are counted only until the upgrade. */
static void print_records(FILE *out, const struct sockets_pool *pool)
{
    for (uint32_t i = 0; i < SOCKETS_RECORDS; i++) {
        const struct sockets_record *record = &pool->record[i];
        const bool upgraded =
            record->reason == SOCKETS_UPGRADED || record->tx.phase > 0 || record->rx.phase > 0;

        if (record->used)
            fprintf(out, "  descriptor %" PRId32 ": %s; %" PRIu32 " operations%s; now %s\n",
                    record->fd, sockets_reason_text(record->reason), record->ops,
                    upgraded ? " before it was upgraded" : "", carrier_of(record));
    }
}

static bool read_memory(pid_t pid, uint64_t address, void *to, size_t size)
{
    const struct iovec ours = {to, size}, theirs = {(void *)(uintptr_t)address, size};

    return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)size;
}

/* With --stats it counts where all that it starts count, too. */
static void print_counters(FILE *out, pid_t pid, const struct places *places,
                           const struct sockets_pool *pool)
{
    struct sockets_counters common;

    if (places->stats && read_memory(pid, places->stats, &common, sizeof(common))) {
        fprintf(out, "unetsock: the counters are those of all processes under its --stats\n");
        front_print_counters(out, &common);
    } else
        front_print_counters(out, &pool->counters);
}

int front_explain(FILE *out, pid_t pid)
{
    struct sockets_pool *pool;
    struct places places;

    errno = 0;
    if (!find_pool(pid, &places)) {
        if (errno)
            fprintf(stderr, "unetsock: cannot look at process %ld: %s\n", (long)pid,
                    strerror(errno));
        else if (places.loaded)
            fprintf(out, "unetsock: process %ld has had no connection\n", (long)pid);
        else
            fprintf(stderr,
                    "unetsock: process %ld runs without libunetsock; start it with unetsock\n",
                    (long)pid);
        return places.loaded ? 0 : 1;
    }
    pool = malloc(sizeof(*pool));
    if (!pool) {
        perror("unetsock");
        return 1;
    }
    if (!read_memory(pid, places.pool, pool, sizeof(*pool)) || pool->magic != SOCKETS_POOL_MAGIC ||
        pool->version != SOCKETS_POOL_VERSION) {
        fprintf(stderr,
                "unetsock: cannot read what process %ld keeps: %s; run this as its user, or root\n",
                (long)pid, errno ? strerror(errno) : "another version of unetsock");
        free(pool);
        return 1;
    }
    print_counters(out, pid, &places, pool);
    print_records(out, pool);
    free(pool);
    return 0;
}
