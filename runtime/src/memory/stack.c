/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stack.c - the stack of splitc_main.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_STACK */
#include "library.h"
#include "object.h"
#include "observe/observe.h"
#include "settings.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

static struct {
    int (*entry)(int argc, char **argv);
    int argc;
    char **argv;
} program;

static void run_program(void)
{
    exit(program.entry(program.argc, program.argv));
}

/* A stack without windows, above pages whose access ends the program where it overflows. */
static struct splitc_range map_large_stack(void)
{
    const uint64_t guard = 1ul << 20;
    char *at;

    if (!&splitc_wants_stack || splitc_is_sanitized())
        return (struct splitc_range){0};
    at = mmap(NULL, guard + SPLITC_LARGE_STACK, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED)
        splitc_die("no space for a stack of 1 GiB (-fold-programs): %s; raise ulimit -v",
                   strerror(errno));
    mprotect(at, guard, PROT_NONE);
    return (struct splitc_range){(uint64_t)at + guard, SPLITC_LARGE_STACK};
}

/* Whether the linker asks for a stack that the processor may execute, as a pointer to a function
 * inside a function (of GNU C) leads through a few instructions there. */
static bool wants_executable_stack(void)
{
    const ElfW(Phdr) *header = (const void *)getauxval(AT_PHDR);

    for (unsigned long left = getauxval(AT_PHNUM); header && left > 0; left--, header++)
        if (header->p_type == PT_GNU_STACK)
            return header->p_flags & PF_X;
    return false;
}

/* The stack of the system is left for good: exit handlers run on the new one. */
_Noreturn void splitc_stack_run(int (*entry)(int argc, char **argv), int argc, char **argv)
{
    const struct splitc_memory *memory = splitc_window_memory();
    const struct splitc_range stack = memory ? memory->part[SPLITC_STACK] : map_large_stack();
    ucontext_t context;

    program.entry = entry;
    program.argc = argc;
    program.argv = argv;
    if (stack.size && wants_executable_stack() &&
        mprotect((void *)stack.start, stack.size, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
        splitc_die(
            "no executable stack, which the program's pointers to functions inside functions "
            "need: %s",
            strerror(errno));
    if (stack.size && getcontext(&context) == 0) {
        context.uc_stack.ss_sp = (void *)stack.start;
        context.uc_stack.ss_size = stack.size;
        context.uc_link = NULL;
        makecontext(&context, run_program, 0);
        setcontext(&context);
    }
    run_program();
    abort(); /* exit does not return */
}
