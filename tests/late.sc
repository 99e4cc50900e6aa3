/* SPDX-License-Identifier: BSD-3-Clause
 *
 * late.sc - processor 0 comes late to the launcher's fences.  All say when they come to one, and
 * when they leave the job: "RANK comes|leaves NANOSECONDS", of this machine's clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <time.h>

enum { LATE_MS = 300 };

static void say(const char *what)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr, "%d %s %ld%09ld\n", MYPROC, what, (long)now.tv_sec, now.tv_nsec);
}

/* The runtime's calls come here first. */
int PMIx_Fence_nb(const void *who, size_t count, const void *directives, size_t directive_count,
                  void (*then)(int status, void *arg), void *arg)
{
    const struct timespec late = {.tv_nsec = LATE_MS * 1000000L};
    int (*fence)(const void *, size_t, const void *, size_t, void (*)(int, void *), void *) =
        dlsym(RTLD_NEXT, "PMIx_Fence_nb");

    if (MYPROC == 0)
        nanosleep(&late, NULL);
    say("comes");
    return fence(who, count, directives, directive_count, then, arg);
}

int PMIx_Finalize(const void *directives, size_t directive_count)
{
    int (*finalize)(const void *, size_t) = dlsym(RTLD_NEXT, "PMIx_Finalize");

    say("leaves");
    return finalize(directives, directive_count);
}

int splitc_main(int argc, char *argv[])
{
    return 0;
}
