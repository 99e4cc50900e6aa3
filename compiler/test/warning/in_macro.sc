#define LOCAL(p, g) p = g

int *f(int *global g)
{
    int *p;
    LOCAL(p, g);
    return p;
}
