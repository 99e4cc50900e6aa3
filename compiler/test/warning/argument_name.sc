struct s {
    int *p;
    void (*call)(int *, int);
};
void put(int *to, int *from);

void f(struct s *s, int *global g, int *q)
{
    put(g, q);
    s->call(g, 1);
    (*s->call)(q, g);
    s->p = g;
    *s = (struct s){g};
}
