// flags: -w
#include <split-c/split-c.h>
#include <stdio.h>
#define PR(a) printf a
int splitc_main(void)
{
    int x = 0, *global g = 0;
    printf("usage:
	-n number\n"); x = missing_a;
    PR(("a
  b %d
", 3)); x = missing_b;
    PR(("one\n")); PR(("m
n")); missing_c;
    printf("%s", "it's
y" "w", missing_d); printf("two
words"); missing_e;
    char *s = "z
 z"; x = *(int *global)5.0;
    *g = missing_f;
}
