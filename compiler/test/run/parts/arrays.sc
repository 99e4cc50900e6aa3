// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "arrays.h"

int scattered[COUNT]::;
double blocks[PROCS]::[ROW];
static int own[PROCS]::;

int sum_scattered(void)
{
    int total = 0;

    for (int i = 0; i < COUNT; i++)
        total += scattered[i];
    return total;
}

double last_of(int p)
{
    return blocks[p][ROW - 1];
}

int hidden(int p)
{
    return own[p];
}

int *mine(void)
{
    return tolocal(&own[MYPROC]);
}
