// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

__attribute__((unused)) static int a __attribute__((aligned(8))) = 1, b __attribute__((unused)) = 2;
static __attribute__((unused)) const __attribute__((unused)) int c = 3;
int __attribute__((unused)) *__attribute__((unused)) p = &a;
int (__attribute__((noinline)) f)(void);
int f(void) { return 4; }
void (*__attribute__((noinline)) fp)(void);
struct __attribute__((packed)) s { char c; int __attribute__((aligned(2))) i; } __attribute__((unused)) s;
typedef __attribute__((aligned(16))) int aligned_t;
typedef int vec __attribute__((vector_size(16))), *vecp;
union __attribute__((transparent_union)) u { int *ip; long *lp; };
static int take(union u x) { return *x.ip; }
enum e { ONE __attribute__((unused)) = 1, TWO __attribute__((deprecated("no"))) } __attribute__((packed));
extern int ext(int __attribute__((unused)), char *__attribute__((unused)) q) __asm__("f") __attribute__((pure));
static int noted(const char *format, ...) __attribute__((format(printf, 1, 2), nonnull(1)));
static int noted(const char *format, ...) { return format[0]; }
int asmd __asm__("renamed") __attribute__((used)) = 6;
static int k(a, b) int a __attribute__((unused)), b __attribute__((unused)); { return 5; }

int main(void)
{
    int x __attribute__((unused)), y __attribute__((aligned(64))) = 2;
    struct { int i __attribute__((mode(DI))); } wide;
    typedef int di __attribute__((mode(DI)));
    if (y) { __attribute__((unused)) int z; }
    for (__attribute__((unused)) int i = 0; i < 1; i++) ;
    goto end;
end: __attribute__((unused));
    printf("%d %d %d %d %zu %zu\n", *p, b, c, f(), sizeof s, sizeof wide + sizeof(di));
    printf("%d %d %d %d %d\n", take(&a), (int)sizeof(enum e), noted("x"), asmd, k(1, 2));
    return (long)&y % 64 + _Alignof(aligned_t) + sizeof(vec);
}
