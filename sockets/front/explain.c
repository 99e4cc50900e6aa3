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

/* The pool of a process that maps it twice was forked; its own one is the last. */
static bool find_pool(pid_t pid, uint64_t *address, bool *loaded)
{
    char path[64], line[512];
    bool found = false;
    FILE *maps;

    *loaded = false;
    snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
    maps = fopen(path, "re");
    if (!maps)
        return false;
    errno = 0;
    while (fgets(line, sizeof(line), maps)) {
        *loaded |= strstr(line, "libunetsock.so") != NULL;
        if (!strstr(line, "/memfd:unetsock-pool"))
            continue;
        *address = strtoull(line, NULL, 16);
        found = true;
    }
    fclose(maps);
    return found;
}

static void print_records(FILE *out, const struct sockets_pool *pool)
{
    for (uint32_t i = 0; i < SOCKETS_RECORDS; i++) {
        const struct sockets_record *record = &pool->record[i];

        if (record->used)
            fprintf(out, "  descriptor %" PRId32 ": %s; %" PRIu32 " operations, by TCP now %s%s\n",
                    record->fd, sockets_reason_text(record->reason), record->ops,
                    record->tx.phase & 1 ? "" : "sends", record->rx.phase & 1 ? "" : " receives");
    }
}

int front_explain(FILE *out, pid_t pid)
{
    struct sockets_pool *pool;
    struct iovec ours, theirs;
    uint64_t address;
    bool loaded;

    errno = 0;
    if (!find_pool(pid, &address, &loaded)) {
        if (errno)
            fprintf(stderr, "unetsock: cannot look at process %ld: %s\n", (long)pid,
                    strerror(errno));
        else if (loaded)
            fprintf(out, "unetsock: process %ld has had no connection\n", (long)pid);
        else
            fprintf(stderr,
                    "unetsock: process %ld runs without libunetsock; start it with unetsock\n",
                    (long)pid);
        return loaded ? 0 : 1;
    }
    pool = malloc(sizeof(*pool));
    if (!pool) {
        perror("unetsock");
        return 1;
    }
    ours = (struct iovec){pool, sizeof(*pool)};
    theirs = (struct iovec){(void *)(uintptr_t)address, sizeof(*pool)};
    if (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) != (ssize_t)sizeof(*pool) ||
        pool->magic != SOCKETS_POOL_MAGIC || pool->version != SOCKETS_POOL_VERSION) {
        fprintf(stderr,
                "unetsock: cannot read what process %ld keeps: %s; run this as its user, or root\n",
                (long)pid, errno ? strerror(errno) : "another version of unetsock");
        free(pool);
        return 1;
    }
    front_print_counters(out, &pool->counters);
    print_records(out, pool);
    free(pool);
    return 0;
}
