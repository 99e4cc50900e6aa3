void f(int *global g)
{
    __asm__("" : "=r"(*g));
}
