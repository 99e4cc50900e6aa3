/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.c - vfork and clone, by which a process comes that runs in the memory of its parent.
 *
 * Only getpid tells the two apart, and only programs that have made such a process have to ask it
 * (sockets_table_shares_memory).  vfork returns twice from one frame of its caller, so nothing of
 * ours may be on the stack meanwhile: what stands in front of libc's is a jump to it.
 */
#include "calls/call.h"
#include <sched.h>
#include <stdarg.h>

/* What vfork jumps to. */
__attribute__((used)) static __typeof__(&vfork) before_vfork(void)
{
    sockets_call_prepare();
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

SOCKETS_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    void *parent_tid, *tls, *child_tid;
    va_list more;

    /* They are there if `flags` say so; libc's looks at them only then. */
    va_start(more, argument);
    parent_tid = va_arg(more, void *);
    tls = va_arg(more, void *);
    child_tid = va_arg(more, void *);
    va_end(more);
    sockets_call_prepare();
    if ((flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM)
        sockets_table_shares_memory();
    return sockets_real.clone(run, stack, flags, argument, parent_tid, tls, child_tid);
}
