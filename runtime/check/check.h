/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.h - what the checks of the runtime share.
 *
 * A check is a function that every rank of a job runs; it ends the job with a
 * line that tells what was expected and what was seen.  runtime_test.cc starts
 * runtime_check once per check and number of ranks.
 */
#ifndef RUNTIME_CHECK_H
#define RUNTIME_CHECK_H

#include <split-c/abi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    const char *name;
    void (*run)(void);
};

/* One table per file of checks, ended by an entry without a name. */
extern const struct check access_checks[];
extern const struct check store_checks[];
extern const struct check coalesce_checks[];
extern const struct check strided_checks[];
extern const struct check collective_checks[];
extern const struct check heap_checks[];
extern const struct check atomic_checks[];
extern const struct check program_checks[];
extern const struct check error_checks[];
extern const struct check fault_checks[];
extern const struct check names_checks[];
extern const struct check litmus_checks[];
extern const struct check window_checks[];
extern const struct check huge_checks[];
extern const struct check handle_checks[];
extern const struct check team_checks[];
extern const struct check array_checks[];
extern const struct check threads_checks[];

/* The words behind the name of the check on the command line. */
extern int check_argc;
extern char **check_argv;

void expect_equal(const char *file, int line, const char *what, long long expected, long long seen);
void expect_near(const char *file, int line, const char *what, double expected, double seen);

#define EXPECT(condition) expect_equal(__FILE__, __LINE__, #condition, 1, !!(condition))
#define EXPECT_EQ(expected, seen) expect_equal(__FILE__, __LINE__, #seen, (expected), (seen))
#define EXPECT_DOUBLE(expected, seen) expect_near(__FILE__, __LINE__, #seen, (expected), (seen))

/* A generator of repeatable numbers (splitmix64). */
uint64_t next_random(uint64_t *state);

/* Burn some time, different on every rank, so that ranks come to the next call
 * in any order. */
void skew(uint64_t *state);

/* Bytes that tell where they come from: byte i depends on i and the seed. */
void fill(void *to, size_t n, unsigned seed);

/* That `from` holds the n bytes of such a pattern that begin at byte `first`. */
void expect_filled(const char *file, int line, const void *from, size_t n, size_t first,
                   unsigned seed);

#define EXPECT_FILLED(from, n, first, seed)                                                        \
    expect_filled(__FILE__, __LINE__, (from), (n), (first), (seed))

/* That GUARD bytes on both sides of the n at `object` are still GUARD_BYTE. */
#define GUARD 32
#define GUARD_BYTE 0x5a
void expect_guarded(const char *file, int line, const void *object, size_t n);

#define EXPECT_GUARDED(object, n) expect_guarded(__FILE__, __LINE__, (object), (n))

static inline int my_rank(void)
{
    return splitc_job.myproc;
}

static inline int ranks(void)
{
    return splitc_job.procs;
}

/* The rank `distance` above ours, round about. */
static inline int neighbour(int distance)
{
    return ((my_rank() + distance) % ranks() + ranks()) % ranks();
}

/* An area of the same address on every rank, and an address in it on any rank. */
splitc_ptr area_open(size_t bytes);
void area_close(splitc_ptr area);

static inline splitc_ptr area_at(splitc_ptr area, int rank, size_t offset)
{
    return splitc_make(rank, (char *)splitc_address(area) + offset);
}

/* The descriptor of the object that this rank's memory is; -1: it has none. */
int memory_object(void);

static inline char *area_here(splitc_ptr area)
{
    return splitc_address(area);
}

#endif
