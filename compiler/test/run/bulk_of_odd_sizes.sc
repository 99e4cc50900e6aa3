// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <string.h>
#include "../check.h"

enum { MOST = 70000 };
static char there[MOST], here[MOST];

static int differs(const char *a, int n, int seed)
{
    for (int i = 0; i < n; i++)
        if (a[i] != (char)(i * 7 + seed))
            return 1;
    return 0;
}

int splitc_main(void)
{
    static const int size[] = {0, 1, 3, 7, 8, 9, 24, 25, 63, 64, 65, 4095, 4097, MOST};
    int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS;

    for (int k = 0; k < 14; k++) {
        int n = size[k];

        memset(there, 0x55, MOST);
        for (int i = 0; i < n; i++)
            here[i] = i * 7 + MYPROC;
        barrier();
        bulk_write(toglobal(right, there), here, n);
        barrier();
        EXPECT(differs(there, n, left), 0);
        EXPECT(n == MOST || there[n] == 0x55, 1);
        bulk_read(here, toglobal(right, there), n);
        EXPECT(differs(here, n, MYPROC), 0);
        barrier();
        memset(there, 0, MOST);
        barrier();
        bulk_store(toglobal(right, there), here, n);
        store_sync(n);
        EXPECT(differs(there, n, left), 0);
        barrier();
    }
    return failures;
}
