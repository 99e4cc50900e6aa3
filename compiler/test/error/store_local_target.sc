void f(int *p, int *global g)
{
    *p :- 3;
    p[2] :- *g;
}
