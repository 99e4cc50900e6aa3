/* SPDX-License-Identifier: BSD-3-Clause
 *
 * liar.c - runtime_check, but the memory that rank 1 offers to the others is not what it says:
 * CHECK_LIE=nonce, another process has taken its place; CHECK_LIE=owner, another user's is there;
 * CHECK_LIE=layout, its static objects are elsewhere.  Without a lie it is another program than
 * runtime_check.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "check.h"
#include "job/boot.h"
#include "memory/memory.h"

#include <dlfcn.h>
#include <unistd.h>

#define STRANGER 54321

static void forge_nonce(int fd)
{
    uint64_t nonce[2];

    if (pread(fd, nonce, sizeof nonce, 0) != sizeof nonce)
        abort();
    nonce[1] ^= 1;
    if (pwrite(fd, nonce, sizeof nonce, 0) != sizeof nonce)
        abort();
}

static const char *lie_of_rank_1(void)
{
    const char *rank = getenv("PMIX_RANK");

    return rank && strcmp(rank, "1") == 0 ? getenv("CHECK_LIE") : NULL;
}

static void lie(const char *about)
{
    const int fd = memory_object();

    if (fd < 0)
        abort();
    if (strcmp(about, "nonce") == 0)
        forge_nonce(fd);
    else if (strcmp(about, "owner") == 0 && fchown(fd, STRANGER, (gid_t)-1) < 0)
        abort();
}

/* Between what a rank tells and what the others make of it. */
int PMIx_Commit(void);
int PMIx_Commit(void)
{
    int (*commit)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PMIx_Commit");
    const char *about = lie_of_rank_1();

    if (about)
        lie(about);
    return commit();
}

/* The linker gives the runtime's calls of splitc_boot_tell to this (--wrap). */
void __real_splitc_boot_tell(const char *key, const void *bytes, size_t n);
void __wrap_splitc_boot_tell(const char *key, const void *bytes, size_t n);
void __wrap_splitc_boot_tell(const char *key, const void *bytes, size_t n)
{
    const char *about = lie_of_rank_1();
    struct splitc_offer offer;

    if (about && strcmp(about, "layout") == 0 && strcmp(key, "splitc.memory") == 0) {
        memcpy(&offer, bytes, sizeof offer);
        offer.memory.part[SPLITC_STATICS].size += 4096;
        bytes = &offer;
    }
    __real_splitc_boot_tell(key, bytes, n);
}
