// SPDX-License-Identifier: BSD-3-Clause
//
// TCP between two processes.
#include "world.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

namespace {

constexpr in_port_t kAnyPort = 0;

ip_socket *stream(Node &node)
{
    ip_socket *s = nullptr;

    need(ip_socket_open(node.stack, SOCK_STREAM, &s) == 0, "ip_socket");
    return s;
}

// A listener, whose port the other process is told.
ip_socket *listen_at(Node &node, unsigned backlog = 8)
{
    ip_socket *s = stream(node);

    need(ip_bind(s, kAnyPort) == 0, "ip_bind");
    need(ip_listen(s, backlog) == 0, "ip_listen");
    node.shared->port = ip_port(s);
    return s;
}

ip_socket *accept_one(Node &node)
{
    ip_socket *listener = listen_at(node), *s = nullptr;

    need(ip_accept(listener, &s, nullptr, -1) == 0, "ip_accept");
    ip_socket_close(listener);
    return s;
}

in_port_t port_of_peer(Node &node)
{
    while (node.shared->port == 0)
        ip_wait(node.stack, 1);
    return static_cast<in_port_t>(node.shared->port);
}

ip_socket *connect_one(Node &node)
{
    ip_socket *s = stream(node);
    const struct sockaddr_in to = node.peer(port_of_peer(node));

    need(ip_connect(s, &to, 20000) == 0, "ip_connect");
    return s;
}

void answer(ip_socket *s)
{
    std::vector<uint8_t> bytes(70000);
    Random random{7};
    ssize_t n;

    while ((n = ip_recv(s, bytes.data(), 1 + random.below(70000), -1)) > 0)
        need(ip_send(s, bytes.data(), static_cast<size_t>(n), -1) == n, "the server's ip_send");
    need(n == 0, "the server's ip_recv");
}

// Everything sent in random sizes comes back byte for byte.
void check_echo(const Way &way, uint64_t total, int seconds = 40)
{
    run_both(
        way,
        [](Node &node) {
            ip_socket *s = accept_one(node);
            answer(s);
            ip_socket_close(s);
            need(ip_flush(node.stack, 30000) == 0, "ip_flush");
            node.shared->done = 1;
        },
        [=](Node &node) {
            ip_socket *s = connect_one(node);
            std::vector<uint8_t> bytes(100000);
            Random random{11};
            uint64_t sent = 0, back = 0;

            while (back < total) {
                if (sent < total) {
                    size_t length = 1 + random.below(random.below(4) ? 3000 : 100000);
                    length = length < total - sent ? length : total - sent;
                    fill(bytes.data(), length, sent);
                    const ssize_t n = ip_send(s, bytes.data(), length, 0);
                    need(n > 0 || n == -EAGAIN, "ip_send: " + std::to_string(n));
                    sent += n > 0 ? static_cast<uint64_t>(n) : 0;
                }
                const ssize_t n =
                    ip_recv(s, bytes.data(), 1 + random.below(100000), sent < total ? 0 : -1);
                need(n > 0 || n == -EAGAIN, "ip_recv: " + std::to_string(n));
                if (n > 0) {
                    need(matches(bytes.data(), static_cast<size_t>(n), back), "other bytes");
                    back += static_cast<uint64_t>(n);
                } else if (!(ip_ready(s) & IP_WRITABLE)) {
                    ip_wait(node.stack, 100);
                }
            }
            need(ip_shutdown(s) == 0, "ip_shutdown");
            need(ip_recv(s, bytes.data(), 1, -1) == 0, "no end");
            ip_socket_close(s);
            need(ip_flush(node.stack, 30000) == 0, "ip_flush");
            while (!node.shared->done)
                ip_wait(node.stack, 1);
        },
        seconds);
}

} // namespace

TEST_CASE("A stream comes back byte for byte over each backend")
{
    const std::string backend = EACH_BACKEND;
    if (const std::string why = missing(backend); !why.empty()) {
        WARN("left out: " << why);
        return;
    }
    check_echo({backend}, 8 << 20);
}

