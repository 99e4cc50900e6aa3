#include <split-c/split-c.h>
#include "../check.h"

struct message {
    int id;
    double payload[3];
};

struct message inbox;
int word;
double real;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, before = (MYPROC + PROCS - 1) % PROCS;
    struct message out = {MYPROC, {1, 2, MYPROC}};
    int *global g = toglobal(next, &word);

    *toglobal(next, &inbox) :- out;
    out.id = -1;
    *g :- 3 * MYPROC;
    *(double *global)toglobal(next, &real) :- MYPROC;
    store_sync(sizeof out + sizeof(int) + sizeof(double));
    EXPECT(inbox.id, before);
    EXPECT(inbox.payload[2], before);
    EXPECT(word, 3 * before);
    EXPECT(real, before);
    barrier();
    *g :-1;
    store_sync(sizeof(int));
    EXPECT(word, 1);
    return failures;
}
