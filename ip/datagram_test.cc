// SPDX-License-Identifier: BSD-3-Clause
//
// UDP between two processes.
#include "world.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <vector>

namespace {

ip_socket *datagrams(Node &node)
{
    ip_socket *s = nullptr;

    need(ip_socket_open(node.stack, SOCK_DGRAM, &s) == 0, "ip_socket");
    return s;
}

void answer(Node &node)
{
    ip_socket *s = datagrams(node);
    std::vector<uint8_t> bytes(65536);

    need(ip_bind(s, 0) == 0, "ip_bind");
    node.shared->port = ip_port(s);
    while (!node.shared->done) {
        struct sockaddr_in from;
        const ssize_t n = ip_recvfrom(s, bytes.data(), bytes.size(), &from, 5);

        need(n >= 0 || n == -ETIMEDOUT, "ip_recvfrom");
        if (n >= 0)
            need(ip_sendto(s, bytes.data(), static_cast<size_t>(n), &from, -1) == n, "ip_sendto");
    }
}

// Datagrams of random sizes, whole or lost: returns by `shared->number` how many came back.
void ask(Node &node, unsigned count, uint32_t longest, bool all)
{
    ip_socket *s = datagrams(node);
    std::vector<uint8_t> bytes(65536);
    Random random{5};
    unsigned back = 0;

    while (node.shared->port == 0)
        ip_wait(node.stack, 1);
    const struct sockaddr_in to = node.peer(static_cast<in_port_t>(node.shared->port));
    need(ip_sendto(s, "x", 1, nullptr, 0) == -EDESTADDRREQ, "no destination");
    need(ip_sendto(s, bytes.data(), 65508, &to, 0) == -EMSGSIZE, "too long");
    need(ip_connect(s, &to, 0) == 0, "ip_connect");
    for (unsigned i = 0; i < count; i++) {
        const size_t length = random.below(longest + 1);
        fill(bytes.data(), length, i);
        need(ip_sendto(s, bytes.data(), length, nullptr, -1) == static_cast<ssize_t>(length),
             "ip_sendto");
        const ssize_t n = ip_recvfrom(s, bytes.data(), bytes.size(), nullptr, all ? 5000 : 20);
        if (!all && n < 0)
            continue;
        need(n == static_cast<ssize_t>(length), "another length: " + std::to_string(n));
        need(matches(bytes.data(), length, i), "other bytes");
        back++;
    }
    node.shared->number = back;
    node.shared->done = 1;
    need(all || back > count / 2, "few came back");
}

} // namespace

TEST_CASE("Datagrams come back over each backend, in fragments where they are long")
{
    const std::string backend = EACH_BACKEND;
    if (const std::string why = missing(backend); !why.empty()) {
        WARN("left out: " << why);
        return;
    }
    run_both({backend}, answer, [](Node &node) { ask(node, 500, 9000, true); });
}

TEST_CASE("An MTU beyond Ethernet's carries datagrams whole, in several buffers")
{
    run_both({"shm", "", 9000}, answer, [](Node &node) {
        need(ip_mtu(node.stack) == 9000, "ip_mtu");
        ask(node, 300, 8972, true);
        need(ip_stats(node.stack)->sent == 300, "fragments");
    });
}

TEST_CASE("Datagrams are lost whole")
{
    run_both({"udp", "loss=0.05,seed=9"}, answer, [](Node &node) { ask(node, 150, 1400, false); });
}

TEST_CASE("A socket whose program does not read keeps a limited number of datagrams")
{
    run_both(
        {},
        [](Node &node) {
            ip_socket *s = datagrams(node);
            char bytes[64];
            unsigned there = 0;

            need(ip_bind(s, 0) == 0, "ip_bind");
            node.shared->port = ip_port(s);
            while (ip_stats(node.stack)->overruns < 44)
                ip_wait(node.stack, 1);
            while (ip_recvfrom(s, bytes, sizeof bytes, nullptr, 0) == 64)
                there++;
            need(there == 256, std::to_string(there) + " datagrams");
            node.shared->done = 1;
        },
        [](Node &node) {
            ip_socket *s = datagrams(node);
            char bytes[64] = {};

            while (node.shared->port == 0)
                ip_wait(node.stack, 1);
            const struct sockaddr_in to = node.peer(static_cast<in_port_t>(node.shared->port));
            for (int i = 0; i < 300; i++)
                need(ip_sendto(s, bytes, sizeof bytes, &to, -1) == 64, "ip_sendto");
            while (!node.shared->done)
                ip_wait(node.stack, 1);
        });
}
