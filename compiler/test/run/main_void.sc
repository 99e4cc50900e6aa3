#include <split-c/split-c.h>

void splitc_main(int argc, char *argv[])
{
    if (argc != 1 || argv[1])
        splitc_exit(1);
}
