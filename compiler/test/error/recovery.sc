int *global g;

int first(void)
{
    int a = ;
    for (int i = 0; i < ; i++)
        a++;
    a = *g + * ;
    return a;
}

struct s {
    int ok;
    int *global 5;
    int fine;
};

int second(struct s *p)
{
    return p->ok + ) 3;
}

int third(int x)
{
    return x + nothing;
}
