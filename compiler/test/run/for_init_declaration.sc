#include <split-c/split-c.h>
#include "../check.h"

int cells[4];

int splitc_main(void)
{
    int count = 0, sum = 0;

    for (int i = 0; i < 4; i++)
        cells[i] = i + 1;
    barrier();
    int *global first = toglobal(PROCS - 1, cells);
    for (int *global p = first; p < first + 4; p++)
        sum += *p;
    for (int *global p = first, *global end = p + 4, step = 2; p < end; p += step)
        sum += *p, count++;
    EXPECT(sum, 10 + 1 + 3);
    EXPECT(count, 2);
    sum = 0;
    for (int i = 0, *global p = first; i < 4; i++, p++) {
        if (i == 1)
            continue;
        if (i == 3)
            break;
        sum += *p;
    }
    EXPECT(sum, 1 + 3);
    // The scopes end where C says.
    int p = 9, i = 8;
    EXPECT(p + i, 17);
    barrier();
    return failures;
}
