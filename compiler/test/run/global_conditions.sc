#include <split-c/split-c.h>
#include "../check.h"

struct list {
    int key;
    struct list *global next;
} items[3];

int zero, one = 1;

int splitc_main(void)
{
    int *global z = toglobal(PROCS - 1, &zero), *global o = toglobal(0, &one);
    struct list *global l;
    int sum = 0, n = 0;

    for (int i = 0; i < 3; i++) {
        items[i].key = i + 1;
        items[i].next = i < 2 ? toglobal(MYPROC, &items[i + 1]) : NULL;
    }
    barrier();
    if (*z)
        failures = 1;
    if (!*o)
        failures = 1;
    EXPECT(*o && !*z, 1);
    EXPECT(*z || *o, 1);
    EXPECT(*z ? 1 : *o ? 2 : 3, 2);
    for (l = toglobal(PROCS - 1, items); l; l = l->next)
        sum += l->key;
    EXPECT(sum, 6);
    l = toglobal(0, items);
    do
        n++;
    while ((l = l->next) != NULL && n < 10);
    EXPECT(n, 3);
    while (*o && n-- > 0)
        ;
    EXPECT(n, -1);
    switch (*o) {
    case 1:
        break;
    default:
        failures = 1;
    }
    EXPECT(z != o && (!z || o), 1);
    // The right side of && and || is not evaluated in vain.
    l = NULL;
    EXPECT(l && l->key, 0);
    EXPECT(!l || l->key, 1);
    EXPECT(l ? l->key : 9, 9);
    barrier();
    return failures;
}
