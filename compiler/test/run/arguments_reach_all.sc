#include <split-c/split-c.h>
#include <string.h>
#include "../check.h"

int name_length;

int splitc_main(int argc, char *argv[])
{
    EXPECT(argc, 1);
    EXPECT(argv[argc] == NULL, 1);
    name_length = strlen(argv[0]);
    barrier();
    EXPECT(*toglobal(PROCS - 1, &name_length), name_length);
    barrier();
    return failures;
}
