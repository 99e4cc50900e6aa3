#include <stdio.h>

#define T4(e) e + e + e + e
#define T16(e) T4(T4(e))
#define T256(e) T16(T16(e))
#define T2048(e) T256(e) + T256(e) + T256(e) + T256(e) + T256(e) + T256(e) + T256(e) + T256(e)
#define P4(e) ((((e))))
#define P16(e) P4(P4(P4(P4(e))))
#define P64(e) P16(P16(P16(P16(e))))
#define B4(e) {{{{e}}}}
#define B16(e) B4(B4(B4(B4(e))))
#define I16(e) e, e, e, e, e, e, e, e, e, e, e, e, e, e, e, e
#define I4096(e) I16(I16(I16(e)))

static int x = 1;
static const short huge[] = {I4096(1), I4096(2)};

int main(void)
{
    int total = T2048(x), deep = P64(P64(x)), i, sum = 0;
    if (1) B16(B16(deep++;))
    for (i = 0; i < 8192; i++)
        sum += huge[i];
    i = x ? x ? x ? x ? x ? 5 :-1 :-2 :-3 :-4 :-5;
    printf("%d %d %d %d\n", total, deep, sum, i);
    return - - - -~~!!-x;
}
