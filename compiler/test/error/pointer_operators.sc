long f(int *global g, int *global h)
{
    long n = 0;
    n += g + h;
    n += g * 2;
    n += 3 % h;
    n += -g;
    n += ~h;
    n += 5 - g;
    n += g & 7;
    n += g << 1;
    return n;
}
