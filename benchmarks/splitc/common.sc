/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <split-c/split-c.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- ending early -------------------------------------------------------- */

const char *program_name = "benchmark";

void all_quit(int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    on_one {
        fprintf(stderr, "%s: ", program_name);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
    barrier(); /* the message is out before the first processor ends */
    splitc_exit(code);
}

void all_require(const char *problem, const char *subject, const char *remedy)
{
    int who = all_reduce_to_all_min(problem ? MYPROC : PROCS);

    if (who == PROCS)
        return;
    on_proc(who) fprintf(stderr, "%s: %s: %s; %s\n", program_name, subject, problem, remedy);
    barrier();
    splitc_exit(1);
}

const char *problem_of(int error)
{
    return error ? strerror(error) : NULL;
}

void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (memory)
        return memory;
    fprintf(stderr, "%s: processor %d: no memory for %zu bytes; take more processors or less data\n",
            program_name, MYPROC, bytes);
    splitc_exit(1);
}

/* ---- options --------------------------------------------------------------- */

static void print_help(const char *summary, const struct option_entry *table)
{
    printf("usage: %s [OPTIONS]\n%s\n\n", program_name, summary);
    for (; table->name; table++)
        printf("  --%s %-*s %s\n", table->name, 16 - (int)strlen(table->name), table->shows,
               table->help);
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
            on_one print_help(summary, table);
            barrier();
            splitc_exit(0);
        }
    for (i = 1; i < argc;)
        i += parse_option(argv + i, table);
}

/* ---- files -------------------------------------------------------------------- */

/* A double carries file lengths exactly up to 2^53. */
static long bcast_long(long value)
{
    return (long)all_bcast_d((double)value);
}

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
    *length = bcast_long(status.st_size);
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

    on_one {
        fd = open(name, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
        problem = problem_of(fd < 0 ? errno : cut(fd, length));
    }
    all_require(problem, name, remedy);
    if (MYPROC != 0) {
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
    barrier();
    watch->computation = 0;
    watch->communication = 0;
    watch->mark = get_seconds();
}

static double lap(struct watch *watch)
{
    double now = get_seconds();
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

void report_time(const struct watch *watch, double amount, const char *unit)
{
    double mine = watch->computation + watch->communication;
    double time = all_reduce_to_all_dmax(mine);
    double whole = all_reduce_to_all_dadd(mine) / PROCS;
    double computation = all_reduce_to_all_dadd(watch->computation) / PROCS;
    double communication = all_reduce_to_all_dadd(watch->communication) / PROCS;
    double percent = whole > 0 ? 100 / whole : 0;

    on_one {
        printf("  time          %12.6f s\n", time);
        printf("  rate          %12.3f M %s/s\n", time > 0 ? amount / time / 1e6 : 0, unit);
        printf("  computation   %12.6f s %5.1f %%\n", computation, computation * percent);
        printf("  communication %12.6f s %5.1f %%\n", communication, communication * percent);
    }
}
