#include <stdio.h>

static int sum(int n, int m, int a[n][m]) { return n ? a[0][m - 1] + sum(n - 1, m, a + 1) : 0; }
static int star(int n, int a[*]);
static int star(int n, int a[static const n]) { return a[n - 1]; }
static int old(n, a) int n; int a[n][2]; { return a[n - 1][1]; }

int main(int argc, char **argv)
{
    int n = 3 + argc * 0, m = 4;
    int a[n][m], (*row)[m] = a, side = 0;
    typedef int line[m];
    line l;
    l[0] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = i * m + j;
    m = 9;
    printf("%d %d %zu %zu %zu\n", sum(3, 4, a), row[2][3], sizeof a, sizeof l, sizeof(int[++side]));
    {
        int copy[sizeof a / sizeof a[0]], (*p)[n] = &copy;
        (*p)[n - 1] = side;
        printf("%d %d %d\n", star(n, copy), old(2, (int[2][2]){{1, 2}, {3, 4}}), l[0]);
    }
    return sizeof(char[n]) != 3;
}