TEST_CASE("A stream comes back byte for byte over a network that loses")
{
    const auto *chaos = GENERATE("loss=0.01,seed=3", "loss=0.05,seed=4",
                                 "loss=0.01,dup=0.02,reorder=0.05,truncate=0.01,flip=0.02,seed=5");
    check_echo({"udp", chaos, 0, 0, 1}, 2 << 20, 55);
}

TEST_CASE("A stream comes back byte for byte over an Ethernet that loses")
{
    if (const std::string why = missing("eth"); !why.empty()) {
        WARN("left out: " << why);
        return;
    }
    check_echo({"eth", "loss=0.05,seed=6", 0, 0, 1}, 1 << 20, 55);
}

TEST_CASE("A hundred megabytes come back over a network that loses", "[long]")
{
    const auto *chaos = GENERATE("loss=0.01,seed=3", "loss=0.05,seed=4");
    check_echo({"udp", chaos, 0, 0, 1}, 100 << 20, 590);
}

TEST_CASE("Streams share a small segment")
{
    Way way;
    way.segment = 64 << 10;
    check_echo(way, 4 << 20);
}

TEST_CASE("Bytes are read where they lie in the segment")
{
    run_both(
        {},
        [](Node &node) {
            ip_socket *s = accept_one(node);
            const uint8_t *segment = node.ep->segment;
            uint64_t from = 0;
            const void *data;
            ssize_t n;

            while ((n = ip_recv_peek(s, &data, -1)) > 0) {
                const auto *bytes = static_cast<const uint8_t *>(data);
                const size_t part = n > 100 ? static_cast<size_t>(n) / 2 : static_cast<size_t>(n);

                need(bytes >= segment && bytes < segment + node.ep->config.segment_bytes, "a copy");
                need(matches(bytes, part, from), "other bytes");
                ip_recv_release(s, part);
                from += part;
            }
            need(n == 0 && from == 300000, "the end");
            need(ip_stats(node.stack)->copied == 0, "copies");
            ip_socket_close(s);
        },
        [](Node &node) {
            ip_socket *s = connect_one(node);
            std::vector<uint8_t> bytes(300000);

            fill(bytes.data(), bytes.size(), 0);
            need(ip_send(s, bytes.data(), bytes.size(), -1) == 300000, "ip_send");
            ip_socket_close(s);
            need(ip_flush(node.stack, 10000) == 0, "ip_flush");
        });
}

TEST_CASE("Who does not read one connection does not stop another")
{
    run_both(
        {"shm", "", 0, 64 << 10},
        [](Node &node) {
            ip_socket *listener = listen_at(node), *unread = nullptr, *read = nullptr;
            need(ip_accept(listener, &unread, nullptr, -1) == 0, "ip_accept");
            need(ip_accept(listener, &read, nullptr, -1) == 0, "ip_accept");
            answer(read);
            need(ip_ready(unread) & IP_READABLE, "nothing to read");
            need(ip_stats(node.stack)->copied > 0, "buffers did not run low");
            node.shared->done = 1;
        },
        [](Node &node) {
            ip_socket *unread = connect_one(node), *read = connect_one(node);
            std::vector<uint8_t> bytes(60000);

            fill(bytes.data(), bytes.size(), 0);
            need(ip_send(unread, bytes.data(), bytes.size(), 5000) == 60000, "ip_send");
            for (int i = 0; i < 20; i++) {
                need(ip_send(read, bytes.data(), 5000, 5000) == 5000, "ip_send");
                for (size_t back = 0; back < 5000;) {
                    const ssize_t n = ip_recv(read, bytes.data() + back, 5000 - back, 5000);
                    need(n > 0, "ip_recv");
                    back += static_cast<size_t>(n);
                }
            }
            need(ip_shutdown(read) == 0, "ip_shutdown");
            while (!node.shared->done)
                ip_wait(node.stack, 1);
        });
}

