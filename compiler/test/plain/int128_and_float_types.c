// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

__extension__ typedef unsigned __int128 u128;
static __int128 big = (__int128)1 << 100;
_Float128 f128 = 1.5f128;
_Float64 f64 = 2.5f64; _Float32 f32 = 3.5f32; _Float32x f32x = 4.5f32x; _Float64x f64x = 5.5f64x;
__float128 q = 6.5Q; __float80 w = 7.5W;
static double ratio(u128 a, u128 b) { return (double)a / (double)b; }
int main(void)
{
    u128 u = ~(u128)0;
    big += 5; big >>= 98;
    printf("%d %llx %g\n", (int)big, (unsigned long long)(u >> 64), ratio(9, 2));
    printf("%g %g %g %g %g\n", (double)f128, (double)f64, (double)f32, (double)f32x, (double)f64x);
    printf("%g %g %zu %zu\n", (double)q, (double)w, sizeof big, sizeof q);
    return _Generic(big, __int128: 1, default: 2) + _Generic(f128, _Float128: 10, default: 20);
}
