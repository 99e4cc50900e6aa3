/* SPDX-License-Identifier: BSD-3-Clause
 *
 * key.c - the secret by which the two ends of a connection know each other across hosts.
 */
#include "net/key.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int sockets_key_path(char *path, size_t size)
{
    const char *named = getenv("UNETSOCK_KEY"), *home = getenv("HOME");
    const int n = named && *named ? snprintf(path, size, "%s", named)
                  : home && *home ? snprintf(path, size, "%s/.unetsock-key", home)
                                  : -ENOENT;

    return n < 0 ? n : (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse(const char *text, ssize_t n, uint64_t key[2])
{
    uint64_t value[2] = {0, 0};

    if (n != SOCKETS_KEY_DIGITS && (n != SOCKETS_KEY_DIGITS + 1 || text[n - 1] != '\n'))
        return -EINVAL;
    for (int i = 0; i < SOCKETS_KEY_DIGITS; i++) {
        const int d = digit(text[i]);

        if (d < 0)
            return -EINVAL;
        value[i / 16] = value[i / 16] << 4 | (uint64_t)d;
    }
    key[0] = value[0];
    key[1] = value[1];
    return 0;
}

static int read_open(int fd, uint64_t key[2])
{
    char text[SOCKETS_KEY_DIGITS + 2];
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || (st.st_mode & 077) || (st.st_uid != geteuid() && st.st_uid != 0))
        return -EPERM;
    n = pread(fd, text, sizeof(text), 0);
    return n < 0 ? -errno : parse(text, n, key);
}

int sockets_key_read(const char *path, uint64_t key[2])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int error;

    if (fd < 0)
        return -errno;
    error = read_open(fd, key);
    close(fd);
    return error;
}

int sockets_key_make(const char *path)
{
    uint64_t key[2];
    char text[SOCKETS_KEY_DIGITS + 2];
    int fd, error = 0;

    if (getrandom(key, sizeof(key), 0) != sizeof(key))
        return -EIO;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    snprintf(text, sizeof(text), "%016llx%016llx\n", (unsigned long long)key[0],
             (unsigned long long)key[1]);
    if (write(fd, text, SOCKETS_KEY_DIGITS + 1) != SOCKETS_KEY_DIGITS + 1)
        error = -EIO;
    if (close(fd) < 0 && !error)
        error = -errno;
    if (error)
        unlink(path);
    return error;
}
