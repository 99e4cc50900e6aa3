// SPDX-License-Identifier: BSD-3-Clause
#include <emmintrin.h>
#include <stdio.h>

typedef float v4 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
static v4 scale(v4 a, float f) { return a * f + (v4){1, 1, 1, 1}; }
int main(void)
{
    v4 a = {1, 2, 3, 4}, b = scale(a, 2);
    i4 less = a < b, s = __builtin_shuffle((i4){1, 2, 3, 4}, (i4){3, 2, 1, 0});
    a[2] = 9;
    a += b; a = -a; less ^= s << 1;
    i4 c = __builtin_convertvector(a, i4), d = (less & s) | c;
    __m128i m = _mm_add_epi32(_mm_set1_epi32(3), (__m128i)s);
    __m128d e = _mm_setr_pd(1.5, 2.5);
    printf("%g %g %d %d %d %d\n", a[2], b[3], less[0], s[0], c[1], d[3]);
    printf("%d %g %d\n", _mm_cvtsi128_si32(m), e[1], ((int *)&m)[3]);
    return _mm_movemask_epi8(m) & 1;
}
