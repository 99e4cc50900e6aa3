#include <split-c/split-c.h>
#include "../check.h"

struct item {
    short key;
    double weight;
} items[10];

int splitc_main(void)
{
    int last = PROCS - 1;
    struct item *global base = toglobal(last, items), *global p = base;
    int i;

    for (i = 0; i < 10; i++)
        items[i].key = 10 * MYPROC + i;
    barrier();
    for (i = 0; i < 10; i++, ++p) {
        EXPECT(p->key, 10 * last + i);
        EXPECT(toproc(p), last);
        EXPECT(p - base, i);
        EXPECT((base + i)->key, base[i].key);
        EXPECT((i + base)->key, i[base].key);
    }
    EXPECT(p[-1].key, 10 * last + 9);
    EXPECT((p - 10)->key, 10 * last);
    p -= 3;
    EXPECT(p--->key, 10 * last + 7);
    EXPECT((--p)->key, 10 * last + 5);
    EXPECT((p += 2)->key, 10 * last + 7);
    EXPECT(base - p, -7);
    EXPECT(base < p && p > base && base <= p && p >= base && base != p, 1);
    EXPECT(base + 7 == p, 1);
    EXPECT((unsigned char)200 + base - base, 200);
    barrier();
    return failures;
}
