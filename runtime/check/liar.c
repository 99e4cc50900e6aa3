/* SPDX-License-Identifier: BSD-3-Clause
 *
 * liar.c - runtime_check, but the memory that rank 1 offers to the others is not what it says:
 * CHECK_LIE=nonce, another process has taken its place; CHECK_LIE=owner, another user's is there.
 * Without a lie it is another program than runtime_check, with more static objects.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "check.h"

#include <dlfcn.h>
#include <unistd.h>

#define STRANGER 54321

char only_here[4 << 20];

static void forge_nonce(int fd)
{
    uint64_t nonce[2];

    if (pread(fd, nonce, sizeof nonce, 0) != sizeof nonce)
        abort();
    nonce[1] ^= 1;
    if (pwrite(fd, nonce, sizeof nonce, 0) != sizeof nonce)
        abort();
}

static void lie(const char *about)
{
    const int fd = memory_object();

    if (fd < 0)
        abort();
    if (strcmp(about, "nonce") == 0)
        forge_nonce(fd);
    else if (fchown(fd, STRANGER, (gid_t)-1) < 0)
        abort();
}

/* Between what a rank tells and what the others make of it. */
int PMIx_Commit(void);
int PMIx_Commit(void)
{
    int (*commit)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PMIx_Commit");
    const char *about = getenv("CHECK_LIE"), *rank = getenv("PMIX_RANK");

    if (about && rank && strcmp(rank, "1") == 0)
        lie(about);
    return commit();
}
