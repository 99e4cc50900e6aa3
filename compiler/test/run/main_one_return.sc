#include <split-c/split-c.h>

int splitc_main(int argc, char **argv)
{
    if (argc != 1)
        return 2;
    barrier();
}
