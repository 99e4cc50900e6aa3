#include <split-c/split-c.h>
#include "../check.h"

typedef int *global remote;
typedef remote table[3];
typedef struct item {
    int weight;
    remote where;
} *global item_pointer;
typedef int *spread row, *plain;

struct item item;
int value;

int splitc_main(void)
{
    remote r = toglobal(0, &value), second;
    table t = {0, r, 0};
    const remote fixed = r;
    item_pointer ip = toglobal(PROCS - 1, &item);
    plain p = &value;
    row nothing = 0;

    value = MYPROC + 5;
    item.weight = 3 * MYPROC;
    item.where = toglobal(MYPROC, &value);
    barrier();
    second = t[1];
    EXPECT(*second, 5);
    EXPECT(*fixed, 5);
    EXPECT(t[0] == NULL && t[2] == NULL, 1);
    EXPECT(ip->weight, 3 * (PROCS - 1));
    EXPECT(*ip->where, PROCS + 4);
    EXPECT(*p, MYPROC + 5);
    EXPECT(nothing == NULL, 1);
    barrier();
    return failures;
}
