#include <split-c/split-c.h>
#include "../check.h"

#pragma pack(push, 1)
struct by_pragma {
    char c;
    int i;
};
#pragma pack(pop)
struct by_attribute {
    char c;
    int i __attribute__((packed));
};
struct aligned {
    char c;
    _Alignas(32) char d;
};
enum __attribute__((packed)) small { SMALL };
enum big { BIG = 1LL << 40 };
struct bits {
    unsigned a : 3;
    char c;
};
typedef int spaced __attribute__((aligned(64)));
struct flexible {
    char c;
    double d[];
};
struct empty {
};

// Dimensions that are sizes: what cc says they are.
#define CHECK_SIZE(T, n)                                                                           \
    do {                                                                                           \
        int A[PROCS]::[sizeof(T)];                                                                 \
        int(*spread p)[sizeof(T)] = A;                                                             \
        char(*global g)[sizeof(T)] = 0;                                                            \
        EXPECT(sizeof A[0], (n) * sizeof(int));                                                    \
        EXPECT(sizeof *p, (n) * sizeof(int));                                                      \
        EXPECT(sizeof *g, n);                                                                      \
        EXPECT((char *)(p + PROCS) - (char *)p, (n) * sizeof(int));                                \
    } while (0)

int splitc_main(void)
{
    CHECK_SIZE(struct by_pragma, 5);
    CHECK_SIZE(struct by_attribute, 5);
    CHECK_SIZE(struct aligned, 64);
    CHECK_SIZE(enum small, 1);
    CHECK_SIZE(enum big, 8);
    CHECK_SIZE(struct bits, 4);
    CHECK_SIZE(struct flexible, 8);
    CHECK_SIZE(long double, 16);
    CHECK_SIZE(char[_Alignof(struct aligned)], 32);
    CHECK_SIZE(char[sizeof "four" + sizeof(L'x')], 9);
    CHECK_SIZE(char['\n'], 10);
    CHECK_SIZE(char[(unsigned char)300], 44);
    CHECK_SIZE(char[-1 < 0u ? 2 : 3], 3);
    CHECK_SIZE(char[(1 ? -7 : 2u) / 2 > 100 ? 5 : 6], 5);
    return failures;
}
