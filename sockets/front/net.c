/* SPDX-License-Identifier: BSD-3-Clause
 *
 * net.c - what the program needs to reach other hosts: the network, and the key.
 */
#include "front.h"
#include "net/key.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unet/unet.h>

static const char *const backends[] = {"udp", "eth", "fe"};

static int check_backend(const char *name)
{
    for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++)
        if (strcmp(name, backends[i]) == 0)
            return 0;
    fprintf(stderr, "unetsock: --net cannot use '%s'; it takes udp, eth or fe\n", name);
    return -EINVAL;
}

static int find_key(char *path, size_t size)
{
    const int error = sockets_key_path(path, size);

    if (error < 0)
        fprintf(stderr, "unetsock: no place for a key: set UNETSOCK_KEY to the name of its file\n");
    return error;
}

static const char *remedy_of(int error)
{
    return error == -ENOENT  ? "is not there; make it with 'unetsock --make-key' on one host, and "
                               "copy it to the others"
           : error == -EPERM ? "can be read by others, or is another user's; chmod 600 it"
           : error == -EINVAL
               ? "is no key (32 hexadecimal digits); make one with 'unetsock --make-key'"
               : NULL;
}

static int check_key(void)
{
    char path[4096];
    uint64_t key[2];
    int error = find_key(path, sizeof(path));

    if (error < 0)
        return error;
    error = sockets_key_read(path, key);
    if (error < 0 && remedy_of(error))
        fprintf(stderr, "unetsock: the key '%s' %s\n", path, remedy_of(error));
    else if (error < 0)
        fprintf(stderr, "unetsock: cannot read the key '%s': %s\n", path, strerror(-error));
    return error;
}

/* The program goes on without it. */
static void check_network(const char *name)
{
    const struct unet_ops *backend = unet_backend(name);
    char network[UNET_NETWORK_MAX];
    const int error = backend ? unet_probe(backend, network) : -ENOSYS;
    const char *remedy = backend && error < 0 ? unet_remedy(backend, error) : "";

    if (error < 0)
        fprintf(stderr,
                "unetsock: the network '%s' cannot be opened at UNET_INTERFACE=%s: %s%s%s; "
                "connections to other hosts stay with TCP\n",
                name, getenv("UNET_INTERFACE"), strerror(-error), *remedy ? "; " : "", remedy);
}

int front_set_net(const char *backend)
{
    int error = check_backend(backend);

    if (error == 0)
        error = check_key();
    if (error < 0)
        return error;
    if (setenv("UNETSOCK_NET", backend, 1) < 0 || setenv("UNET_INTERFACE", "auto", 0) < 0)
        return -errno;
    check_network(backend);
    return 0;
}

int front_make_key(void)
{
    char path[4096];
    int error = find_key(path, sizeof(path));

    if (error < 0)
        return 2;
    error = sockets_key_make(path);
    if (error < 0) {
        fprintf(stderr, "unetsock: cannot make the key '%s': %s%s\n", path, strerror(-error),
                error == -EEXIST ? "; copy that one to the other hosts, or remove it first" : "");
        return 1;
    }
    printf("%s\n", path);
    return 0;
}
