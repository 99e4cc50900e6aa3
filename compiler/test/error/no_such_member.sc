struct s {
    int key;
    struct {
        int deep;
    };
};

int f(struct s *global g, struct s A[4]::, struct s *p)
{
    return g->kye + A[1].deep + A[2].dep + p->none;
}
