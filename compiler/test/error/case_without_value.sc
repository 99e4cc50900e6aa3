// SPDX-License-Identifier: BSD-3-Clause
int f(int *global g)
{
    switch (*g) {
    case:
        return 1;
    case 2 ... :
        return 2;
    default
        return 3;
    }
    return missing;
}
