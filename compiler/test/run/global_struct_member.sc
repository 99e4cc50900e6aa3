#include <split-c/split-c.h>
#include "../check.h"

struct node {
    int key;
    struct node *global next;
    int *spread table;
};

struct node node;

// A ring of structs, each pointing to the next processor's.
int splitc_main(void)
{
    struct node *global at;
    int i, sum = 0;

    node.key = MYPROC * MYPROC;
    node.next = toglobal((MYPROC + 1) % PROCS, &node);
    node.table = NULL;
    barrier();
    for (at = node.next, i = 0; i < PROCS; i++, at = at->next)
        sum += at->key;
    EXPECT(sum, (PROCS - 1) * PROCS * (2 * PROCS - 1) / 6);
    EXPECT(toproc(at), (MYPROC + 1) % PROCS);
    EXPECT(at->next->next->table == NULL, 1);
    barrier();
    return failures;
}
