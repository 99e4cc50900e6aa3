// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=c99
#include <stdio.h>

int typeof = 1, asm = 2, unix = 3, linux = 4;
int main(void)
{
    int auto_ = typeof + asm;
    for (int i = 0; i < 2; i++) auto_ += i;
    printf("%d %d\n", auto_, unix * linux);
    return 0;
}
