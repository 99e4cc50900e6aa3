// SPDX-License-Identifier: BSD-3-Clause
int f(register int fine[4]::)
{
    register int A[4]::;
    return A[0] + fine[0];
}
