/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ways.c - U-Net messages, TCP and UDP over them, and the kernel's TCP.
 */
#include "ip_bench.h"

#include <arpa/inet.h>
#include <ip/ip.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unet/unet_rest.h>
#include <unistd.h>

enum { PORT = 7000, SECONDS_MS = 5000 };

static void wait_for(const uint32_t *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void raise_flag(uint32_t *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

/* ---- U-Net messages ------------------------------------------------------ */

/* No more messages are on their way than the receiver has room for: it returns a credit, in an
 * inline message, for every few. */
enum { MESSAGE = 1500, BUFFER = 1536, SLOTS = 128, WINDOW = 128, CREDIT = 32, IS_CREDIT = 1 };

static struct unet_endpoint *ep;
static uint16_t channel;
static uint32_t ticket[SLOTS], sent, credits = WINDOW, owed, unread;

static void endpoint_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct unet_config config = {0};

    ip_endpoint_config(&config);
    bench_need(unet_backend(backend) && unet_open(unet_backend(backend), &config, &ep) == 0,
               "the endpoint");
    unet_address(ep, &meeting->endpoint[me]);
    raise_flag(&meeting->ready[me]);
    wait_for(&meeting->ready[!me]);
    bench_need(unet_connect(ep, &meeting->endpoint[!me], 77, &channel) == 0, "the channel");
    while (unet_channel_state(ep, channel) == UNET_CONNECTING)
        unet_progress(ep);
}

static void unet_way_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    endpoint_open(backend, meeting, me);
    for (uint32_t i = 0; i < 2 * WINDOW; i++)
        bench_need(unet_free_put(ep, (SLOTS + i) * BUFFER, BUFFER) == 0, "a buffer");
}

static void unet_take(const struct unet_desc *desc)
{
    bench_need(desc->kind == UNET_PIECES || desc->kind == UNET_INLINE, "a message");
    if (desc->user == IS_CREDIT) {
        credits += CREDIT;
        return;
    }
    unread += desc->length;
    for (unsigned i = 0; desc->kind == UNET_PIECES && i < desc->pieces; i++)
        unet_free_put(ep, desc->piece[i].offset, BUFFER);
    owed++;
}

/* The policy of waiting is that of the stack, but that it never sleeps. */
static void unet_look(uint32_t *looks)
{
    const struct unet_rest_policy *policy =
        ep->ops->network ? &unet_rest_network : &unet_rest_memory;
    const struct unet_desc *desc;
    uint8_t nothing = 0;

    unet_progress(ep);
    while ((desc = unet_rx_peek(ep))) {
        unet_take(desc);
        unet_rx_release(ep);
        *looks = 0;
    }
    while (owed >= CREDIT &&
           unet_send_inline(ep, channel, IS_CREDIT, &nothing, sizeof nothing) == 0)
        owed -= CREDIT;
    unet_rest_awake(policy, ++*looks);
}

static void unet_way_send(size_t length)
{
    uint32_t looks = 0;

    while (length > 0) {
        const uint32_t part = length < MESSAGE ? (uint32_t)length : MESSAGE;
        const uint32_t slot = sent % SLOTS;
        const struct unet_piece piece = {slot * BUFFER, part};
        const bool more = length > part && credits > 1 && sent % 16 != 15;
        int result;

        if (credits == 0 || (sent >= SLOTS && !unet_sent(ep, ticket[slot]))) {
            unet_look(&looks);
            continue;
        }
        memcpy(ep->segment + piece.offset, bench_buffer, part);
        if (part <= UNET_INLINE_MAX) {
            result = unet_send_inline(ep, channel, 0, ep->segment + piece.offset, part);
            ticket[slot] = ticket[(sent + SLOTS - 1) % SLOTS];
        } else {
            result = more ? unet_send_more(ep, channel, 0, &piece, 1, &ticket[slot])
                          : unet_send(ep, channel, 0, &piece, 1, &ticket[slot]);
        }
        if (result < 0) {
            unet_look(&looks);
            continue;
        }
        sent++;
        credits--;
        length -= part;
    }
}

static void unet_way_receive(size_t length)
{
    uint32_t looks = 0;

    while (unread < length) {
        unet_look(&looks);
        bench_need(looks < 100u * 1000 * 1000, "receiving: a message was lost, so this run");
    }
    unread -= (uint32_t)length;
}

