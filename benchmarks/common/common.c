/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- ending early -------------------------------------------------------- */

static const char *program_name = "benchmark"; /* under which errors are reported */

void all_quit(int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (team_rank() == 0) {
        fprintf(stderr, "%s: ", program_name);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
    team_barrier(); /* the message is out before the first processor ends */
    team_exit(code);
}

void all_require(const char *problem, const char *subject, const char *remedy)
{
    int who = (int)team_min(problem ? team_rank() : team_size());

    if (who == team_size())
        return;
    if (team_rank() == who)
        fprintf(stderr, "%s: %s: %s; %s\n", program_name, subject, problem, remedy);
    team_barrier();
    team_exit(1);
}

const char *problem_of(int error)
{
    return error ? strerror(error) : NULL;
}

static void *need(void *memory, size_t bytes)
{
    if (memory)
        return memory;
    fprintf(stderr,
            "%s: processor %d: no memory for %zu bytes; take more processors or less data\n",
            program_name, team_rank(), bytes);
    team_abort(1);
}

void *allocate(size_t bytes)
{
    return need(malloc(bytes ? bytes : 1), bytes);
}

void *reallocate(void *memory, size_t bytes)
{
    return need(realloc(memory, bytes ? bytes : 1), bytes);
}

/* ---- options --------------------------------------------------------------- */

struct asked asked;

static const struct option_entry common_options[] = {
    {"check", OPTION_FLAG, &asked.check, "", "compare the result with an independent one"},
    {"warm", OPTION_FLAG, &asked.warm, "", "do it twice; the second counts"},
    {"json", OPTION_FLAG, &asked.json, "", "report as one line of JSON"},
    {0},
};

static void print_option(const struct option_entry *option)
{
    printf("  --%s %-*s %s\n", option->name, 16 - (int)strlen(option->name), option->shows,
           option->help);
}

static void print_help(const char *summary, const struct option_entry *table)
{
    printf("usage: %s [OPTIONS]\n%s\n\n", program_name, summary);
    for (; table->name; table++)
        print_option(table);
    for (table = common_options; table->name; table++)
        print_option(table);
    printf("  --%-17s %s\n", "help", "print this");
}

static const struct option_entry *find_option(const struct option_entry *table, const char *name,
                                              size_t length)
{
    for (; table->name; table++)
        if (strlen(table->name) == length && memcmp(table->name, name, length) == 0)
            return table;
    return NULL;
}

static long parse_number(const char *name, const char *text)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < 0)
        all_quit(2, "--%s takes a whole number that is not negative, not '%s'", name, text);
    return number;
}

static void set_option(const struct option_entry *option, const char *text)
{
    switch (option->kind) {
    case OPTION_FLAG:
        *(int *)option->value = 1;
        break;
    case OPTION_NUMBER:
        *(long *)option->value = parse_number(option->name, text);
        break;
    case OPTION_TEXT:
        *(const char **)option->value = text;
        break;
    }
}

/* One option; returns how many arguments it took. */
static int parse_option(char **argv, const struct option_entry *table)
{
    const char *name = argv[0] + 2;
    size_t length = strcspn(name, "=");
    const struct option_entry *option;

    if (strncmp(argv[0], "--", 2) != 0)
        all_quit(2, "unexpected argument '%s'; see --help", argv[0]);
    option = find_option(table, name, length);
    if (!option)
        option = find_option(common_options, name, length);
    if (!option)
        all_quit(2, "unknown option '%s'; see --help", argv[0]);
    if (option->kind == OPTION_FLAG && name[length])
        all_quit(2, "--%s takes no value", option->name);
    if (option->kind == OPTION_FLAG || name[length]) {
        set_option(option, name[length] ? name + length + 1 : NULL);
        return 1;
    }
    if (!argv[1])
        all_quit(2, "--%s needs a value; see --help", option->name);
    set_option(option, argv[1]);
    return 2;
}

void parse_options(int argc, char **argv, const char *summary, const struct option_entry *table)
{
    const char *slash = strrchr(argv[0], '/');
    int i;

    program_name = slash ? slash + 1 : argv[0];
    for (i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            if (team_rank() == 0)
                print_help(summary, table);
            team_barrier();
            team_exit(0);
        }
    for (i = 1; i < argc;)
        i += parse_option(argv + i, table);
}

/* ---- blocks -------------------------------------------------------------------- */

long block_length(long total)
{
    return total > 0 ? (total - 1) / team_size() + 1 : 1;
}

long block_share(long total, int processor)
{
    long length = block_length(total);
    long left = total - processor * length;

    return left < 0 ? 0 : left < length ? left : length;
}

/* ---- files -------------------------------------------------------------------- */

int open_input(const char *name, long *length)
{
    /* O_NONBLOCK: do not wait for the other end of a pipe */
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const char *problem = problem_of(fd < 0 ? errno : 0);
    struct stat status = {0};

    if (!problem && fstat(fd, &status) < 0)
        problem = problem_of(errno);
    if (!problem && !S_ISREG(status.st_mode))
        problem = "not a regular file";
    all_require(problem, name, "name a file that every processor can read");
    *length = team_min(status.st_size);
    return fd;
}

/* Devices have no length to cut. */
static int cut(int fd, long length)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return errno;
    return S_ISREG(status.st_mode) && ftruncate(fd, length) < 0 ? errno : 0;
}

