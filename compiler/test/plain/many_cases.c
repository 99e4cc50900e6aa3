#include <stdio.h>

#define C1(n) case n: r += n;
#define C8(n) C1(n) C1(n + 1) C1(n + 2) C1(n + 3) C1(n + 4) C1(n + 5) C1(n + 6) C1(n + 7)
#define C64(n) C8(n) C8(n + 8) C8(n + 16) C8(n + 24) C8(n + 32) C8(n + 40) C8(n + 48) C8(n + 56)
#define L1(n) case n:
#define L8(n) L1(n) L1(n + 1) L1(n + 2) L1(n + 3) L1(n + 4) L1(n + 5) L1(n + 6) L1(n + 7)
#define L64(n) L8(n) L8(n + 8) L8(n + 16) L8(n + 24) L8(n + 32) L8(n + 40) L8(n + 48) L8(n + 56)
#define L512(n)                                                                                    \
    L64(n) L64(n + 64) L64(n + 128) L64(n + 192) L64(n + 256) L64(n + 320) L64(n + 384) L64(n + 448)

static long fall_through(int x)
{
    long r = 0;
    switch (x) {
        C64(0) C64(64) C64(128) C64(192) C64(256) C64(320) C64(384) C64(448)
        L512(512) L512(1024)
        r = -r;
    }
    return r;
}

int main(void)
{
    printf("%ld %ld %ld %ld\n", fall_through(0), fall_through(511), fall_through(1200),
           fall_through(2000));
    return 0;
}
