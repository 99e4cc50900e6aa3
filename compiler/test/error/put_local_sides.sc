int a, *p;

void f(void)
{
    *p := a + 1;
}
