/* SPDX-License-Identifier: BSD-3-Clause */
enum { ROW = 5 };
#define COUNT (3 * PROCS + 1)
extern int scattered[COUNT]::;
extern double blocks[PROCS]::[ROW];
int sum_scattered(void);
double last_of(int p);
int hidden(int p);
int *mine(void);
