// flags: -Wno-split-phase
int f(int *global g, int x, int y)
{
    y = y + (x := *g);
    y = -(*g := x);
    y = (x := *g) && y;
    y = (*g :- x) ? 1 : 2;
    y ? (x := *g) : (y := *g);
    return !(x := *g);
}
