/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fault.c - what a rank shows when a signal kills it: a segmentation fault or bus error says what
 * was accessed, and all say where.
 *
 * The handler runs on a stack of its own and calls async-signal-safe functions only.  It returns to
 * the instruction at fault, which then raises the signal with its default action: the core shows
 * the place, and the launcher sees the signal.
 */
#define _GNU_SOURCE /* REG_RSP */
#include "observe/observe.h"
#include "window.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (64u << 10)
#define STACK_REACH (1ul << 20) /* a large frame may begin this far below the stack pointer */

static pid_t process; /* a child by fork is no rank */

/* ---- composing the line ---------------------------------------------------- */

struct line {
    char text[512];
    size_t n;
};

static void say(struct line *l, const char *text)
{
    while (*text && l->n < sizeof l->text)
        l->text[l->n++] = *text++;
}

static void say_number(struct line *l, uint64_t n, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;

    digits[--at] = '\0';
    do
        digits[--at] = "0123456789abcdef"[n % base];
    while ((n /= base) > 0);
    say(l, &digits[at]);
}

static void say_address(struct line *l, uint64_t address)
{
    say(l, "0x");
    say_number(l, address, 16);
}

/* ---- the state of the processor ----------------------------------------------------- */

struct fault {
    uint64_t address;
    uint64_t pc;
    uint64_t sp;
    const char *does;
};

#if defined(__x86_64__)
#define ERROR_IS_WRITE 2u

static void fault_read_registers(struct fault *f, const ucontext_t *u)
{
    const greg_t *r = u->uc_mcontext.gregs;

    f->pc = (uint64_t)r[REG_RIP];
    f->sp = (uint64_t)r[REG_RSP];
    f->does = r[REG_ERR] & ERROR_IS_WRITE ? "writes" : "reads";
}
#elif defined(__aarch64__)
static void fault_read_registers(struct fault *f, const ucontext_t *u)
{
    f->pc = u->uc_mcontext.pc;
    f->sp = u->uc_mcontext.sp;
    f->does = "accesses";
}
#endif

/* ---- what was accessed ---------------------------------------------------------------- */

static void say_part(struct line *l, uint32_t rank, uint64_t address)
{
    const char *part = splitc_window_part(rank, address);

    say(l, part ? ", in the " : ", where processor ");
    if (part) {
        say(l, part);
        say(l, " of processor ");
    }
    say_number(l, rank, 10);
    say(l, part ? ": is there no memory left?" : " has no objects");
}

/* An access through a window, as a global pointer. */
static void say_global(struct line *l, splitc_ptr g)
{
    say(l, "(");
    say_number(l, (uint64_t)splitc_rank(g), 10);
    say(l, ", ");
    say_address(l, (uintptr_t)splitc_address(g));
    say(l, ")");
    say_part(l, (uint32_t)splitc_rank(g), (uintptr_t)splitc_address(g));
}

static bool near_stack(const struct fault *f)
{
    return f->address - (f->sp - STACK_REACH) < 2 * STACK_REACH;
}

/* The stack grows down: where the stack pointer is in it, what is above is behind an array. */
static bool above_stack(const struct fault *f)
{
    unsigned char resident;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return f->address > f->sp && !splitc_window_is_kept_free(f->sp) &&
           mincore((void *)(f->sp & ~(page - 1)), 1, &resident) == 0;
}

static void say_local(struct line *l, const struct fault *f, const siginfo_t *info)
{
    bool mapped = info->si_signo == SIGSEGV && info->si_code == SEGV_ACCERR &&
                  !splitc_window_is_kept_free(f->address);

    say(l, "address ");
    say_address(l, f->address);
    if (f->address < SPLITC_NULL_PAGE)
        say(l, ": a null pointer");
    else if (mapped)
        say(l, splitc_image_contains(f->address) ? ", which is constant" : ", which is protected");
    else if (splitc_window_part(splitc_runtime.rank, f->address))
        say_part(l, splitc_runtime.rank, f->address);
    else if (info->si_signo == SIGBUS)
        say(l, ", whose page cannot be had");
    else if (near_stack(f))
        say(l, above_stack(f) ? ", above the stack: is it behind the end of a local array?"
                              : ": the stack is full (ulimit -s sets its size)");
    else
        say(l, ", where nothing is");
}

