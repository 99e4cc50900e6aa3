// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c/split-c.h>

first(w, X)
    int w;
    char X[][]::[w];
{
    return X[0][0][0];
}
