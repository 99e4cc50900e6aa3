/* SPDX-License-Identifier: BSD-3-Clause
 *
 * main.c - where a rank begins and ends.
 *
 * Whether a rank returns or calls exit(), main_leave runs.  A rank that succeeds stays until all
 * ranks are there, and serves accesses to its memory meanwhile.
 */
#define _DEFAULT_SOURCE /* on_exit */
#include "checks.h"
#include "job.h"
#include "keeper.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank that fails waits this long for others to report failures of their own, because its end
 * makes the launcher end them. */
#define GRACE_SECONDS 0.5

static pid_t process; /* the one that is the rank */

/* For the reports of observers. */
static void main_await(bool (*done)(void), uint32_t whom)
{
    struct splitc_wait w = {.kind = SPLITC_WAIT_END, .what = "its end", .whom = whom};

    while (!done())
        splitc_wait_step(&w);
}

static void main_report(void)
{
    uint64_t stored, landed;

    splitc_stored_counts(&stored, &landed);
    splitc_observers_report(stored, main_await);
}

static void main_leave(int status, void *arg)
{
    (void)arg;
    if (getpid() != process) /* a child by fork is no rank */
        return;
    splitc_own_thread = true; /* any thread may have called exit */
    fflush(NULL);
    splitc_keeper_stop(); /* from here on this thread serves messages */
    if ((status & 0xff) != 0) {
        if (!splitc_runtime.running) /* a handler may send nothing */
            splitc_end_fail(GRACE_SECONDS);
        return;
    }
    splitc_sync();
    splitc_end_meet();
    main_report();
    splitc_job_close();
}

/* A leak sanitizer need not report memory that PMIx keeps.  To see that PMIx has called strdup
 * takes the slow unwinder, which address sanitizers use anyway.  A program may define both
 * functions itself. */
extern void __asan_init(void) __attribute__((weak));
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

__attribute__((weak)) const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix\n";
}

__attribute__((weak)) const char *__lsan_default_options(void)
{
    return __asan_init ? "print_suppressions=0" : "print_suppressions=0:fast_unwind_on_malloc=0";
}

extern void __lsan_disable(void) __attribute__((weak));

static bool leaks_are_asked_for(const char *variable)
{
    const char *options = getenv(variable);

    return options && strstr(options, "detect_leaks");
}

/* The sanitizer does not see that a global pointer reaches memory, as the rank stands in it.  So an
 * address sanitizer looks for leaks if it is told to. */
static void leaks_ignore(void)
{
    if (__asan_init && __lsan_disable && !leaks_are_asked_for("ASAN_OPTIONS") &&
        !leaks_are_asked_for("LSAN_OPTIONS"))
        __lsan_disable();
}

void splitc_exit(int code)
{
    exit(code);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* whole lines, also into pipes */
    leaks_ignore();
    splitc_own_thread = true;
    splitc_checks_open();
    splitc_job_open();
    process = getpid();
    if (on_exit(main_leave, NULL) != 0)
        splitc_die("no memory for an exit handler");
    splitc_spread_allocate_statics();
    splitc_barrier(); /* after it, all ranks have theirs */
    splitc_stack_run(splitc_entry, argc, argv);
}
