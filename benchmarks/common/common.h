/* SPDX-License-Identifier: BSD-3-Clause
 *
 * common.h - what every benchmark program needs: options, errors that all
 * processors agree on, files read and written in parts, and a watch.
 */
#ifndef BENCHMARKS_COMMON_H
#define BENCHMARKS_COMMON_H

#include <stddef.h>

/* ---- ending early -------------------------------------------------------- */

/* All processors call it alike: the first one prints the message, and all end
 * with that exit code. */
void all_quit(int code, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Collective.  If any processor has a problem (NULL = none), the first that has
 * one prints "PROGRAM: SUBJECT: PROBLEM; REMEDY" and all end with exit code 1. */
void all_require(const char *problem, const char *subject, const char *remedy);

/* The text of an errno value, or NULL for 0. */
const char *problem_of(int error);

/* malloc and realloc, or the end of the program. */
void *allocate(size_t bytes);
void *reallocate(void *memory, size_t bytes);

/* ---- options --------------------------------------------------------------- */

enum option_kind { OPTION_FLAG, OPTION_NUMBER, OPTION_TEXT };

struct option_entry {
    const char *name; /* without the dashes; NULL ends a table */
    enum option_kind kind;
    void *value;       /* int, long or const char * by the kind */
    const char *shows; /* what the help calls the argument */
    const char *help;
};

/* What every program can be asked for. */
extern struct asked {
    int check; /* compare the result with an independent one */
    int warm;  /* do all twice; the second time counts */
    int json;
} asked;

/* Collective: fill in the values named on the command line (--name VALUE or
 * --name=VALUE), or print the help, or end with exit code 2. */
void parse_options(int argc, char **argv, const char *summary, const struct option_entry *table);

/* ---- blocks --------------------------------------------------------------------- */

/* N things, numbered 0 to N-1, lie in blocks of equal length, block p on processor p; the
 * last blocks may be short or empty.  The length is at least 1. */
long block_length(long total);

/* How many of them a processor has. */
long block_share(long total, int processor);

/* ---- files -------------------------------------------------------------------- */

/* Collective: open an existing regular file on every processor and tell its length. */
int open_input(const char *name, long *length);

/* Collective: open a file for writing, made if need be, and cut it to `length`. */
int open_output(const char *name, long length);

/* Read or write all n bytes at an offset; 0 or an errno value. */
int read_at(int fd, void *to, long n, long offset);
int write_at(int fd, const void *from, long n, long offset);

/* ---- time ---------------------------------------------------------------------- */

/* Where a processor's time goes: each call charges what has passed since the
 * call before. */
struct watch {
    double mark;
    double computation;
    double communication;
};

void watch_start(struct watch *watch); /* collective, all begin together; again: from now on */
void watch_computed(struct watch *watch);
void watch_communicated(struct watch *watch);

/* Collective: whether to do the problem (once more).  There is one turn, or with --warm one before
 * it, which finds memory that nobody has touched; its time is in the report, too. */
int next_turn(const struct watch *watch);

/* Collective: say on processor 0's standard error how far a long run is, now and then.
 * Begins with done = 0. */
void progress(const char *what, long done, long all);

/* One more number for the report. */
void report_fact(const char *name, double value);

/* Collective: print, as text or as one line of JSON, the problem, the time of the slowest
 * processor, the rate at which `amount` was done, how the processors' time was spent on
 * average, the facts, and, where a check was asked for, whether the result is good. */
void report(const struct watch *watch, double amount, const char *unit, int good,
            const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
