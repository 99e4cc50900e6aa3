// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

int $dollar = 1, a$b = 2, été = 3, \u00e9t = 4, 変数 = 5;
#define naïve(x) ((x) + 1)
static int $(int $$) { return $$ * 2; }
int main(void)
{
    printf("%d %d %d %d\n", $dollar + a$b, été, ét, 変数);
    return naïve($(4));
}
