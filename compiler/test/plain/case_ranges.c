#include <stdio.h>

static int kind(int c)
{
    switch (c) {
    case 'a' ... 'z': return 1;
    case '0' ... '9': case '_': return 2;
    case -10 ... -1: return 3;
    case 1000: -1; case 1001:+1; return c ? 4 :-4;
    default: break;
    }
    return 0;
}

int main(void)
{
    int i;
    for (i = -12; i < 130; i++)
        printf("%d", kind(i));
    printf("%d\n", kind(1001));
    switch (i) if (0) { case 130: puts("inside"); }
    switch (i)
    case 130: puts("no braces");
    /* Duff */
    int n = 11, to = 0, rounds = (n + 3) / 4;
    switch (n % 4) {
    case 0: do { to++;
    case 3:      to++;
    case 2:      to++;
    case 1:      to++;
            } while (--rounds > 0);
    }
    return to;
}