/* ---- TCP and UDP over it ------------------------------------------------- */

static struct ip_socket *ip;
static struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = 0};

static struct ip_stack *stack_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct ip_config config = {.address.s_addr = htonl(0x0a000001 + me)};
    struct ip_stack *stack;

    endpoint_open(backend, meeting, me);
    there.sin_addr.s_addr = htonl(0x0a000001 + !me);
    there.sin_port = htons(PORT);
    bench_need(ip_open(ep, &config, &stack) == 0, "the stack");
    bench_need(ip_route_add(stack, there.sin_addr, 32, channel) == 0, "the route");
    return stack;
}

static void tcp_way_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct ip_stack *stack = stack_open(backend, meeting, me);
    struct ip_socket *listener;

    bench_need(ip_socket_open(stack, SOCK_STREAM, &ip) == 0, "the socket");
    if (me == 0) {
        wait_for(&meeting->listening);
        bench_need(ip_connect(ip, &there, SECONDS_MS) == 0, "connecting");
        return;
    }
    listener = ip;
    bench_need(ip_bind(listener, htons(PORT)) == 0 && ip_listen(listener, 1) == 0, "listening");
    raise_flag(&meeting->listening);
    bench_need(ip_accept(listener, &ip, NULL, SECONDS_MS) == 0, "accepting");
}

static void tcp_way_send(size_t length)
{
    bench_need(ip_send(ip, bench_buffer, length, SECONDS_MS) == (ssize_t)length, "sending");
}

/* Where it lies, as messages are. */
static void tcp_way_receive(size_t length)
{
    while (length > 0) {
        const void *data;
        ssize_t n = ip_recv_peek(ip, &data, SECONDS_MS);

        bench_need(n > 0, "receiving");
        n = (size_t)n < length ? n : (ssize_t)length;
        ip_recv_release(ip, (size_t)n);
        length -= (size_t)n;
    }
}

static void udp_way_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct ip_stack *stack = stack_open(backend, meeting, me);

    bench_need(ip_socket_open(stack, SOCK_DGRAM, &ip) == 0 && ip_bind(ip, htons(PORT)) == 0 &&
                   ip_connect(ip, &there, 0) == 0,
               "the socket");
}

static void udp_way_send(size_t length)
{
    bench_need(ip_sendto(ip, bench_buffer, length, NULL, SECONDS_MS) == (ssize_t)length, "sending");
}

static void udp_way_receive(size_t length)
{
    bench_need(ip_recvfrom(ip, bench_buffer, BENCH_BYTES_MAX, NULL, SECONDS_MS) == (ssize_t)length,
               "receiving");
}

/* ---- the kernel's TCP ----------------------------------------------------- */

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

static void kernel_way_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    socklen_t length = sizeof meeting->at;
    int one = 1;

    (void)backend;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (me == 0) {
        wait_for(&meeting->listening);
        bench_need(connect(fd, (void *)&meeting->at, sizeof meeting->at) == 0, "connecting");
    } else {
        meeting->at.sin_family = AF_INET;
        meeting->at.sin_addr = own_address(fd);
        bench_need(bind(fd, (void *)&meeting->at, length) == 0 && listen(fd, 1) == 0 &&
                       getsockname(fd, (void *)&meeting->at, &length) == 0,
                   "listening");
        raise_flag(&meeting->listening);
        fd = accept(fd, NULL, NULL);
        bench_need(fd >= 0, "accepting");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void kernel_way_send(size_t length)
{
    bench_need(send(fd, bench_buffer, length, MSG_NOSIGNAL) == (ssize_t)length, "sending");
}

static void kernel_way_receive(size_t length)
{
    while (length > 0) {
        const ssize_t n = recv(fd, bench_buffer, length < 65536 ? length : 65536, 0);

        if (n <= 0)
            _exit(1); /* the other process has ended */
        length -= (size_t)n;
    }
}

const struct bench_way *bench_way(const char *name)
{
    static const struct bench_way ways[] = {
        {"unet", unet_way_open, unet_way_send, unet_way_receive},
        {"tcp", tcp_way_open, tcp_way_send, tcp_way_receive},
        {"udp", udp_way_open, udp_way_send, udp_way_receive},
        {"kernel", kernel_way_open, kernel_way_send, kernel_way_receive},
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return NULL;
}
