void f(int *global g, int *spread s)
{
    int local[4];
    switch (g) {
    case 0:;
    }
    local[g] = 1;
    local[s] = 1;
    {
        int sized[g];
    }
}
