// SPDX-License-Identifier: BSD-3-Clause
#define first(pointer) (*(pointer))
#define twice(value) (2 * (value))

int f(int x) { return first(x); }
int g(int x) { x = x + twice(x); return first(x) + x; }
