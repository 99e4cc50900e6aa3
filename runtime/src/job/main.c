/* SPDX-License-Identifier: BSD-3-Clause
 *
 * main.c - where a rank begins and ends.
 *
 * However a rank ends, by returning or by exit(), it comes through `leave`.  One
 * that ends well stays until all do, and serves the others' accesses to its
 * memory meanwhile.
 */
#define _DEFAULT_SOURCE /* on_exit */
#include "checks.h"

#include "keeper.h"
#include "library.h"
#include "memory/window.h"
#include "observe/profile.h"
#include "observe/stats.h"
#include "observe/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A rank that fails waits this long for others to tell of failures of their
 * own, for its end makes the launcher end them. */
#define GRACE_SECONDS 0.5

static pid_t process; /* which one is the rank */

static void leave(int status, void *arg)
{
    (void)arg;
    if (getpid() != process) /* a child by fork is no rank */
        return;
    splitc_own_thread = true; /* whichever called exit */
    fflush(NULL);
    splitc_keeper_stop(); /* from here on we serve messages ourselves */
    if ((status & 0xff) != 0) {
        if (!splitc_runtime.running) /* by a message, which must send none */
            splitc_fail_at_end(GRACE_SECONDS);
        return;
    }
    splitc_sync();
    splitc_meet_at_end();
    splitc_stats_tell();
    splitc_trace_tell();
    splitc_profile_tell();
    splitc_job_close();
}

/* Programs with a leak sanitizer need not hear that PMIx keeps some memory.  Who called
 * strdup there only a slow look at the stack tells; address sanitizers see it themselves.
 * A program may have its own of both. */
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

void splitc_exit(int code)
{
    exit(code);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* lines come whole, into pipes too */
    splitc_own_thread = true;
    splitc_checks_init();
    splitc_job_open();
    process = getpid();
    if (on_exit(leave, NULL) != 0)
        splitc_die("no memory for an exit handler");
    splitc_allocate_statics();
    splitc_barrier(); /* nobody's memory is touched before it is there */
    splitc_run(splitc_entry, argc, argv);
}
