#define _GNU_SOURCE /* MAP_32BIT */
#include <split-c/split-c.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../check.h"

/* What the program gets from the system itself is reached, wherever it lies: right behind the static
 * objects, below 4 GiB, or where it asks for a place among those of stack and heaps. */

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* of other processors */
#endif
#define BYTES 65536

static char *by_sbrk(unsigned long hint)
{
    return sbrk(BYTES);
}

static char *mapped(unsigned long hint)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (hint ? 0 : MAP_32BIT);

    return mmap((void *)hint, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static struct {
    char *(*get)(unsigned long hint);
    unsigned long hint;
} const way[] = {{by_sbrk},
                 {by_sbrk},
                 {mapped},
                 {mapped, 0x30000000},
                 {mapped, 0x1f0000000},
                 {mapped, 0x300000000},
                 {mapped, 0x7000000000},
                 {mapped, 0x400000000000},
                 {mapped, 0x400340000000},
                 {mapped, 0x500000000000}};

static int *mine;

static void reach(int theirs, int way)
{
    int *global g = toglobal(theirs, *toglobal(theirs, &mine));
    int seen[2];

    EXPECT(g[0], theirs);
    EXPECT(g[BYTES / sizeof *g - 1], way);
    bulk_read(seen, g, sizeof seen);
    EXPECT(seen[0], theirs);
    EXPECT(seen[1], -1);
    barrier();
    g[1] = MYPROC;
    barrier();
    EXPECT(mine[1], (MYPROC + PROCS - 1) % PROCS);
}

int splitc_main(void)
{
    for (int i = 0; i < sizeof way / sizeof *way; i++) {
        mine = (int *)way[i].get(way[i].hint);
        EXPECT(mine == MAP_FAILED, 0);
        mine[0] = MYPROC;
        mine[1] = -1;
        mine[BYTES / sizeof *mine - 1] = i;
        barrier();
        reach((MYPROC + 1) % PROCS, i);
        barrier();
    }
    return failures;
}
