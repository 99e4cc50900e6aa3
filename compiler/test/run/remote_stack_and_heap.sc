#include <split-c/split-c.h>
#include <stdlib.h>
#include "../check.h"

int *global addresses[PROCS]::[2];

// A global pointer names any object: here one on a stack and one from malloc.
int splitc_main(void)
{
    int on_stack = 30 + MYPROC, *on_heap = malloc(2 * sizeof(int));
    int next = (MYPROC + 1) % PROCS;

    on_heap[1] = 60 + MYPROC;
    addresses[MYPROC][0] = &on_stack;
    addresses[MYPROC][1] = on_heap + 1;
    barrier();
    EXPECT(*addresses[next][0], 30 + next);
    EXPECT(*addresses[next][1], 60 + next);
    barrier();
    *addresses[next][0] += 1;
    addresses[next][1][-1] = 5;
    barrier();
    volatile int *now = &on_stack;
    EXPECT(*now, 31 + MYPROC);
    EXPECT(on_heap[0], 5);
    barrier();
    free(on_heap);
    return failures;
}
