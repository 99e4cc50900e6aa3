// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>
#include "../check.h"

static char *named(char *const *list, const char *name)
{
    for (; *list; list++)
        if (strncmp(*list, name, strlen(name)) == 0 && (*list)[strlen(name)] == '=')
            return *list + strlen(name) + 1;
    return NULL;
}

int splitc_main(int argc, char **argv, char *environment[])
{
    static int environ = 7; /* a name as any other */

    EXPECT(argc, 1);
    EXPECT(argv[argc] == NULL, 1);
    EXPECT(named(environment, "PATH") == getenv("PATH"), 1);
    EXPECT(getenv("PATH") != NULL, 1);
    EXPECT(environ, 7);
    return failures;
}
