int *global where(void);

void f(int *global g)
{
    where() = g;
    g + 1 = g;
    (*g + 1)++;
    *g = 1;
}
