// SPDX-License-Identifier: BSD-3-Clause
enum e { A, , B };
enum { C = 1 D };
enum f { G = missing };

int f(int *global g)
{
    return *g + gone;
}