static void say_access(struct line *l, const struct fault *f, const siginfo_t *info)
{
    splitc_ptr g;

    if (info->si_code == SI_KERNEL) { /* the address is not known */
        say(l, "uses an address that none can be; is a global pointer taken for a local one?");
        return;
    }
    say(l, f->does);
    say(l, " ");
    if (splitc_window_find(f->address, &g) >= 0)
        say_global(l, g);
    else
        say_local(l, f, info);
}

/* The access that a message asked for is a mistake of the sender. */
static void say_for_whom(struct line *l)
{
    int64_t rank = splitc_runtime.gam ? gam_serving(splitc_runtime.gam) : -1;

    if (rank < 0)
        return;
    say(l, "; a message of rank ");
    say_number(l, (uint64_t)rank, 10);
    say(l, " asks for it");
}

static void say_what(struct line *l, const struct fault *f, const siginfo_t *info)
{
    switch (info->si_signo) {
    case SIGFPE:
        say(l, info->si_code == FPE_INTDIV ? "an integer is divided by zero" : "arithmetic fault");
        break;
    case SIGILL:
        say(l, "the processor does not know the instruction");
        break;
    default:
        say(l, info->si_signo == SIGBUS ? "bus error: " : "segmentation fault: ");
        say_access(l, f, info);
        say_for_whom(l);
    }
}

static void fault_report(const siginfo_t *info, const struct fault *f)
{
    struct line l = {.n = 0};

    say(&l, "splitc: rank ");
    say_number(&l, splitc_runtime.rank, 10);
    say(&l, ": ");
    say_what(&l, f, info);
    say(&l, "; instruction ");
    say_address(&l, f->pc);
    say(&l, "\n");
    if (write(STDERR_FILENO, l.text, l.n) < 0)
        return; /* nobody to tell */
}

/* ---- the handler --------------------------------------------------------------------------- */

/* What somebody sends to the process is for the program's thread to die of, so that its stack is
 * told: the kernel may give it to any thread, and libraries have some. */
static bool passes_on(int number, const siginfo_t *info)
{
    return info->si_code == SI_USER && gettid() != process && tgkill(process, process, number) == 0;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const struct sigaction dies = {.sa_handler = SIG_DFL};
    bool sent = info->si_code <= 0; /* by a process, not by an instruction */
    struct fault f = {.address = (uintptr_t)info->si_addr};

    if (getpid() == process) {
        if (passes_on(number, info))
            return;
        fault_read_registers(&f, context);
        splitc_event_tell(&(struct splitc_event){.kind = SPLITC_EVENT_FAULT, .n = f.pc});
        if (!sent)
            fault_report(info, &f);
        if (number != SIGTERM)
            splitc_place_tell(f.pc);
    }
    sigaction(number, &dies, NULL);
    if (sent)
        raise(number); /* delivered when this handler returns */
}

static void watch_signal(int number)
{
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction there;

    if (sigaction(number, NULL, &there) == 0 && there.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
}

void splitc_fault_watch(void)
{
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    const stack_t aside = {.ss_sp = stack, .ss_size = sizeof stack};
    const char *backtrace = getenv("SPLITC_BACKTRACE");
    stack_t there;

    process = getpid();
    if (sigaltstack(NULL, &there) == 0 && there.ss_flags & SS_DISABLE)
        sigaltstack(&aside, NULL);
    watch_signal(SIGSEGV);
    watch_signal(SIGBUS);
    watch_signal(SIGFPE);
    watch_signal(SIGILL);
    watch_signal(SIGABRT);
    if (backtrace && strcmp(backtrace, "1") == 0)
        watch_signal(SIGTERM); /* by which the launcher ends ranks that take too long */
}
