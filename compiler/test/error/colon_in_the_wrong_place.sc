// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    int x;
    x : = *g;
    x =: *g;
    *g :-;
    x := ;
    *g : = x;
    *g : - x;
    return x :: 2;
}
