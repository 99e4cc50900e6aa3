int f(int *global g)
{
    for (int i = 0; i < *g, i++)
        *g = i;
    for (int *global p = g; p < ; p++) {
        int lost = 1;
        *p = lost;
    }
    return *g + gone;
}

int second(int *global g)
{
    return *g + i;
}
