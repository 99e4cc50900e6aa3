int *global g;
int known(int n, int *global p);

int colon(n, X) int n; int X[n]:[4];
{
    return X[0][n];
}

void comma(p, q) int *global p, int q;
{
    *p = q;
}

int before_star(n, p) int n; int golbal *p;
{
    return *p + n;
}

int known(n, p) int n; int *golbal p;
{
    return *p + n;
}

int again(int n) int n;
{
    return n;
}

int without(n) int n
{
    return n + *g;
}

int twice(n) int n;;
{
    return n;
}

int more(n) int n; double m;
{
    return n;
}

int splitc_main(argc, argv) int argc; char **argv:;
{
    return argc;
}

int no_body(n) int n;

int last(void)
{
    return g == 0;
}
