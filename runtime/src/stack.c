/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stack.c - the stack of splitc_main.
 */
#include "window.h"

#include <stdlib.h>
#include <ucontext.h>

static struct {
    int (*entry)(int argc, char **argv);
    int argc;
    char **argv;
} program;

static void run(void)
{
    exit(program.entry(program.argc, program.argv));
}

/* The stack that the system gave us is left for good: exit handlers run on the new one. */
_Noreturn void splitc_run(int (*entry)(int argc, char **argv), int argc, char **argv)
{
    const struct splitc_memory *memory = splitc_windows_memory();
    ucontext_t context;

    program.entry = entry;
    program.argc = argc;
    program.argv = argv;
    if (memory && getcontext(&context) == 0) {
        context.uc_stack.ss_sp = (void *)memory->part[SPLITC_STACK].start;
        context.uc_stack.ss_size = memory->part[SPLITC_STACK].size;
        context.uc_link = NULL;
        makecontext(&context, run, 0);
        setcontext(&context);
    }
    run();
    abort(); /* exit does not return */
}
