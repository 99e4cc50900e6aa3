// SPDX-License-Identifier: BSD-3-Clause
int cell;

int splitc_main(void)
{
    int A[PROCS]::;
    A[MYPROC] = PROCSLOG;
    on_one cell = 1;
    return A[0];
}
