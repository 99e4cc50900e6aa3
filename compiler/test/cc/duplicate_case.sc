int f(int *global g)
{
    switch (*g) {
    case 1:
    case 1:
        return 1;
    }
    return 0;
}
