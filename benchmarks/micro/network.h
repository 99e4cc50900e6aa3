/* SPDX-License-Identifier: BSD-3-Clause
 *
 * network.h - entering another process's network, for programs whose two sides are a parent and its
 * child.
 */
#ifndef MICRO_NETWORK_H
#define MICRO_NETWORK_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of that process; "0": stay. */
static inline void enter_network(const char *pid)
{
    char path[64];
    int fd;

    if (strcmp(pid, "0") == 0)
        return;
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) {
        perror(path);
        exit(1);
    }
    close(fd);
}

#endif
