/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fork.c - fork in a process whose memory is shared.
 *
 * A child must not run in the shared memory of its parent: it would write the same variables, on
 * the same stack.  So fork runs on a stack that is not shared.  There the child replaces
 * everything that is shared by private copies, while the parent waits; then both return to the
 * caller of fork, each in memory of its own.
 *
 * Calls that start another program without running in a copy of this one (posix_spawn, system,
 * popen, vfork) need none of this.  The cost is that of copying all memory that has been touched.
 */
#define _GNU_SOURCE /* RTLD_NEXT, pipe2 */
#include "fork.h"

#include "object.h"
#include "observe/observe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (256ul << 10)

/* Lies, with the stack, in private memory, which the child gets a copy of. */
struct forking {
    ucontext_t caller;
    ucontext_t aside;
    pid_t result;
    int error;
};

static const struct splitc_memory *memory; /* NULL: not shared */
static struct forking *forking;            /* of the thread of control, on the other stack */
static int ready[2];                       /* a pipe; the child closes it when it is ready */

pid_t splitc_fork(void);

static bool on_shared_stack(void)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);

    return here - memory->part[SPLITC_STACK].start < memory->part[SPLITC_STACK].size;
}

/* ---- around every fork, also of libraries ---------------------------------------------- */

static void before_fork(void)
{
    if (!memory)
        return;
    if (on_shared_stack())
        splitc_die("a library called fork, but the stack is shared with the other ranks; let the "
                   "library use posix_spawn, or run with SPLITC_WINDOWS=0");
    if (pipe2(ready, O_CLOEXEC) < 0)
        splitc_die("cannot fork: pipe2: %s", strerror(errno));
}

static void in_parent(void)
{
    char byte;

    if (!memory)
        return;
    close(ready[1]);
    while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
        ; /* returns when the child has closed its end, or is dead */
    close(ready[0]);
}

/* Nothing here may write to shared memory before it is private. */
static void in_child(void)
{
    int ends[2] = {ready[0], ready[1]};

    if (!memory)
        return;
    if (splitc_object_unshare(memory) < 0)
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

static void fork_on_other_stack(void)
{
    struct forking *f = forking;

    f->result = system_fork();
    f->error = errno;
    setcontext(&f->caller);
}

static pid_t switch_and_fork(void)
{
    struct forking *f = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pid_t result;

    if (f == MAP_FAILED)
        return -1;
    getcontext(&f->aside);
    f->aside.uc_stack.ss_sp = f + 1;
    f->aside.uc_stack.ss_size = STACK_BYTES - sizeof *f;
    makecontext(&f->aside, fork_on_other_stack, 0);
    forking = f;
    swapcontext(&f->caller, &f->aside);
    result = f->result;
    errno = f->error;
    munmap(f, STACK_BYTES);
    return result;
}

pid_t splitc_fork(void)
{
    return memory && on_shared_stack() ? switch_and_fork() : system_fork();
}

/* Weak: a program may have a function of that name. */
__attribute__((weak, alias("splitc_fork"))) pid_t fork(void);

void splitc_fork_prepare(const struct splitc_memory *shared)
{
    memory = shared;
}

/* Registered before any library can register its own: handlers registered first run last before
 * the fork, and first after it. */
static __attribute__((constructor(101))) void watch_forks(void)
{
    if (pthread_atfork(before_fork, in_parent, in_child) != 0)
        splitc_die("no memory for a fork handler");
}
