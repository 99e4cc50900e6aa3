// flags: -std=gnu89
// with: parts/known_handlers.sc
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Of a handler that is declared without parameters, the file that defines it knows what it takes,
 * whatever the calls here that cannot be meant. */
extern void takes_real();
extern int known_calls;
extern double known_sum;

int splitc_main(argc, argv)
    int argc;
    char **argv;
{
    am_handler chosen = takes_real;

    am_request_1_df((MYPROC + 1) % PROCS, chosen, 7, 2.5);
    if (argc > 1)
        am_request_0(MYPROC, takes_real);
    while (known_calls == 0)
        am_poll();
    EXPECT(known_sum == 9.5, 1);
    barrier();
    return failures;
}
