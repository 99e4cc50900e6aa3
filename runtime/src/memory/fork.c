/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fork.c - fork in a process whose memory is shared.
 *
 * A child must not run in the memory of its parent: it would write the same
 * variables, on the same stack.  So the fork itself happens on a stack that is not
 * shared; the child first puts private copies in the place of everything that is, while
 * the parent waits; then both go back to where fork was called, each in memory of its own.
 *
 * What starts another program without running in a copy of this one (posix_spawn,
 * system, popen, vfork) needs none of this.  The cost is that of copying all memory
 * that has been touched.
 */
#define _GNU_SOURCE /* RTLD_NEXT, pipe2 */
#include "window.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (256ul << 10)

/* Lies, with the stack, in memory that a child gets a copy of. */
struct forking {
    ucontext_t caller;
    ucontext_t aside;
    pid_t result;
    int error;
};

static const struct splitc_memory *memory; /* NULL: not shared */
static struct forking *forking;            /* by the thread of control, on a stack aside */
static int gate[2];                        /* the child closes it when it is ready */

pid_t splitc_fork(void);

static bool on_shared_stack(void)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);

    return here - memory->part[SPLITC_STACK].start < memory->part[SPLITC_STACK].size;
}

/* ---- around every fork, whoever calls it ---------------------------------------------- */

static void before(void)
{
    if (!memory)
        return;
    if (on_shared_stack())
        splitc_die("a library called fork, but the stack is shared with the other ranks; let the "
                   "library use posix_spawn, or run with SPLITC_WINDOWS=0");
    if (pipe2(gate, O_CLOEXEC) < 0)
        splitc_die("cannot fork: pipe2: %s", strerror(errno));
}

static void in_parent(void)
{
    char byte;

    if (!memory)
        return;
    close(gate[1]);
    while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
        ; /* ends when the child has closed its end, or is dead */
    close(gate[0]);
}

/* Nothing here may touch what is shared before it is private. */
static void in_child(void)
{
    int ends[2] = {gate[0], gate[1]};

    if (!memory)
        return;
    if (splitc_memory_unshare(memory) < 0)
        _exit(127);
    memory = NULL;
    close(ends[1]);
    close(ends[0]);
}

/* ---- fork as the program calls it -------------------------------------------------------- */

static pid_t system_fork(void)
{
    static pid_t (*next)(void);

    if (!next)
        next = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    if (!next)
        splitc_die("cannot fork: there is no shared C library; link the program without -static");
    return next();
}

static void fork_aside(void)
{
    struct forking *f = forking;

    f->result = system_fork();
    f->error = errno;
    setcontext(&f->caller);
}

static pid_t fork_on_another_stack(void)
{
    struct forking *f = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pid_t result;

    if (f == MAP_FAILED)
        return -1;
    getcontext(&f->aside);
    f->aside.uc_stack.ss_sp = f + 1;
    f->aside.uc_stack.ss_size = STACK_BYTES - sizeof *f;
    makecontext(&f->aside, fork_aside, 0);
    forking = f;
    swapcontext(&f->caller, &f->aside);
    result = f->result;
    errno = f->error;
    munmap(f, STACK_BYTES);
    return result;
}

pid_t splitc_fork(void)
{
    return memory && on_shared_stack() ? fork_on_another_stack() : system_fork();
}

/* Weak: a program may have a function of that name. */
__attribute__((weak, alias("splitc_fork"))) pid_t fork(void);

void splitc_fork_prepare(const struct splitc_memory *shared)
{
    memory = shared;
}

/* Before any library can: what comes first is done last in `before`, and first behind. */
static __attribute__((constructor(101))) void watch_forks(void)
{
    if (pthread_atfork(before, in_parent, in_child) != 0)
        splitc_die("no memory for a fork handler");
}
