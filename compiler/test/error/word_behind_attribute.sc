int unused[[deprecated]] x;
int f(int parameter[[unused]] y);
int splitc_main(void)
{
    return 0;
}
