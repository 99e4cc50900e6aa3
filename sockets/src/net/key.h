/* SPDX-License-Identifier: BSD-3-Clause
 *
 * key.h - the secret by which the two ends of a connection know each other across hosts.
 *
 * A file of 32 hexadecimal digits that nobody but its owner may read; both hosts have a copy.
 * unetsock and the library read it from UNETSOCK_KEY, or from ~/.unetsock-key.
 */
#ifndef SOCKETS_KEY_H
#define SOCKETS_KEY_H

#include <stddef.h>
#include <stdint.h>

enum { SOCKETS_KEY_DIGITS = 32 };

/* Where the key is, as the environment says.  0 or -ENAMETOOLONG; -ENOENT: it says nothing. */
int sockets_key_path(char *path, size_t size);

/* Read a key.  0; -errno of opening; -EPERM: others may read or write it, or it is another user's;
 * -EINVAL: it is no key. */
int sockets_key_read(const char *path, uint64_t key[2]);

/* Make a new one.  0 or -errno; -EEXIST: there is one. */
int sockets_key_make(const char *path);

#endif
