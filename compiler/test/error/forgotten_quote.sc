// flags: -w
#include <split-c/split-c.h>
#include <stdio.h>
char *usage = "two
lines";
int splitc_main(void)
{
    printf("value %d\n, 3);
    barrier();
    printf("again %d\n", 4);
    printf("a %s\n", "b");
    return 0;
}
