// flags: -std=gnu89
// SPDX-License-Identifier: BSD-3-Clause
struct node {
    struct node *global next;
}
splitc_main()
{
    struct node n;

    return n.next != 0;
}
