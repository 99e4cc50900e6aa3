int x;
void f(void)
{
    int *global p = toglobal(0, &x);
    int i;
    for_my_1d(i, 10)
        x = 0;
}
