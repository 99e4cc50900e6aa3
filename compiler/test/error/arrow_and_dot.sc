struct s {
    int key;
};

int f(struct s *global g, struct s A[4]::, int n)
{
    return g.key + A[0]->key + n.key + n->key + A.key;
}
