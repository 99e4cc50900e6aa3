/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <time.h>

double splitc_get_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
