/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.c - the program that runs one check on all its ranks: runtime_check NAME [ARGS].
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "check.h"
#include "library.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/prctl.h>

int check_argc;
char **check_argv;

static const struct check *const tables[] = {
    access_checks, store_checks,  coalesce_checks, strided_checks, collective_checks,
    heap_checks,   atomic_checks, program_checks,  error_checks,   names_checks,
    window_checks, huge_checks,   fault_checks,    litmus_checks,  handle_checks,
    team_checks,   array_checks,  threads_checks,
};

/* PMIx keeps what it allocates for the life of the process. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix\nleak:libevent\n";
}

/* Saying so on every run would be output that no test expects. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

static void failed(const char *file, int line)
{
    fprintf(stderr, "rank %d of %d: %s:%d: ", my_rank(), ranks(), file, line);
}

void expect_equal(const char *file, int line, const char *what, long long expected, long long seen)
{
    if (expected == seen)
        return;
    failed(file, line);
    fprintf(stderr, "%s: expected %lld, saw %lld\n", what, expected, seen);
    exit(1);
}

void expect_near(const char *file, int line, const char *what, double expected, double seen)
{
    if (fabs(expected - seen) <= 1e-12 * fabs(expected))
        return;
    failed(file, line);
    fprintf(stderr, "%s: expected %.17g, saw %.17g\n", what, expected, seen);
    exit(1);
}

uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void skew(uint64_t *state)
{
    volatile unsigned spins = next_random(state) % 20000;

    while (spins > 0)
        spins--;
}

static unsigned char pattern(size_t i, unsigned seed)
{
    return (unsigned char)(7 * i + 131 * seed + (i >> 8));
}

void fill(void *to, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = pattern(i, seed);
}

void expect_filled(const char *file, int line, const void *from, size_t n, size_t first,
                   unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char expected = pattern(first + i, seed);
        unsigned char seen = ((const unsigned char *)from)[i];

        if (seen == expected)
            continue;
        failed(file, line);
        fprintf(stderr, "byte %zu of %zu: expected %u, saw %u\n", i, n, expected, seen);
        exit(1);
    }
}

void expect_guarded(const char *file, int line, const void *object, size_t n)
{
    const unsigned char *begin = (const unsigned char *)object - GUARD;
    const unsigned char *end = (const unsigned char *)object + n;

    for (size_t i = 0; i < GUARD; i++) {
        expect_equal(file, line, "a byte before the object", GUARD_BYTE, begin[i]);
        expect_equal(file, line, "a byte behind the object", GUARD_BYTE, end[i]);
    }
}

splitc_ptr area_open(size_t bytes)
{
    splitc_ptr area = splitc_spread_alloc((splitc_size)ranks(), bytes);

    memset(splitc_address(area), 0, bytes);
    splitc_barrier();
    return area;
}

void area_close(splitc_ptr area)
{
    splitc_spread_free(area);
}

/* ---- poor systems ------------------------------------------------------------ */

/* CHECK_WITHOUT=N: a kernel that lacks the system call of that number. */
static void lack(long number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = 4, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        abort();
}

/* CHECK_OCCUPIED=ADDRESS: something is mapped where the runtime wants to be. */
static void occupy(unsigned long address)
{
    if (mmap((void *)address, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
             -1, 0) != (void *)address)
        abort();
}

static void __attribute__((constructor)) make_poor(void)
{
    const char *without = getenv("CHECK_WITHOUT"), *occupied = getenv("CHECK_OCCUPIED");

    if (occupied)
        occupy(strtoul(occupied, NULL, 16));
    if (without)
        lack(strtol(without, NULL, 10));
}

static const struct check *find(const char *name)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct check *c = tables[t]; c->name; c++)
            if (strcmp(c->name, name) == 0)
                return c;
    return NULL;
}

int splitc_entry(int argc, char **argv)
{
    const struct check *check = argc > 1 ? find(argv[1]) : NULL;

    if (!check) {
        fprintf(stderr, "runtime_check: no check \"%s\"\n", argc > 1 ? argv[1] : "");
        return 2;
    }
    check_argc = argc - 2;
    check_argv = argv + 2;
    check->run();
    return 0;
}
