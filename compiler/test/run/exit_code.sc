// ranks: 1
#include <split-c/split-c.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
#include "../check.h"

// A job's code is that of splitc_main; arguments arrive unchanged.
int splitc_main(int argc, char *argv[])
{
    char self[4096], command[5000];
    int status;

    if (argc > 1)
        return argc == 4 && argv[1][0] == '4' && argv[2][0] == 0 && argv[3][1] == ' ' ? 42 : 3;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n] = 0;
    snprintf(command, sizeof command, "env -i '%s' 4 '' 'a b'", self);
    status = system(command);
    EXPECT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 42);
    return failures;
}
