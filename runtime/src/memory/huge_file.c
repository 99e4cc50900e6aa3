/* SPDX-License-Identifier: BSD-3-Clause
 *
 * huge_file.c - an unnamed file whose memory may come in huge pages.
 *
 * Whether a memfd gets huge pages the administrator decides, and by default it does not.  A tmpfs
 * has a mount option for them, and in a user namespace any user may make a tmpfs.  It is mounted
 * nowhere: it has one file without a name, and ends when that is closed.
 */
#define _GNU_SOURCE /* clone, O_TMPFILE */
#include "huge_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_STACK 32768 /* bytes */

/* ---- a tmpfs ---------------------------------------------------------------------- */

static bool tmpfs_configure(int fs)
{
    return fsconfig(fs, FSCONFIG_SET_STRING, "huge", "advise", 0) == 0 &&
           fsconfig(fs, FSCONFIG_SET_STRING, "size", "0", 0) == 0 && /* without a limit */
           fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
}

static int tmpfs_make(void)
{
    int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
    int mount;

    if (fs < 0)
        return -errno;
    mount = tmpfs_configure(fs) ? fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
                                : -1;
    if (mount < 0)
        mount = -errno;
    close(fs);
    return mount;
}

static int tmpfs_make_file(void)
{
    int mount = tmpfs_make();
    int fd;

    if (mount < 0)
        return mount;
    fd = openat(mount, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        fd = -errno;
    close(mount);
    return fd;
}

/* ---- in a user namespace ------------------------------------------------------------- */

/* Arguments and result of the helper. */
struct helper {
    char uid_map[32], gid_map[32];
    int result;
};

static bool write_text(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/* Runs in a process that shares memory and descriptors with its parent, which waits. */
static int helper_run(void *argument)
{
    struct helper *h = argument;

    /* A file needs an owner that the namespace knows. */
    if (write_text("/proc/self/uid_map", h->uid_map) &&
        write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/gid_map", h->gid_map))
        h->result = tmpfs_make_file();
    return 0;
}

static int tmpfs_make_file_in_namespace(void)
{
    const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS;
    char stack[HELPER_STACK] __attribute__((aligned(16)));
    struct helper h = {.result = -EPERM};
    sigset_t all, before;
    int helper;

    snprintf(h.uid_map, sizeof h.uid_map, "%u %u 1", geteuid(), geteuid());
    snprintf(h.gid_map, sizeof h.gid_map, "%u %u 1", getegid(), getegid());
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* no handler of the program runs in the helper */
    helper = clone(helper_run, stack + sizeof stack, flags, &h);
    if (helper < 0)
        h.result = -errno;
    else
        while (waitpid(helper, NULL, __WCLONE) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return h.result;
}

/* Valgrind ends a program that calls clone. */
static bool in_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded && strstr(preloaded, "/vgpreload_");
}

int splitc_huge_file(void)
{
    int fd = in_valgrind() ? -ENOSYS : tmpfs_make_file();

    return fd == -EPERM ? tmpfs_make_file_in_namespace() : fd;
}
