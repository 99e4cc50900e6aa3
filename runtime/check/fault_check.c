/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that touch what is not there; runtime_test.cc knows what has to be told.
 */
#include "check.h"
#include "library.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between stack and spread heap: in every window, and in no part of it. */
#define HOLE ((void *)0x4003fff00000ul)
#define NOWHERE ((void *)0x300000000000ul)

/* Rank 0 reads there of rank 1. */
static void read_at(void *address)
{
    long value;

    if (my_rank() == 0) {
        splitc_read(&value, splitc_make(1, address), sizeof value);
        printf("read %ld\n", value);
    }
    splitc_barrier();
}

static void fault_in_hole(void)
{
    read_at(HOLE);
}

static void fault_nowhere(void)
{
    read_at(NOWHERE);
}

static void fault_bulk_nowhere(void)
{
    static char bytes[100000];

    if (my_rank() == 0)
        splitc_bulk_write(splitc_make(1, NOWHERE), bytes, sizeof bytes);
    splitc_barrier();
}

static void fault_null(void)
{
    volatile int *volatile null = (int *)16;

    if (my_rank() == 1)
        *null = 1;
    splitc_barrier();
}

static void fault_constant(void)
{
    static const int constant = 1;
    int *volatile target = (int *)&constant;

    if (my_rank() == 0)
        *target = 2;
    splitc_barrier();
}

/* A global pointer used as it is. */
static void fault_as_local(void)
{
    static int object;
    volatile int *volatile wrong = (int *)splitc_make(1, &object);

    wrong = (int *)((uintptr_t)wrong | 0x4000ul << SPLITC_ADDRESS_BITS);
    if (my_rank() == 0)
        *wrong = 1;
    splitc_barrier();
}

static long descend(volatile long n)
{
    volatile char frame[4096];

    frame[0] = (char)n;
    return n == 0 ? 0 : descend(n - 1) + frame[0];
}

static void fault_stack(void)
{
    if (my_rank() == 0)
        descend(1L << 40);
    splitc_barrier();
}

/* Over all that is above it on the stack, and on. */
static void fault_array(void)
{
    volatile char array[64];
    volatile char *volatile at = array;

    for (; my_rank() == 0; at++)
        *at = 0;
    splitc_barrier();
}

/* Memory that is there in name only: the file behind it ends. */
static void fault_bus(void)
{
    FILE *file = tmpfile();
    volatile char *page;

    EXPECT(file != NULL);
    page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    EXPECT(page != MAP_FAILED);
    if (my_rank() == 0)
        printf("%d\n", page[100]);
    splitc_barrier();
}

static void on_own(int number)
{
    static const char said[] = "own handler\n";

    if (number == SIGSEGV && write(STDERR_FILENO, said, sizeof said - 1) > 0)
        _exit(9);
    _exit(1);
}

/* A handler that the program has installed is its own affair. */
static void fault_own_handler(void)
{
    volatile int *volatile null = NULL;

    signal(SIGSEGV, on_own);
    if (my_rank() == 0)
        *null = 1;
    splitc_barrier();
}

/* A signal that somebody sends is no fault. */
static void fault_sent(void)
{
    if (my_rank() == 0)
        raise(SIGSEGV);
    splitc_barrier();
}

/* A child is no rank: it dies silently. */
static void fault_in_child(void)
{
    volatile int *volatile null = NULL;
    pid_t child = fork();
    int status;

    if (child == 0)
        *null = 1;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT(WIFSIGNALED(status));
    EXPECT_EQ(SIGSEGV, WTERMSIG(status));
    splitc_barrier();
}

/* Harmless, but valgrind tells of it. */
static void heap_overrun(void)
{
    volatile int *volatile block = malloc(40);

    if (block[10] == 123456)
        printf("unlikely\n");
    free((void *)block);
    splitc_barrier();
}

const struct check fault_checks[] = {
    {"fault_in_hole", fault_in_hole},
    {"fault_nowhere", fault_nowhere},
    {"fault_bulk_nowhere", fault_bulk_nowhere},
    {"fault_null", fault_null},
    {"fault_constant", fault_constant},
    {"fault_as_local", fault_as_local},
    {"fault_stack", fault_stack},
    {"fault_array", fault_array},
    {"fault_bus", fault_bus},
    {"fault_own_handler", fault_own_handler},
    {"fault_sent", fault_sent},
    {"fault_in_child", fault_in_child},
    {"heap_overrun", heap_overrun},
    {0},
};
