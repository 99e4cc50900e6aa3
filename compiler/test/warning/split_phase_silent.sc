// What may well be right is not warned of.
#include <split-c/split-c.h>
#include <stddef.h>

void perhaps_syncs(void);
struct pair {
    int first, second;
};

int synced(int *global g, int n)
{
    int x, sum = 0;
    for (int i = 0; i < n; i++) {
        x := g[i];
        sync();
        sum += x;
    }
    return sum;
}

int called(int *global g)
{
    int x;
    x := *g;
    perhaps_syncs();
    return x;
}

int one_branch_syncs(int *global g, int c)
{
    int x;
    x := *g;
    if (c)
        sync();
    return x;
}

int asked(int *global g)
{
    int x = 0;
    x := *g;
    if (!is_sync())
        sync();
    return x;
}

int pipelined(int *global g, int n)
{
    int next = 0, x = 0, sum = 0;
    next := g[0];
    for (int i = 1; i <= n; i++) {
        sync();
        x = next;
        if (i < n)
            next := g[i];
        sum += x;
    }
    return sum;
}

int left_by_break(int *global g, int n)
{
    int x = 0;
    x := *g;
    for (int i = 0;; i++) {
        if (i == n) {
            sync();
            break;
        }
    }
    return x;
}

int step_after_body(int *global g, int n)
{
    int x = 0, i;
    x := *g;
    for (i = 0; i < n; i += x)
        sync();
    return i;
}

int at_a_label(int *global g, int n)
{
    int x = 0;
    x := *g;
again:
    n += x;
    if (n < 100)
        goto again;
    return n;
}

int other_members(int *global g)
{
    struct pair p;
    int a[4], *q = a, i = 0;
    p.first := *g;
    p.second = 1;
    a[0] := *g;
    a[i] := *g;
    i++;
    a[i] = 2;
    *q := *g;
    q++;
    *q = 3;
    sync();
    return p.first + p.second + a[0];
}

size_t not_read(int *global g)
{
    int x;
    x := *g;
    (void)x;
    int *p = &x;
    size_t size = sizeof x;
    sync();
    return size + *p;
}

int completed_at_once(char *global g)
{
    register int x;
    x := *g;
    return x;
}

int cases(int *global g, int n)
{
    int x = 0;
    switch (n) {
    case 1:
        x := *g;
        break;
    default:
        sync();
    }
    return x;
}

int twice(int *global g)
{
    int x;
    x := g[0];
    x := g[1];
    sync();
    return x;
}

int put_source(int *global g, int x)
{
    *g := x;
    x++;
    sync();
    return x;
}
