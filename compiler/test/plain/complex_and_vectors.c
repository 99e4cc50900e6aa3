#include <complex.h>
#include <stdio.h>

typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(4 * sizeof(float))));
typedef int quarter __attribute__((mode(QI)));

static v4 twice(v4 x) { return x * 2 + (v4){1, 1, 1, 1}; }

int main(void)
{
    double _Complex z = 1.0 + 2.0i, w = conj(z) * I;
    _Complex float f = {1, 2};
    v4 a = {1, 2, 3, 4}, b = twice(a), c = a > b;
    f4 g = __builtin_convertvector(a, f4) / 2;
    v4 h = __builtin_shuffle(a, (v4){3, 2, 1, 0});
    __real__ z += 1;
    printf("%g %g %g %g\n", __real__ z, __imag__ z, creal(w), cimag(~z));
    printf("%d %d %g %d %zu %g\n", b[3], c[0], g[1], h[0], sizeof(quarter), crealf(f));
    a[2] = 9;
    return a[2] + (a + h)[0];
}
