// SPDX-License-Identifier: BSD-3-Clause
int splitc_main(double x)
{
    return x;
}
