// flags: -Wcast-local
struct node {
    void *global link;
    double real;
};

int f(struct node *global g, int *global p)
{
    struct node *global h;
    char *global c;
    struct node *local;
    int x;
    h := (struct node *global)g->link;
    c := (struct node *global)g->link;
    x := (int)g->real;
    local := (struct node *)g->link;
    return x + (h == c) + (local != 0);
}

int g(int *global p)
{
    int x, y;
    unsigned u;
    x := (int)*p;
    y := (int)(short)*p;
    u := (unsigned)*p;
    return x + y + u;
}
