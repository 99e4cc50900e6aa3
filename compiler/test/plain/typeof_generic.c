#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <tgmath.h>

#define NAME(x) _Generic((x), int: "int", double: "double", char *: "text", \
                         const char *: "const text", default: "other", float (*)[2]: "row")
typeof(int *) a, b;
typeof(1 + 1.0) d = 1.5;
__typeof__(int(*)(void)) function;
typeof(typeof(char[4])) chars = "abc";
struct s { int x; typeof(&a) pp; };

static int three(void) { return 3; }

int main(void)
{
    __auto_type x = 1.25f;
    const __auto_type y = &x;
    typeof(y) z = y;
    float row[2];
    _Atomic int counter = 0;
    _Atomic(long) wide = 5;
    atomic_fetch_add(&counter, 4);
    function = three;
    a = b = (int[]){4};
    printf("%s %s %s %s %s\n", NAME(1), NAME(1.0), NAME("x"), NAME(&row), NAME(z));
    printf("%g %g %d %s %zu\n", d, *z, function(), chars, offsetof(struct s, pp));
    printf("%g %d %ld\n", (double)sqrt(2.25f), counter, wide++);
    return *a + _Generic(&three, int (*)(void): 1, default: 2);
}
