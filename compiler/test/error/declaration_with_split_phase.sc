// SPDX-License-Identifier: BSD-3-Clause
void f(int *global g)
{
    int y := 3;
    int x := *g, *global h :- g;
    for (int i := 0; i < 3; i++)
        x += y + *h;
}
