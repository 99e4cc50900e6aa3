/* SPDX-License-Identifier: BSD-3-Clause
 *
 * profile.h - what C code emitted by splitcc -fprofile-lines calls besides abi.h.
 *
 * Each access and each call of the library has a site, which counts.
 */
#ifndef SPLITC_PROFILE_H
#define SPLITC_PROFILE_H

#include <split-c/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct splitc_site {
    const char *file;
    int line;
    const char *what; /* "read", "put", ..., or the function */
    struct splitc_site *next;

    splitc_size local, remote; /* accesses, by where the object is */
    splitc_size bytes;         /* of the remote ones */
    splitc_size calls;
    splitc_size waits; /* and what they took */
    double waited;
};

/* The last site that the program has passed: what it waits in. */
extern struct splitc_site *splitc_site;

/* Called before the program runs, with the last of a list. */
void splitc_register_sites(struct splitc_site *last);

/* An access of n bytes at g, or at some offset from g: returns g. */
SPLITC_INLINE splitc_ptr splitc_profile_access(splitc_ptr g, splitc_size n,
                                               struct splitc_site *site)
{
    if (splitc_rank(g) == splitc_job.myproc) {
        site->local++;
    } else {
        site->remote++;
        site->bytes += n;
    }
    splitc_site = site;
    return g;
}

SPLITC_INLINE void splitc_profile_call(struct splitc_site *site)
{
    site->calls++;
    splitc_site = site;
}

#ifdef __cplusplus
}
#endif
#endif
