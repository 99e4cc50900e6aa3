static inline int broken(int *global g)
{
    return g * 2;
}
