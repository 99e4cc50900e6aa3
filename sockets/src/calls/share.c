/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.c - vfork and clone, by which a process comes that runs in the memory of its parent; and
 * syscall, by which some programs close, or forbid themselves calls (filter.c).
 *
 * Only getpid tells the two apart, and only programs that have made such a process have to ask it
 * (sockets_table_shares_memory).  vfork returns twice from one frame of its caller, so nothing of
 * ours may be on the stack meanwhile: what stands in front of libc's is a jump to it.
 */
#include "calls/call.h"
#include "spin/core.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* What vfork jumps to. */
__attribute__((used)) static __typeof__(&vfork) before_vfork(void)
{
    sockets_call_prepare();
    sockets_core_release();
    sockets_table_shares_memory();
    return sockets_real.vfork;
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call before_vfork\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size vfork, . - vfork\n"
        ".globl __vfork\n"
        ".set __vfork, vfork\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, %function\n"
        "vfork:\n"
        "    .cfi_startproc\n"
        "    hint #25\n" /* paciasp */
        "    .cfi_negate_ra_state\n"
        "    stp x29, x30, [sp, -16]!\n"
        "    .cfi_adjust_cfa_offset 16\n"
        "    bl before_vfork\n"
        "    ldp x29, x30, [sp], 16\n"
        "    .cfi_adjust_cfa_offset -16\n"
        "    hint #29\n" /* autiasp */
        "    .cfi_negate_ra_state\n"
        "    mov x16, x0\n" /* through which a branch may reach what begins with bti c */
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size vfork, . - vfork\n"
        ".globl __vfork\n"
        ".set __vfork, vfork\n");
#else
/* Elsewhere vfork is libc's, and each process asks from the beginning. */
__attribute__((constructor)) static void ask_always(void)
{
    before_vfork();
}
#endif

/* A child with memory of its own, for which no handler of fork runs.  It has what its parent has
 * from the beginning, though it may call nothing here before that has closed it. */
static void begin_cloning(sigset_t *before)
{
    sockets_process_block_handlers(before);
    if (sockets_table_is_ours())
        sockets_table_lock();
}

/* In the child, in which the table's lock is taken, too, until it has been told what it is. */
static void begin_cloned(const sigset_t *before)
{
    sockets_table_forked();
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* In the parent. */
static void end_cloning(const sigset_t *before, bool has_child)
{
    const int error = errno;

    if (sockets_table_is_ours())
        sockets_table_unlock(has_child);
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

struct cloned {
    int (*run)(void *);
    void *argument;
    sigset_t mask;
};

/* In a copy of its parent's memory. */
static int run_cloned(void *argument)
{
    const struct cloned *cloned = argument;

    begin_cloned(&cloned->mask);
    return cloned->run(cloned->argument);
}

SOCKETS_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    struct cloned cloned = {.run = run, .argument = argument};
    void *parent_tid, *tls, *child_tid;
    va_list more;
    int child;

    /* They are there if `flags` say so; libc's looks at them only then. */
    va_start(more, argument);
    parent_tid = va_arg(more, void *);
    tls = va_arg(more, void *);
    child_tid = va_arg(more, void *);
    va_end(more);
    sockets_call_prepare();
    sockets_core_release();
    if ((flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM)
        sockets_table_shares_memory();
    if (flags & CLONE_VM)
        return sockets_real.clone(run, stack, flags, argument, parent_tid, tls, child_tid);
    begin_cloning(&cloned.mask);
    child = sockets_real.clone(run_cloned, stack, flags, &cloned, parent_tid, tls, child_tid);
    end_cloning(&cloned.mask, child >= 0);
    return child;
}

/* ---- syscall(2) ---------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__aarch64__)
/* What the kernel says: a result, or an error below 0.  libc's function is not asked, as this
 * library calls it before it has found out where that is. */
static long call_kernel(long number, const long a[6])
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a[0];
    register long x1 __asm__("x1") = a[1];
    register long x2 __asm__("x2") = a[2];
    register long x3 __asm__("x3") = a[3];
    register long x4 __asm__("x4") = a[4];
    register long x5 __asm__("x5") = a[5];

    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#endif
}

/* Programs close by syscall, as libuv does, so that no thread is cancelled by that. */
static int close_uncancelled(int fd)
{
    int state, result;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    result = close(fd);
    pthread_setcancelstate(state, NULL);
    return result;
}

/* Returns in both. */
static long clone_by_number(long number, const long a[6])
{
    sigset_t before;
    long child;

    sockets_call_prepare();
    begin_cloning(&before);
    child = call_kernel(number, a);
    if (child != 0)
        end_cloning(&before, child > 0);
    else
        begin_cloned(&before);
    return child;
}

/* What clone3 is asked for is not looked at: the kernel checks its pointer. */
static bool makes_copy(long number, const long a[6])
{
#ifdef SYS_fork
    if (number == SYS_fork)
        return true;
#endif
    return number == SYS_clone && !(a[0] & CLONE_VM);
}

SOCKETS_EXPORT long syscall(long number, ...)
{
    long a[6], result;
    va_list more;

    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_close)
        return close_uncancelled((int)a[0]);
    if (number == SYS_close_range)
        return close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
    if (number == SYS_execve)
        return execve((const char *)a[0], (char *const *)a[1], (char *const *)a[2]);
    if (number == SYS_execveat)
        return execveat((int)a[0], (const char *)a[1], (char *const *)a[2], (char *const *)a[3],
                        (int)a[4]);
    sockets_call_by_number(number, a);
    if (number == SYS_clone3 ||
        (number == SYS_clone && (a[0] & (CLONE_VM | CLONE_THREAD)) == CLONE_VM))
        sockets_table_shares_memory();
    result = makes_copy(number, a) ? clone_by_number(number, a) : call_kernel(number, a);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}
#endif
