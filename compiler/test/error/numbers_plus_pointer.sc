int blocks[4]::[3];

struct node {
    double weight;
    int bits : 3;
    struct node *global next;
};

double f(struct node *global n, int *global g, int *p)
{
    double sum = 0;
    long l = 0;
    for (int i = 0; i < 4; i++)
        sum += blocks[i];
    sum += *g;
    l -= g;
    l |= blocks;
    n->weight *= n->next;
    n->bits += g;
    *g <<= g;
    p += g;
    return sum + l;
}
