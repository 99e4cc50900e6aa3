void f(double *global g, char *global c)
{
    unsigned char u;
    float x;
    register int r;
    u := *g;
    x := *g;
    r := *c;
    *c := 1000;
    *c :- 2.5;
}
