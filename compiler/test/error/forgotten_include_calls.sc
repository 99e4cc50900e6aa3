int f(void)
{
    int x;
    barrier();
    *toglobal(0, &x) = 1;
    x = PROCS;
    return *unknown(x) + MYPROC;
}
