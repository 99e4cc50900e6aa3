// flags: -std=gnu89
#define _GNU_SOURCE
#include <split-c/split-c.h>
#include <unistd.h>
#include "../check.h"

splitc_main(argc, argv, envp) char **argv, **envp;
{
    EXPECT(envp == environ, 1);
    return failures;
}
