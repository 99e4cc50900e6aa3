/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control.c - the TCP connection by which two ends meet, and on which a link falls back.
 */
#include "net/control.h"
#include "real/hidden.h"
#include "real/real.h"
#include "record/pause.h"
#include <errno.h>
#include <netinet/in.h>
#include <time.h>

enum {
    MEET_MS = 1500, /* for how long the accepting side listens */
    TRIES = 5,      /* of the connecting side, with longer and longer pauses */
    PAUSE_MS = 20,
};

static bool await(int fd, short events, int ms)
{
    struct pollfd p = {.fd = fd, .events = events};

    return sockets_real.poll(&p, 1, ms) == 1;
}

bool sockets_control_say(int fd, const void *what, size_t bytes)
{
    return sockets_real.send(fd, what, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

bool sockets_control_hear(int fd, void *what, size_t bytes)
{
    const uint64_t until = sockets_now_ns() + SOCKETS_CONTROL_MS * 1000000ull;
    size_t done = 0;

    while (done < bytes) {
        ssize_t n;

        if (sockets_now_ns() >= until || !await(fd, POLLIN, SOCKETS_CONTROL_MS))
            return false;
        n = sockets_real.recv(fd, (char *)what + done, bytes - done, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET)
        ((struct sockaddr_in *)address)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}

static int make_socket(const struct sockaddr_storage *address)
{
    return sockets_hidden_made(
        sockets_real.socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static socklen_t length_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* At the first port that is free. */
static bool bind_any(int fd, const struct sockaddr_storage *ours, const uint16_t *port)
{
    struct sockaddr_storage at = *ours;

    for (unsigned choice = 0; choice < SOCKETS_CONTROL_PORTS; choice++) {
        set_port(&at, port[choice]);
        if (bind(fd, (void *)&at, length_of(&at)) == 0)
            return true;
    }
    return false;
}

int sockets_control_accept(const struct sockaddr_storage *ours,
                           const uint16_t port[SOCKETS_CONTROL_PORTS], uint64_t greeting)
{
    const int listener = make_socket(ours), one = 1;
    int fd = -1;

    if (listener < 0)
        return -1;
    sockets_real.setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind_any(listener, ours, port) && listen(listener, 4) == 0 &&
        await(listener, POLLIN, MEET_MS))
        fd = sockets_hidden_made(
            sockets_real.accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    sockets_hidden_close_made(listener);
    if (fd >= 0)
        sockets_control_say(fd, &greeting, sizeof(greeting));
    return fd;
}

static int connect_once(const struct sockaddr_storage *theirs, uint16_t port)
{
    struct sockaddr_storage to = *theirs;
    const int fd = make_socket(&to);
    socklen_t length = sizeof(int);
    int error = 0;

    if (fd < 0)
        return -1;
    set_port(&to, port);
    if (sockets_real.connect(fd, (void *)&to, length_of(&to)) == 0)
        return fd;
    if (errno == EINPROGRESS && await(fd, POLLOUT, SOCKETS_CONTROL_MS) &&
        sockets_real.getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0)
        return fd;
    sockets_hidden_close_made(fd);
    return -1;
}

/* The other end, who greets, and not somebody else's server at that port. */
static bool is_greeted(int fd, uint64_t greeting)
{
    uint64_t heard;

    return sockets_control_hear(fd, &heard, sizeof(heard)) && heard == greeting;
}

int sockets_control_connect(const struct sockaddr_storage *theirs,
                            const uint16_t port[SOCKETS_CONTROL_PORTS], uint64_t greeting)
{
    for (int i = 0; i < TRIES; i++) {
        const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000l << i};

        for (unsigned choice = 0; choice < SOCKETS_CONTROL_PORTS; choice++) {
            const int fd = connect_once(theirs, port[choice]);

            if (fd >= 0 && is_greeted(fd, greeting))
                return fd;
            if (fd >= 0)
                sockets_hidden_close_made(fd);
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}
