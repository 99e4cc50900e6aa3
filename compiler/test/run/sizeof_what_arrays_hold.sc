// ranks: 1
#include <split-c/split-c.h>
#include "../check.h"

/* The size of what an array of global pointers points to is a constant, whatever the array is. */
struct node {
    int v;
    int *global q;
};

int *global all[3];

static int measured(int n, struct node given[3])
{
    int *global v[n];
    struct node w[n];
    static char t[sizeof *v[0]];
    static int z = sizeof *w->q;
    enum { K = sizeof *v[0] };
    struct {
        int x : sizeof *w->q;
    } s = {.x = 1};

    _Static_assert(sizeof *v[0] == sizeof(int), "");
    switch (n) {
    case sizeof *v[0]:
        return 0;
    }
    return sizeof t + z + K + s.x + sizeof *given[0].q;
}

int splitc_main(void)
{
    extern int *global all[];
    struct node first[] = {{.v = sizeof *first[0].q}};

    EXPECT(measured(4, first), 0);
    EXPECT(measured(5, first), 17);
    EXPECT(sizeof *all[0], sizeof(int));
    EXPECT(first[0].v, sizeof(int));
    return failures;
}
