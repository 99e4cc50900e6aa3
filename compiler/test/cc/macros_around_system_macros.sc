// flags: -std=gnu89
#include <split-c/split-c.h>
#include <stdio.h>

#define DIE() (fputs("x", stderr), quit(1))
#define EOFCHK(c) ((c) == EOF ? lost(c) : 0)
#define TELL(c) fprintf(stderr, "%d\n", told(c))
#define QUEUE(T, name) static T name##_items[8]; static int name##_head;

QUEUE(int, iq) // in QUEUE
QUEUE(double, dq) // in QUEUE

int g(int n, int c)
{
    if (n > 100) DIE(); // in DIE
    while ((c = getc(stdin)) != EOF) TELL(c); // in TELL
    EOFCHK(c); // in EOFCHK
    return c;
}
