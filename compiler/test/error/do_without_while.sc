// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    do {
        *g = 1;
    }
    return *g + missing;
}
