// SPDX-License-Identifier: BSD-3-Clause
#include <complex.h>
#include <stdio.h>

static double complex square(double complex z) { return z * z; }
_Complex float cf = 1.0f + 2.0if;
int main(void)
{
    double complex z = 1 + 2 * I, w = CMPLX(3, -1);
    __complex__ int ci = 3 + 4i;
    long double _Complex l = 1.0Li;
    z += 1; z *= w; z++;
    __real__ w = 9; __imag__ w += 2;
    printf("%g %g %g %g\n", creal(z), cimag(z), __real__ w, __imag__ w);
    printf("%g %g %d %d\n", creal(~square(z)), cimag(conj(z)), __real__ ci, __imag__ (ci * ci));
    printf("%g %d %g %zu\n", (double)cimagl(l), z == w, crealf(cf), sizeof cf);
    return z != 0;
}
