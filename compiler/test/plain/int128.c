#include <stdio.h>

typedef unsigned __int128 u128;

int main(void)
{
    __int128 a = (__int128)1 << 100;
    u128 b = ~(u128)0;
    __uint128_t c = b / 3;
    printf("%llx %llx %d\n", (unsigned long long)(a >> 64), (unsigned long long)(c >> 64),
           (int)(b % 10));
    return sizeof(__int128) == 16 && 0x7fffffffffffffffULL + 1 == 1ULL << 63 ? 0 : 1;
}
