#include <split-c/split-c.h>

struct node {
    int key;
    struct node *global next;
};

int f(struct node *global n, int *global g)
{
    *g := 1;
    n->key := *g;
    n->key = 2;
    n->next->key := 3;
    return n->next->key;
}
