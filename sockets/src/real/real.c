/* SPDX-License-Identifier: BSD-3-Clause
 *
 * real.c - libc's functions behind ours.
 */
#include "real/real.h"
#include <dlfcn.h>

struct sockets_real sockets_real;

void sockets_real_init(void)
{
#define SOCKETS_REAL_FIND(name) *(void **)&sockets_real.name = dlsym(RTLD_NEXT, #name);
    SOCKETS_REAL_FUNCTIONS(SOCKETS_REAL_FIND)
#undef SOCKETS_REAL_FIND
}
