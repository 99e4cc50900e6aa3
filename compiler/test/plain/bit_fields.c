#include <stdio.h>

struct bits {
    unsigned a : 3, : 5, b : 8;
    signed long long c : 40;
    _Bool d : 1;
    int : 0;
    unsigned char e : 4;
    enum { X, Y, Z } f : 2;
    const int g : 6;
};

int main(void)
{
    struct bits s = {.a = 9, .b = 200, .c = -1, .d = 8, .e = 17, .f = Z, .g = -5}, *p = &s;
    s.a += 7, p->b++, s.c <<= 3, s.d ^= 1;
    printf("%d %d %lld %d %d %d %d %zu\n", s.a, s.b, (long long)s.c, s.d, s.e, s.f, s.g, sizeof s);
    return s.a ? p->a:-1;
}
