// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <signal.h>
#include "../check.h"

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

int splitc_main(void)
{
    int A[PROCS]::;
    struct sigaction action = {.sa_handler = on_signal}, old;

    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    A[MYPROC] = caught;
    barrier();
    EXPECT(A[(MYPROC + 1) % PROCS], SIGUSR1);
    EXPECT(signal(SIGUSR2, on_signal) == SIG_DFL, 1);
    barrier();
    return failures;
}
