/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sharing.sc - each processor says how many others' memory it reaches by loads, and how its part of
 * the spread heap is mapped: "shared", or its "own".
 */
#include <split-c/castable.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

static const char *mapping_of(const void *object)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    const unsigned long at = (unsigned long)object;
    unsigned long start, end;
    char line[4096], flags[8] = "";

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &start, &end, flags) == 3 && start <= at && at < end)
            break;
    if (maps)
        fclose(maps);
    return flags[3] == 's' ? "shared" : "own";
}

int splitc_main(void)
{
    char *spread here = all_spread_malloc(PROCS, 64);
    int reached = 0;

    for (int p = 0; p < PROCS; p++)
        reached += p != MYPROC && castable(toglobal(p, &reached));
    printf("%d reaches %d: %s\n", MYPROC, reached, mapping_of(tolocal(here + MYPROC)));
    return 0;
}
