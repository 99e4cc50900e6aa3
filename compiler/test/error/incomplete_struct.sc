struct later;

int f(struct later *global g)
{
    return g->key;
}
