#include <split-c/split-c.h>
#include "../check.h"

struct odd {
    char bytes[24];
};

int splitc_main(void)
{
    int n = 4 * PROCS + 3;
    struct odd *spread A = all_spread_malloc(n, sizeof(struct odd));

    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            struct odd *spread a = A + i, *spread b = A + k;
            EXPECT(a - b, i - k);
            EXPECT(a < b, i < k);
            EXPECT(a <= b, i <= k);
            EXPECT(a > b, i > k);
            EXPECT(a >= b, i >= k);
            EXPECT(a == b, i == k);
            EXPECT(a != b, i != k);
            EXPECT(a + (b - a) == b, 1);
        }
    all_spread_free(A);
    return failures;
}
