#include <split-c/split-c.h>
#include "../check.h"

struct node {
    int key;
    struct node *global next;
};

int *global G[2 * PROCS]::;
struct node *spread heads[PROCS]::[2];
static struct node nodes[4];

int splitc_main(void)
{
    int value = 8 + MYPROC, total = 0;
    struct node *spread all = all_spread_malloc(PROCS, sizeof(struct node));

    all[MYPROC].key = 50 + MYPROC;
    all[MYPROC].next = NULL;
    G[MYPROC] = toglobal(MYPROC, &value);
    G[MYPROC + PROCS] = &value;
    heads[MYPROC][1] = all + MYPROC;
    barrier();
    for (int i = 0; i < 2 * PROCS; i++)
        total += *G[i];
    EXPECT(total, 16 * PROCS + PROCS * (PROCS - 1));
    EXPECT(heads[PROCS - 1][1]->key, 49 + PROCS);
    EXPECT(heads[PROCS - 1][1]->next == NULL, 1);
    EXPECT((*heads[PROCS - 1][1]).key, 49 + PROCS);
    EXPECT(toproc(G[PROCS - 1] + 1), PROCS - 1);
    barrier();
    all_spread_free(all);
    return failures;
}
