#include <stdio.h>
#include <stdlib.h>

typedef int aligned_int __attribute__((aligned(32)));
struct __attribute__((packed)) tight {
    char c;
    int i;
};
struct loose {
    char c;
    int i __attribute__((packed)), j;
} __attribute__((aligned(16)));
static __attribute__((noinline, unused)) int quiet(int x __attribute__((unused)), ...)
{
    return 3;
}
__attribute__((noreturn)) static void stop(void)
{
    exit(0);
}
int weak_one(void) __attribute__((weak, const));
int weak_one(void) { return 1; }
static int __attribute__((constructor)) before(void) { return puts("before"); }
typedef int four_ints __attribute__((vector_size(16)));
static int third(__attribute__((unused)) int a, int (__attribute__((unused)) long),
                 four_ints v) { return v[2]; }
static int add_one(long n) { return (int)n + 1; }
static __builtin_ms_va_list none;
int *__attribute__((nonnull(1))) same(int *p) { return p; }
enum __attribute__((packed)) small { A, B __attribute__((deprecated)), C };

int main(void)
{
    aligned_int a = 2;
    int __attribute__((unused)) n = 4, __attribute__((unused)) m = 5;
    __attribute__((unused)) int k = 6;
    printf("%zu %zu %zu %zu\n", sizeof(struct tight), sizeof(struct loose), _Alignof(aligned_int),
           sizeof(enum small));
    printf("%d %d %d %d\n", quiet(1, 2.0), weak_one(), *same(&n), a + m + k);
    printf("%d %zu\n", third(1, add_one, (__attribute__((vector_size(16))) int){7, 8, 9, 10}),
           sizeof(__attribute__((vector_size(16))) int) + 0 * sizeof none);
    switch (n) {
    case 4:
        m++;
        __attribute__((fallthrough));
    default:
        printf("%d\n", m);
    }
    goto out;
out:
    __attribute__((unused));
    stop();
}
