#include <split-c/split-c.h>
#include "../check.h"

_Static_assert(sizeof(int *global) == 8, "a global pointer has 64 bits");
enum { POINTER = sizeof(char *spread), NEXT };
struct odd {
    unsigned bits : sizeof(int *global);
    _Static_assert(sizeof(int *spread) == 8, "inside");
    char pad[sizeof(int *global)];
};
static int *global const none = 0;
int *global give(int), *global variable;
void takes(int *global (*)(int *spread), int (*)[sizeof(int *global)]);
_Alignas(int *global) char aligned[3];
__attribute__((aligned(sizeof(int *global)))) char attributed[3];

int *global give(int n)
{
    return n ? &failures : 0;
}

int splitc_main(void)
{
    _Static_assert(_Alignof(int *global) == 8, "in a block");
    int n = 0, table[3] = {4, 5, 6}, *global g = table;

    EXPECT(POINTER + NEXT, 17);
    EXPECT(sizeof(struct odd), 12);
    EXPECT(none == NULL && variable == NULL && give(0) == NULL, 1);
    EXPECT(give(1) != NULL, 1);
    switch (g[1]) {
    case sizeof(int *global) - 3 ... 7:
        n = 1;
    }
    EXPECT(n, 1);
    EXPECT((unsigned long)aligned % 8 + (unsigned long)attributed % 8, 0);
    asm("addl %1, %0" : "+r"(n) : "r"(g[2]));
    EXPECT(n, 7);
    *g;
    (void)*g, (void)g;
    static void *labels[] = {&&out, &&out, &&out, &&out, &&out};
    goto *labels[*g];
out:
    EXPECT(__builtin_offsetof(struct odd, pad[*g]), 5);
    return failures;
}
