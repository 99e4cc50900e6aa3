// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

typedef struct node {
    int value;
    node *global next;
    place where;
} node_t;

enum color { RED, GREEN };

cell *global first;
size_type count = 3;

void paint(node *global n, color c, unknown u)
{
    node *global rest = n->next;
    color old = c;
    where_t place;

    place.x = rest->value;
    count = old * u.x;
}

old_style(n, m)
color n;
matrix *m;
{
    return m->rows * n;
}

int splitc_main(void)
{
    return first->value * missing;
}
