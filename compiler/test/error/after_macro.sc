#define FETCH(l, r) l := r
#define TWICE(x) ((x) + (x))

int f(int *global g, double d)
{
    int a = TWICE(1), b;
    FETCH(a, b);
    TWICE(a) + TWICE(g);
    b = TWICE(TWICE(missing));
    return TWICE(a), g + d;
}
