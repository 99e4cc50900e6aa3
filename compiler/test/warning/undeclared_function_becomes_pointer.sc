// SPDX-License-Identifier: BSD-3-Clause
struct node {
    struct node *next;
};

long f(int n, int *global g)
{
    struct node *list = (struct node *)make(n), *rest = make_rest(list);
    int *global far = find(n); // no local one

    if (mixed(n) > 0)
        list = (struct node *)mixed(n);
    return list->next == rest || known(n) == known(n + 1) || far == g;
}

char *known(int n);
