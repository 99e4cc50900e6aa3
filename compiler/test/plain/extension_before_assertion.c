// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

__extension__ _Static_assert(sizeof(int) == 4, "at file scope");

int main(void)
{
    __extension__ _Static_assert(sizeof(char) == 1, "in a block");
    __extension__ long long n = 3;
    __extension__ ({ n++; });
    return printf("%lld\n", n) != 2;
}
