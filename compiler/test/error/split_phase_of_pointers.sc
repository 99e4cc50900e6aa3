// SPDX-License-Identifier: BSD-3-Clause
void f(int *global g, int *global h, int *spread s, int x)
{
    g := x;
    x := s;
    g := h;
    x := *g;
    *s := x;
}
