int f(int *global p, int n)
{
    int i;

    fro (;;)
        p++;
    fro (i = 0; i < 3; i++)
        n += p[i];
    For (int j = 0; j < 2; j++) {
        n += j;
    }
    retrun *p;
}

int g(int *GLOBAL p);
