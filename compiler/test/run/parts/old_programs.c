/* SPDX-License-Identifier: BSD-3-Clause */
int in_common;

sum_in_plain_c()
{
    int a[100], i, sum;

    for (i = 0; i < 100; i++)
        sum += a[i];
    return sum;
}

common_in_plain_c()
{
    return in_common;
}
