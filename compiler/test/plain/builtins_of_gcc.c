// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct s { int a; struct { char b[4]; } c[3]; };
static int log_it(const char *format, ...)
{
    va_list ap, copy;
    char text[64];
    va_start(ap, format);
    va_copy(copy, ap);
    vsnprintf(text, sizeof text, format, ap);
    double d = va_arg(copy, double);
    struct s *p = va_arg(copy, struct s *);
    int n = va_arg(copy, int (*)[2])[0][1];
    va_end(copy);
    va_end(ap);
    return printf("%s %g %d %d\n", text, d, p->a, n);
}
static inline __attribute__((always_inline)) int pass(const char *f, ...) { return log_it(f, __builtin_va_arg_pack()); }

int main(void)
{
    struct s s = {3};
    int pair[2] = {1, 2}, n = 5;
    unsigned u; long long ll;
    log_it("%g", 1.5, &s, &pair);
    pass("%g", 2.5, &s, &pair);
    printf("%zu %zu %zu\n", __builtin_offsetof(struct s, c[2].b[1]), __builtin_offsetof(struct s, c[n - 4]), __builtin_object_size(pair, 0));
    printf("%d %d %d %d\n", __builtin_clz(8), __builtin_ctzl(8), __builtin_ffs(8), __builtin_parity(7));
    printf("%d %d\n", __builtin_mul_overflow(1 << 20, 1 << 20, &u), __builtin_sub_overflow_p(1, 2, (unsigned)0));
    printf("%d %d %x\n", __builtin_isnan(__builtin_nan("")), __builtin_signbit(-1.0) != 0, __builtin_bswap32(0x12345678));
    printf("%d %d\n", __builtin_types_compatible_p(typeof(&s), struct s *), __builtin_classify_type(1.0));
    printf("%d %d\n", __builtin_choose_expr(sizeof(int) == 4, n, "x"), __builtin_strlen("abc"));
    char *stack = __builtin_alloca(16);
    memset(stack, 'x', 15), stack[15] = 0;
    if (__builtin_expect_with_probability(n, 5, 0.9) != 5) __builtin_trap();
    void *here = __builtin_return_address(0), *frame = __builtin_frame_address(0);
    __builtin_prefetch(stack, 0, 3);
    __sync_synchronize();
    ll = __builtin_assoc_barrier(3LL);
    int *al = __builtin_assume_aligned(pair, 4);
    return strlen(stack) + !here + !frame + al[1] + ll + __builtin_constant_p(n) * 0;
}