int open_output(const char *name, long length)
{
    const char *remedy = "name a file that every processor can write";
    const char *problem = NULL;
    int fd = -1;

    if (team_rank() == 0) {
        fd = open(name, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
        problem = problem_of(fd < 0 ? errno : cut(fd, length));
    }
    all_require(problem, name, remedy);
    if (team_rank() != 0) {
        fd = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        problem = problem_of(fd < 0 ? errno : 0);
    }
    all_require(problem, name, remedy);
    return fd;
}

int read_at(int fd, void *to, long n, long offset)
{
    char *next = to;

    while (n > 0) {
        ssize_t got = pread(fd, next, n, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : ENODATA; /* it became shorter meanwhile */
        next += got;
        offset += got;
        n -= got;
    }
    return 0;
}

int write_at(int fd, const void *from, long n, long offset)
{
    const char *next = from;

    while (n > 0) {
        ssize_t put = pwrite(fd, next, n, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        next += put;
        offset += put;
        n -= put;
    }
    return 0;
}

/* ---- time ---------------------------------------------------------------------- */

void watch_start(struct watch *watch)
{
    team_barrier();
    watch->computation = 0;
    watch->communication = 0;
    watch->mark = team_seconds();
}

static double lap(struct watch *watch)
{
    double now = team_seconds();
    double passed = now - watch->mark;

    watch->mark = now;
    return passed;
}

void watch_computed(struct watch *watch)
{
    watch->computation += lap(watch);
}

void watch_communicated(struct watch *watch)
{
    watch->communication += lap(watch);
}

/* ---- progress --------------------------------------------------------------------- */

#define PROGRESS_AFTER 3.0 /* seconds */

void progress(const char *what, long done, long all)
{
    static double begun, told;
    double now = team_rank() == 0 ? team_seconds() : 0;

    if (team_rank() != 0)
        return;
    if (done == 0)
        begun = told = now;
    if (now - begun < PROGRESS_AFTER || now - told < 1)
        return;
    told = now;
    fprintf(stderr, "%s: %s %ld of %ld, some %.0f s left\n", program_name, what, done, all,
            (now - begun) / (double)done * (double)(all - done));
}

/* ---- the report ------------------------------------------------------------------- */

static struct fact {
    const char *name;
    double value;
} facts[8];
static int fact_count;

void report_fact(const char *name, double value)
{
    if (fact_count < (int)(sizeof facts / sizeof facts[0]))
        facts[fact_count++] = (struct fact){name, value};
}

/* What the processors' watches say together. */
struct times {
    double slowest, mean, computation, communication;
};

static struct times sum_up(const struct watch *watch)
{
    double mine = watch->computation + watch->communication;

    return (struct times){team_max(mine), team_sum(mine) / team_size(),
                          team_sum(watch->computation) / team_size(),
                          team_sum(watch->communication) / team_size()};
}

int next_turn(const struct watch *watch)
{
    static int done;

    if (asked.warm && done == 1)
        report_fact("first", sum_up(watch).slowest);
    return done++ <= asked.warm;
}

/* JSON has no infinity and no NaN. */
static void print_json_number(const char *name, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.9g", name, value);
    else
        printf(", \"%s\": null", name);
}

static void print_json(const char *problem, const struct times *t, double rate, const char *unit,
                       int good)
{
    printf("{\"program\": \"%s\", \"problem\": \"", program_name);
    for (; *problem; problem++)
        if (*problem == '"' || *problem == '\\' || (unsigned char)*problem < ' ')
            printf("\\u%04x", (unsigned char)*problem);
        else
            putchar(*problem);
    printf("\", \"processors\": %d, \"unit\": \"%s\"", team_size(), unit);
    print_json_number("time", t->slowest);
    print_json_number("rate", rate);
    print_json_number("computation", t->computation);
    print_json_number("communication", t->communication);
    for (int i = 0; i < fact_count; i++)
        print_json_number(facts[i].name, facts[i].value);
    printf(", \"check\": %s}\n", !asked.check ? "null" : good ? "\"verified\"" : "\"FAILED\"");
}

static void print_text(const char *problem, const struct times *t, double rate, const char *unit,
                       int good)
{
    double percent = t->mean > 0 ? 100 / t->mean : 0;

    printf("%s: %s, %d processors\n", program_name, problem, team_size());
    printf("  time          %12.6f s\n", t->slowest);
    printf("  rate          %12.3f M %s/s\n", rate / 1e6, unit);
    printf("  computation   %12.6f s %5.1f %%\n", t->computation, t->computation * percent);
    printf("  communication %12.6f s %5.1f %%\n", t->communication, t->communication * percent);
    for (int i = 0; i < fact_count; i++)
        printf("  %-13s %12.6g\n", facts[i].name, facts[i].value);
    if (asked.check)
        printf("  check         %s\n", good ? "verified" : "FAILED");
}

void report(const struct watch *watch, double amount, const char *unit, int good,
            const char *format, ...)
{
    struct times t = sum_up(watch);
    double rate = t.slowest > 0 ? amount / t.slowest : 0;
    char problem[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    if (team_rank() == 0)
        (asked.json ? print_json : print_text)(problem, &t, rate, unit, good);
}
