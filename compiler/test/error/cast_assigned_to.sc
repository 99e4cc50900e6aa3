// SPDX-License-Identifier: BSD-3-Clause
void f(int *p, long *n, struct { int *q; } *s)
{
    (char *)p += 4;
    (char *)s->q = "x";
    ++(char)*n;
    (unsigned)*n >>= *n ? 1 : 2;
}
