#include <stdio.h>

struct s {
    union {
        struct { short lo, hi; };
        int all;
        struct named { char c[4]; } bytes;
    };
    struct { int n; } in;
    struct { };
    int tail[];
};
struct plus {
    int x;
    union {
        long y;
        struct {
            int z;
        };
    };
};
_Static_assert(sizeof(struct plus) == 16, "a message");

int main(void)
{
    struct s s = {.hi = 1, .in = {3}}, *p = &s;
    struct plus q = {1, {.z = 5}};
    _Static_assert(_Alignof(struct plus) == 8, "another");
    p->lo = 2;
    printf("%d %d %d %ld\n", s.all, p->bytes.c[2], s.in.n, q.y);
    return q.z + sizeof(struct named);
}
