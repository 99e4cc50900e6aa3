#include <stdio.h>

#pragma pack(push, 1)
struct packed { char c; int i; };
#pragma pack(pop)
_Pragma("GCC diagnostic push")
#pragma GCC optimize("O1")
#pragma STDC FP_CONTRACT ON

int main(void)
{
    int s = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 8; i++)
        s += i;
    _Pragma("GCC ivdep")
    for (int i = 0; i < 8; i++)
        s += i;
#pragma message_of_nobody
    printf("%zu %d %s:%d\n", sizeof(struct packed), s, "line", __LINE__);
    return 0;
}
