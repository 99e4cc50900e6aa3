// SPDX-License-Identifier: BSD-3-Clause
int near(int *p);
int far(int *global g);
int (*global_taker)(int *global) = far;

void f(void)
{
    int *spread (*s)(int) = 0;
    int *global g = s(1, 2);
    global_taker = s(1);
    *g = far();
}
