/* SPDX-License-Identifier: BSD-3-Clause
 *
 * report.sc - what the program says, in texts that run over several lines.
 */
#include "plasma.h"

#define RULE "----------------------------------------
"

static char text[] = "plasma: particles, waves and a potential
  on %d processors, %d particles on each at first
";

char *banner()
{
    static char said[400];

    sprintf(said, text, PROCS, PARTICLES);
    return said;
}

#define SAY(format, value) printf(format, value)

usage()
{
    on_one printf("usage: plasma [-v] [seed]
  -v    say what has been checked, and how long it took
  seed  a number to begin with
");
    exit(2);
}

/* A table of the processors' loads, gathered on processor 0. */
print_loads()
{
    int loads[PROCS]::, p;

    loads[MYPROC] = how_many;
    barrier();
    on_one {
        printf(RULE);
        for (p = 0; p < PROCS; p++)
            SAY("  a processor has %4d particles
", loads[p]);
        printf(RULE);
    }
    barrier();
}

check_texts()
{
    int lines = 0;
    char *s;

    for (s = banner(); *s; s++)
        lines += *s == '\n';
    CHECK("the lines of the banner", lines == 2);
    CHECK("a rule", sizeof RULE == 42 && RULE[40] == '\n');
    CHECK("its words", strstr(banner(), "potential\n  on ") != NULL);
}
