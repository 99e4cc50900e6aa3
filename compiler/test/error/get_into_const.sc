static const int limit;
int *const places[2];

void f(const int *q, int *global g, int *global *global p)
{
    const int x = 1;
    const int row[2] = {0};
    int *global const home = g;

    x := *g;
    limit := *g;
    *q := *g;
    row[1] := *g;
    home := *p;
    (x) := g[1];
}
