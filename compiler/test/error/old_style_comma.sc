// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
struct node { int value; };

first(a b)
int a, b;
{
    return a + b;
}

third(a, b c)
int a, b;
struct node *global c;
{
    return a + b + c->value;
}

type_missing(a b)
{
    return a;
}
