#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct s { char c; struct { int v[3]; } in[2]; };

static int sum(int n, ...)
{
    va_list a, b;
    int total = 0;
    va_start(a, n);
    va_copy(b, a);
    while (n--)
        total += va_arg(a, int) + (int)va_arg(b, int);
    va_end(a), va_end(b);
    return total;
}

int main(void)
{
    int x = 4, old;
    char buffer[16];
    printf("%zu %zu\n", offsetof(struct s, in[1].v[2]), __builtin_offsetof(struct s, in));
    printf("%d %d %d\n", sum(3, 1, 2, 3), __builtin_types_compatible_p(int, typeof(x)),
           __builtin_choose_expr(1, 5, "no"));
    printf("%d %d %d\n", __builtin_popcount(x), __builtin_constant_p(3), !!__builtin_expect(x, 1));
    old = __sync_fetch_and_add(&x, 3);
    __atomic_store_n(&x, x + old, __ATOMIC_SEQ_CST);
    __builtin_memcpy(buffer, "copied", 7);
    if (__builtin_add_overflow(x, 1, &x) || strcmp(buffer, "copied"))
        __builtin_unreachable();
    printf("%d %s %s %g\n", x, __func__, buffer, __builtin_inf());
    return sizeof(__PRETTY_FUNCTION__) + __alignof__(double) - __alignof__ x;
}
