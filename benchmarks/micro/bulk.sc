/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bulk.sc MILLISECONDS BYTES... - bulk transfers of those sizes between processor 0 and memory
 * that processor 1 has just written; memcpy between the same mappings, in turn.
 */
#include "bulk.h"
#include "measure.h"

#include <split-c/split-c.h>
#include <string.h>

enum { LEAST = 256 << 10, BLOCKS = 64 }; /* moved at a time, unless it takes more blocks */

static long bytes, blocks;
static char *own, *theirs; /* theirs: processor 1's, seen from here */
static char *global there;

static void read_block(long i)
{
    bulk_read(own + i * bytes, there + i * bytes, bytes);
}

static void write_block(long i)
{
    bulk_write(there + i * bytes, own + i * bytes, bytes);
}

static void raw_read_block(long i)
{
    raw_copy(own + i * bytes, theirs + i * bytes, bytes);
}

static void raw_write_block(long i)
{
    raw_copy(theirs + i * bytes, own + i * bytes, bytes);
}

/* Each time processor 1 has written the blocks before. */
static inline double move(long n, void (*one)(long i))
{
    double ns = 0, start;

    for (long turn = 0; turn < n; turn++) {
        on_proc(1) memset((char *)there, (int)turn, blocks * bytes);
        barrier();
        start = now_ns();
        on_one for (long i = 0; i < blocks; i++) one(i);
        ns += now_ns() - start;
        barrier();
    }
    return ns;
}

static double reads(long n)
{
    return move(n, read_block);
}

static double writes(long n)
{
    return move(n, write_block);
}

static double raw_reads(long n)
{
    return move(n, raw_read_block);
}

static double raw_writes(long n)
{
    return move(n, raw_write_block);
}

static void measure_size(const struct team *team, const char *text)
{
    void *spread memory;
    char metric[64];

    bytes = atol(text);
    blocks = bytes < LEAST ? LEAST / bytes : 1;
    blocks = blocks < BLOCKS ? blocks : BLOCKS;
    memory = all_spread_malloc(PROCS, bytes * blocks);
    own = (char *)tolocal((char *spread)memory);
    there = toglobal(1, own);
    theirs = splitc_near((splitc_ptr)there);
    memset(own, 1, bytes * blocks);
    snprintf(metric, sizeof metric, "bulk_read_%ld", bytes);
    measure(team, metric, blocks, reads, raw_reads);
    snprintf(metric, sizeof metric, "bulk_write_%ld", bytes);
    measure(team, metric, blocks, writes, raw_writes);
    all_spread_free(memory);
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    for (int i = 2; i < argc; i++)
        measure_size(&team, argv[i]);
    return 0;
}