TEST_CASE("Nobody listens, nothing comes, and nobody is there")
{
    run_both(
        {},
        [](Node &node) {
            while (!node.shared->done)
                ip_wait(node.stack, 1);
        },
        [](Node &node) {
            struct sockaddr_in to = node.peer(htons(99));
            ip_socket *s = stream(node), *other = stream(node), *listener = listen_at(node);
            ip_socket *none = nullptr;
            char byte;

            need(ip_recv(s, &byte, 1, 0) == -ENOTCONN, "ip_recv of none");
            need(ip_send(s, "x", 1, 0) == -ENOTCONN, "ip_send of none");
            need(ip_connect(s, &to, 5000) == -ECONNREFUSED, "refused");
            need(ip_connect(s, &to, 5000) == -ECONNREFUSED, "refused again");
            for (const char *address :
                 {"10.0.0.2", "10.0.0.3", "127.0.0.1", "224.0.0.1", "0.0.0.0"}) {
                to = node.at(address, htons(99));
                need(ip_connect(other, &to, 0) == -EHOSTUNREACH, address);
            }
            need(ip_accept(listener, &none, nullptr, 0) == -EAGAIN, "accept");
            need(ip_accept(listener, &none, nullptr, 20) == -ETIMEDOUT, "accept in time");
            need(ip_accept(other, &none, nullptr, 0) == -EINVAL, "accept of none");
            need(ip_bind(other, ip_port(listener)) == -EADDRINUSE, "in use");
            need(ip_socket_open(node.stack, SOCK_RAW, &none) == -EPROTOTYPE, "raw");
            need(ip_listen(listener, 1) == -EINVAL, "listens already");
            need(ip_listen(other, 1) == -EINVAL, "not bound");
            ip_socket_close(s);
            node.shared->done = 1;
        });
}

TEST_CASE("Connections beyond the backlog are reset, and all end with the stack")
{
    run_both(
        {},
        [](Node &node) {
            ip_socket *listener = listen_at(node, 2);
            while (node.shared->done == 0)
                ip_wait(node.stack, 1);
            for (int i = 0; i < 2; i++) {
                ip_socket *s = nullptr;
                struct sockaddr_in peer;
                need(ip_accept(listener, &s, &peer, 0) == 0, "ip_accept");
                need(peer.sin_addr.s_addr == node.peer(0).sin_addr.s_addr, "the peer's address");
            }
            ip_socket *third = nullptr;
            need(ip_accept(listener, &third, nullptr, 0) == -EAGAIN, "a third one");
            ip_close(node.stack);
            node.stack = nullptr;
            while (node.shared->done == 1)
                unet_progress(node.ep);
        },
        [](Node &node) {
            ip_socket *s[3];
            char byte;

            for (ip_socket *&one : s)
                one = connect_one(node); // lwIP has shaken hands before it asks who accepts
            need(ip_recv(s[2], &byte, 1, 5000) == -ECONNRESET, "the third");
            node.shared->done = 1;
            need(ip_recv(s[0], &byte, 1, 5000) == -ECONNRESET, "the first");
            need(ip_send(s[0], "x", 1, 5000) == -ECONNRESET, "sending on it");
            need(ip_recv(s[1], &byte, 1, 5000) == -ECONNRESET, "the second");
            node.shared->done = 2;
        });
}

TEST_CASE("A peer whose process has died resets its connections")
{
    run_both(
        {},
        [](Node &node) {
            accept_one(node);
            while (node.shared->done == 0)
                ip_wait(node.stack, 1);
            _exit(0);
        },
        [](Node &node) {
            ip_socket *s = connect_one(node);
            char byte;

            node.shared->done = 1;
            need(ip_recv(s, &byte, 1, 10000) == -ECONNRESET, "no reset");
        });
}
