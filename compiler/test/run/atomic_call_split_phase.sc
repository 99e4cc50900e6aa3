#include <split-c/split-c.h>
#include "../check.h"

struct tally {
    long sum, count;
};

struct block {
    char bytes[100];
};

static int add(int *p, int by)
{
    int old = *p;

    *p = old + by;
    return old;
}

static long note(struct tally *t, long value, struct block block)
{
    t->sum += value + block.bytes[99];
    return ++t->count;
}

static int *where(int *p)
{
    return p;
}

static double half(int *p)
{
    return *p / 2.0;
}

int counters[64], cells[4];
struct tally tally;

struct {
    unsigned field : 20;
    int plain;
} local;

int splitc_main(void)
{
    int old[64];
    long count[50], narrow = 0;
    struct block block = {{0}};

    /* Many are under way at once; each result has its place. */
    for (int i = 0; i < 64; i++)
        old[i] := atomic(add, toglobal(i % PROCS, &counters[i]), i + 1);
    sync();
    for (int i = 0; i < 64; i++)
        EXPECT(old[i] % (i + 1) == 0 && old[i] / (i + 1) < PROCS, 1);
    barrier();
    for (int i = 0; i < 64; i++)
        EXPECT(*toglobal(i % PROCS, &counters[i]), (i + 1) * PROCS);

    /* Arguments that take a message of their own may change at once, as may those that fit. */
    for (int i = 0; i < 50; i++) {
        block.bytes[99] = (char)i;
        count[i] := atomic(note, toglobal(PROCS - 1, &tally), (long)1000 * i, block);
        block.bytes[99] = 77;
    }
    sync();
    for (int i = 1; i < 50; i++)
        EXPECT(count[i] > count[i - 1], 1);
    barrier();
    EXPECT(toglobal(PROCS - 1, &tally)->sum, PROCS * 1001L * (49 * 50 / 2));
    EXPECT(toglobal(PROCS - 1, &tally)->count, 50 * PROCS);

    /* A value that is converted, or has no address to be put to, is there at once. */
    narrow := atomic(add, toglobal(PROCS - 1, &cells[0]), 0);
    EXPECT(narrow, 0);
    cells[1] = 7;
    barrier();
    double quotient;
    quotient := (atomic(half, toglobal(0, &cells[1])));
    sync();
    EXPECT(quotient == 3.5, 1);
    local.field := atomic(add, toglobal(PROCS - 1, &cells[2]), 0);
    EXPECT(local.field, 0);

    int *place;
    place := atomic(where, toglobal(PROCS - 1, cells) + 2);
    sync();
    EXPECT(place == &cells[2], 1);

    /* To a global object the result is put. */
    *toglobal((MYPROC + 1) % PROCS, &cells[3]) := atomic(add, toglobal(0, &cells[1]), 0);
    sync();
    barrier();
    EXPECT(cells[3], 7);
    return failures;
}
