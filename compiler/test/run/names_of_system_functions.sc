// flags: -std=gnu89
//
// Types and enumeration constants of the program's own may have the names of functions that system
// headers declare today.
#include <split-c/split-c.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../check.h"

enum mode { round, trunc, getline, dprintf = 7, nan };
typedef struct {
    int a;
    enum mode mode;
} log2, *exp2;
typedef int fma(), scalb[2];

log2 v = {4, trunc}, spread_v[3]::;
exp2 p = &v;

weight(m)
enum mode m;
{
    switch (m) {
    case round:
        return 10;
    case nan:
        return 20;
    default:
        return m;
    }
}

apply(f, s)
fma *f;
scalb s;
{
    return (*f)(s[1]);
}

splitc_main()
{
    static scalb pair = {round, dprintf};
    log2 *global far = toglobal(0, p), copy;
    int i;

    for_my_1d(i, 3)
        spread_v[i].mode = i;
    barrier();
    copy := *far;
    sync();
    EXPECT(copy.mode, 1);
    EXPECT(spread_v[getline].mode, getline);
    EXPECT(weight(round) + weight(nan) + weight(far->mode), 31);
    EXPECT(apply(weight, pair), 7);
    {
        enum { lround = 3 } log2 = lround; /* in a block */

        EXPECT(log2, 3);
    }
    return failures;
}
