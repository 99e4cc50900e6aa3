# 100 "generated.y"
int f(int *global g)
{
    return g * 2;
}
