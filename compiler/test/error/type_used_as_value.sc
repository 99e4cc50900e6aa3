// SPDX-License-Identifier: BSD-3-Clause
typedef int *global far;
struct s {
    int a;
};

int f(int *global g)
{
    int x = far + 1;
    x = struct s;
    x = sizeof(int *global;
    return x + *g + int;
}
