/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stack.c - TCP and UDP of libunet-ip.
 */
#include "ip_bench.h"

#include <arpa/inet.h>
#include <ip/ip.h>

static struct ip_socket *ip;

static struct sockaddr_in stack_address(unsigned who)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(BENCH_PORT),
                                .sin_addr.s_addr = htonl(0x0a000001 + who)};
}

static struct ip_stack *stack_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    const struct ip_config config = {.address = stack_address(me).sin_addr};
    const struct bench_link link = bench_link_open(backend, meeting, me);
    struct ip_stack *stack;

    bench_need(ip_open(link.ep, &config, &stack) == 0, "the stack");
    bench_need(ip_route_add(stack, stack_address(!me).sin_addr, 32, link.channel) == 0,
               "the route");
    return stack;
}

static void tcp_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct ip_stack *stack = stack_open(backend, meeting, me);
    const struct sockaddr_in there = stack_address(!me);
    struct ip_socket *listener;

    bench_need(ip_socket_open(stack, SOCK_STREAM, &ip) == 0, "the socket");
    if (me == 0) {
        bench_await(&meeting->listening);
        bench_need(ip_connect(ip, &there, BENCH_LIMIT_MS) == 0, "connecting");
        return;
    }
    listener = ip;
    bench_need(ip_bind(listener, htons(BENCH_PORT)) == 0 && ip_listen(listener, 1) == 0,
               "listening");
    bench_raise(&meeting->listening);
    bench_need(ip_accept(listener, &ip, NULL, BENCH_LIMIT_MS) == 0, "accepting");
}

static void tcp_send(size_t length, unsigned times)
{
    while (times-- > 0)
        bench_need(ip_send(ip, bench_buffer, length, BENCH_LIMIT_MS) == (ssize_t)length, "sending");
}

/* Where it lies, as messages are. */
static void tcp_receive(size_t length)
{
    while (length > 0) {
        const void *data;
        ssize_t n = ip_recv_peek(ip, &data, BENCH_LIMIT_MS);

        bench_need(n > 0, "receiving");
        n = (size_t)n < length ? n : (ssize_t)length;
        ip_recv_release(ip, (size_t)n);
        length -= (size_t)n;
    }
}

static void udp_open(const char *backend, struct bench_meeting *meeting, unsigned me)
{
    struct ip_stack *stack = stack_open(backend, meeting, me);
    const struct sockaddr_in there = stack_address(!me);

    bench_need(ip_socket_open(stack, SOCK_DGRAM, &ip) == 0 && ip_bind(ip, there.sin_port) == 0 &&
                   ip_connect(ip, &there, 0) == 0,
               "the socket");
}

static void udp_send(size_t length, unsigned times)
{
    while (times-- > 0)
        bench_need(ip_sendto(ip, bench_buffer, length, NULL, BENCH_LIMIT_MS) == (ssize_t)length,
                   "sending");
}

static void udp_receive(size_t length)
{
    bench_need(ip_recvfrom(ip, bench_buffer, BENCH_BYTES_MAX, NULL, BENCH_LIMIT_MS) ==
                   (ssize_t)length,
               "receiving what was lost");
}

const struct bench_way bench_tcp = {
    .name = "tcp", .open = tcp_open, .send = tcp_send, .receive = tcp_receive};
const struct bench_way bench_udp = {
    .name = "udp", .datagrams = true, .open = udp_open, .send = udp_send, .receive = udp_receive};
