#include <split-c/split-c.h>
#include "../check.h"

int value;
int *global to_value;
int *global *global chain;

int splitc_main(void)
{
    int *global *local = &to_value;
    int *spread row = 0;
    int *spread *to_row = &row;
    int *global *spread *global none = 0;

    value = 40 + MYPROC;
    to_value = toglobal((MYPROC + 1) % PROCS, &value);
    chain = toglobal((MYPROC + 1) % PROCS, &to_value);
    barrier();
    EXPECT(**local, 40 + (MYPROC + 1) % PROCS);
    EXPECT(toproc(*chain), (MYPROC + 2) % PROCS);
    EXPECT(**chain, 40 + (MYPROC + 2) % PROCS);
    EXPECT(*to_row == NULL, 1);
    *to_row = all_spread_malloc(PROCS, sizeof(int));
    (*to_row)[MYPROC] = MYPROC + 1;
    barrier();
    EXPECT(*(*to_row + PROCS - 1), PROCS);
    EXPECT(none == 0, 1);
    // Through the pointer on the other processor: the pointer there is replaced.
    barrier();
    *chain = toglobal(0, &value);
    barrier();
    EXPECT(toproc(to_value), 0);
    EXPECT(**chain, 40);
    all_spread_free(row);
    return failures;
}
