// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <complex.h>
#include "../check.h"

#define ROUND_TRIP(T, name, value)                                                                 \
    static T name;                                                                                 \
    static void round_trip_##name(int right)                                                       \
    {                                                                                              \
        T *global g = toglobal(right, &name), got;                                                 \
        name = (T)0;                                                                               \
        barrier();                                                                                 \
        *g = (T)(value);                                                                           \
        barrier();                                                                                 \
        EXPECT(name == (T)(value), 1);                                                             \
        EXPECT(*g == (T)(value), 1);                                                               \
        got := *g;                                                                                 \
        sync();                                                                                    \
        EXPECT(got == name, 1);                                                                    \
        barrier();                                                                                 \
        *g :- (T)0;                                                                                \
        store_sync(sizeof(T));                                                                     \
        EXPECT(name == (T)0, 1);                                                                   \
        barrier();                                                                                 \
        *g := (T)(value);                                                                          \
        sync();                                                                                    \
        barrier();                                                                                 \
        EXPECT(name == (T)(value), 1);                                                             \
        barrier();                                                                                 \
        *g += 1;                                                                                   \
        barrier();                                                                                 \
        EXPECT(name == (T)((T)(value) + 1), 1);                                                    \
        barrier();                                                                                 \
    }

ROUND_TRIP(char, c, 'x')
ROUND_TRIP(signed char, sc, -5)
ROUND_TRIP(unsigned char, uc, 255)
ROUND_TRIP(short, s, -30000)
ROUND_TRIP(unsigned short, us, 65535)
ROUND_TRIP(int, i, -2000000000)
ROUND_TRIP(unsigned, u, 4000000000u)
ROUND_TRIP(long, l, -(1L << 62))
ROUND_TRIP(unsigned long, ul, ~0UL)
ROUND_TRIP(long long, ll, 1LL << 61)
ROUND_TRIP(unsigned long long, ull, ~0ULL - 5)
ROUND_TRIP(_Bool, b, 1)
ROUND_TRIP(float, f, 1.25f)
ROUND_TRIP(double, d, -1e300)
ROUND_TRIP(long double, ld, 1.5e4000L)
ROUND_TRIP(float complex, fc, 1 + 2 * I)
ROUND_TRIP(double complex, dc, 3 - 4 * I)
ROUND_TRIP(long double complex, lc, 5 + 6 * I)
ROUND_TRIP(__int128, q, (__int128)1 << 100)
enum color { RED, GREEN, BLUE };
ROUND_TRIP(enum color, e, GREEN)

int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS;

    round_trip_c(right);
    round_trip_sc(right);
    round_trip_uc(right);
    round_trip_s(right);
    round_trip_us(right);
    round_trip_i(right);
    round_trip_u(right);
    round_trip_l(right);
    round_trip_ul(right);
    round_trip_ll(right);
    round_trip_ull(right);
    round_trip_b(right);
    round_trip_f(right);
    round_trip_d(right);
    round_trip_ld(right);
    round_trip_fc(right);
    round_trip_dc(right);
    round_trip_lc(right);
    round_trip_q(right);
    round_trip_e(right);
    return failures;
}
