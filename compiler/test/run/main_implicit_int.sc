// flags: -std=gnu89
#include <split-c/split-c.h>

/* No type, no return: ends with 0. */
splitc_main(argc, argv)
char **argv;
{
    int garbage = argc + 41;
    if (argv[0] == 0 || garbage != 42)
        return 1;
}
