/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16 };

_Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static void enter(int pid)
{
    char path[64];
    int fd;

    if (pid == 0)
        return;
    snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        die("stream: setns");
    close(fd);
}

static struct sockaddr_in address_here(const char *interface)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in in;
    struct ifreq request = {0};

    strcpy(request.ifr_name, interface);
    if (ioctl(fd, SIOCGIFADDR, &request) < 0)
        die("stream: no address at the interface");
    close(fd);
    memcpy(&in, &request.ifr_addr, sizeof(in));
    in.sin_port = 0;
    return in;
}

/* An address whose port the kernel chooses or, of AF_UNIX, the whole name. */
static void choose_address(struct meeting *meeting, const char *where)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char interface[IFNAMSIZ];
    int there;

    if (strcmp(where, "unix") == 0) {
        meeting->address.ss_family = AF_UNIX;
        meeting->length = sizeof(sa_family_t);
        return;
    }
    if (strcmp(where, "tcp") != 0) {
        if (sscanf(where, "%15[^,],%d,%d", interface, &meeting->from, &there) != 3) {
            errno = EINVAL;
            die("stream: neither tcp, unix nor INTERFACE,PID,PID");
        }
        enter(there);
        in = address_here(interface);
    }
    memcpy(&meeting->address, &in, sizeof(in));
    meeting->length = sizeof(in);
}

void meeting_listen(struct meeting *meeting, const char *where)
{
    memset(meeting, 0, sizeof(*meeting));
    choose_address(meeting, where);
    meeting->listener = socket(meeting->address.ss_family, SOCK_STREAM, 0);
    if (meeting->listener < 0 ||
        bind(meeting->listener, (void *)&meeting->address, meeting->length) < 0 ||
        listen(meeting->listener, BACKLOG) < 0)
        die("stream: listen");
    meeting->length = sizeof(meeting->address);
    if (getsockname(meeting->listener, (void *)&meeting->address, &meeting->length) < 0)
        die("stream: getsockname");
}

void meeting_leave(struct meeting *meeting)
{
    close(meeting->listener);
    meeting->listener = -1;
    enter(meeting->from);
}

static int ready(const struct meeting *meeting, int fd, int delays)
{
    const int one = 1;

    if (!delays && meeting->address.ss_family == AF_INET)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

int meeting_accept(const struct meeting *meeting, int delays)
{
    const int fd = accept(meeting->listener, NULL, NULL);

    if (fd < 0)
        die("stream: accept");
    return ready(meeting, fd, delays);
}

int meeting_connect(const struct meeting *meeting, int delays)
{
    const int fd = socket(meeting->address.ss_family, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (const void *)&meeting->address, meeting->length) < 0)
        die("stream: connect");
    return ready(meeting, fd, delays);
}
