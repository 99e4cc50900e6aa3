#include <stdlib.h>

struct node {
    struct node *next;
    int key;
};

struct node *make_node(key, next) struct node *next;
{
    struct node *n = (struct node *)calloc(1, sizeof *n);

    n->key = key;
    n->next = next;
    return n;
}

minus_one()
{
    return -1;
}

char *text_of(int i)
{
    return i ? "one" : "none";
}
