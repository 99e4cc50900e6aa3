void f(void (*global g)(int))
{
    g(1);
    (*g)(1);
}
