// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int f(int x) { return tolocal(x); }
int g(int x) { x = x + toproc(x); return tolocal(x) + x; }
