/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kernel.c - the kernel's TCP and UDP.  Who receives spins, as the other ways do: on a quiet
 * machine it takes longer to wake a process than to bring it what it waits for.
 */
#include "ip_bench.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int fd;

static struct in_addr own_address(int socket)
{
    const char *interface = getenv("UNET_INTERFACE");
    struct ifreq request = {0};

    if (!interface)
        return (struct in_addr){htonl(INADDR_LOOPBACK)};
    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    bench_need(ioctl(socket, SIOCGIFADDR, &request) == 0, "the interface's address");
    return ((struct sockaddr_in *)(void *)&request.ifr_addr)->sin_addr;
}

/* A socket at a free port, which the other process is told. */
static int bound_socket(int type, struct sockaddr_in *at)
{
    socklen_t length = sizeof *at;
    int made = socket(AF_INET, type, 0);

    bench_need(made >= 0, "the socket");
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = own_address(made)};
    bench_need(bind(made, (void *)at, length) == 0 && getsockname(made, (void *)at, &length) == 0,
               "binding");
    return made;
}

static void kernel_tcp_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    const int one = 1;

    (void)backend;
    fd = bound_socket(SOCK_STREAM, &meeting->at[me]);
    if (me == 0) {
        bench_await(&meeting->listening);
        bench_need(connect(fd, (void *)&meeting->at[1], sizeof meeting->at[1]) == 0, "connecting");
    } else {
        const int listener = fd;

        bench_need(listen(listener, 1) == 0, "listening");
        bench_raise(&meeting->listening);
        fd = accept(listener, NULL, NULL);
        bench_need(fd >= 0, "accepting");
        close(listener);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void kernel_send(size_t length, unsigned times)
{
    while (times-- > 0)
        bench_need(send(fd, bench_buffer, length, MSG_NOSIGNAL) == (ssize_t)length, "sending");
}

/* As recv, but it looks again and again. */
static ssize_t spin_recv(size_t room)
{
    struct bench_patience patience = {0};
    ssize_t n;

    while ((n = recv(fd, bench_buffer, room, MSG_DONTWAIT)) < 0) {
        bench_need(errno == EAGAIN, "receiving");
        bench_rest(&patience, &unet_rest_network);
    }
    return n;
}

static void kernel_tcp_receive(size_t length)
{
    while (length > 0) {
        const ssize_t n = spin_recv(length < 65536 ? length : 65536);

        if (n == 0)
            _exit(1); /* the other process has ended */
        length -= (size_t)n;
    }
}

static void kernel_udp_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    const int room = 64 * 2 * BENCH_DATAGRAM_MAX;

    (void)backend;
    fd = bound_socket(SOCK_DGRAM, &meeting->at[me]);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    bench_raise(&meeting->ready[me]);
    bench_await(&meeting->ready[!me]);
    bench_need(connect(fd, (void *)&meeting->at[!me], sizeof meeting->at[!me]) == 0, "connecting");
}

static void kernel_udp_receive(size_t length)
{
    bench_need(spin_recv(BENCH_BYTES_MAX) == (ssize_t)length, "receiving a datagram");
}

const struct bench_way bench_kernel_tcp = {.name = "kernel_tcp",
                                           .open = kernel_tcp_open,
                                           .send = kernel_send,
                                           .receive = kernel_tcp_receive};
const struct bench_way bench_kernel_udp = {.name = "kernel_udp",
                                           .datagrams = true,
                                           .open = kernel_udp_open,
                                           .send = kernel_send,
                                           .receive = kernel_udp_receive};
