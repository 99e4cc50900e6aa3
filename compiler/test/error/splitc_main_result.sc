// SPDX-License-Identifier: BSD-3-Clause
double splitc_main(void)
{
    return 0;
}
