/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endless.sc FOLDER - exchanges stores for ever, and says in FOLDER when it has
 * begun: what the tests kill.
 */
#include <fcntl.h>
#include <split-c/split-c.h>
#include <stdio.h>
#include <unistd.h>

static long counter[PROCS]::;

static void say_ready(const char *folder)
{
    char name[4096];

    snprintf(name, sizeof name, "%s/ready.%d", folder, MYPROC);
    close(open(name, O_CREAT | O_WRONLY, 0600));
}

int splitc_main(int argc, char *argv[])
{
    if (argc != 2)
        return 2;
    for (long i = 0;; i++) {
        counter[(MYPROC + 1) % PROCS] :- i;
        all_store_sync();
        if (i == 0)
            say_ready(argv[1]);
    }
}
