#include <split-c/split-c.h>
#include "../check.h"

/* Neither one is atomic by itself. */
static int add(int *p, int by)
{
    int old = *p;

    *p = old + by;
    return old;
}

struct tally {
    double sum;
    long count;
    char last[40];
};

static void note(struct tally *t, double value, const char *unused, struct tally whole)
{
    (void)unused;
    t->sum += value;
    t->count++;
    t->last[0] = whole.last[0];
}

static long double widest(long double *p)
{
    return *p *= 2;
}

static int *where(int *p)
{
    return p;
}

int counter, cells[4];
struct tally tally;
long double wide = 1;

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, &counter);
    struct tally whole = {.last = "x"};
    int last = -1, old;

    for (int i = 0; i < 200; i++) {
        old = atomic(add, g, 3);
        if (old <= last || old % 3)
            failures = 1;
        last = old;
        atomic(note, toglobal(0, &tally), 0.5, "text", whole);
    }
    barrier();
    EXPECT(*g, 600 * PROCS);
    EXPECT(2 * toglobal(0, &tally)->sum, 200 * PROCS);
    EXPECT(toglobal(0, &tally)->count, 200 * PROCS);
    EXPECT(toglobal(0, &tally)->last[0], 'x');
    EXPECT(atomic(where, toglobal(PROCS - 1, cells) + 2) == &cells[2], 1);
    barrier();
    on_one EXPECT(atomic(widest, toglobal(PROCS - 1, &wide)), 2);
    barrier();
    return failures;
}
