#include <stdio.h>

typedef int T;
struct T { int T; };
enum { A = 1 };
static int shadow(int T) { return T * 2; }
static int param(int T, int x[T], char (*A)[T + 1]) { return T + x[0] + sizeof *A; }

int main(void)
{
    T T = 4, b = T * 2;
    struct T s = {T};
    int labels = 0;
    {
        enum { A = 7 };
        struct T { char c[A]; } t;
        typedef char U[A + 1];
        labels += sizeof t + sizeof(U);
        {
            int U = 2, T = U * A;
            labels += T;
        }
        U u;
        labels += sizeof(u);
    }
    for (int T = 0; T < 2; T++)
        labels += T;
T:
    if (labels++ < 40)
        goto T;
    if (sizeof(struct T { int in_condition[5]; }) == 20)
        labels += sizeof(struct T);
    int (A) = 3, (*b2) = &A;
    printf("%d %d %d %d\n", b, s.T, labels, *b2);
    return shadow(2) + param(2, (int[]){5, 6}, 0);
}
