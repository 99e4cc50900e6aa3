#include <split-c/split-c.h>

struct pair {
    int first, second;
};

int f(int *global g, struct pair *p)
{
    struct pair a;
    a.first := *g;
    a.second = 3;
    p->second := *g;
    p->first = a.second;
    p->first += a.first;
    return p->second;
}

struct pair whole(struct pair *global g)
{
    struct pair a;
    int first;
    a := *g;
    first = a.first;
    a.second := g->first;
    sync();
    a.first = first;
    a.second := g->first;
    return a;
}
