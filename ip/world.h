// SPDX-License-Identifier: BSD-3-Clause
//
// world.h - two processes with a stack each, joined by a channel.
#ifndef IP_WORLD_H
#define IP_WORLD_H

#include <atomic>
#include <functional>
#include <ip/ip.h>
#include <string>
#include <unet/unet_chaos.h>

// The backends that whole streams and datagrams go over; guests of tests/kernel have another.
#ifndef IP_BACKENDS
#define IP_BACKENDS "shm", "udp", "eth"
#endif
#define EACH_BACKEND GENERATE(as<std::string>{}, IP_BACKENDS)

// How the two are joined.
struct Way {
    std::string backend = "shm";
    std::string chaos = ""; // as unet_chaos_parse reads it
    uint32_t mtu = 0;
    uint32_t segment = 0;
    uint32_t timer_ms = 0;
};

// What both processes see.
struct Shared {
    struct unet_address address[2];
    std::atomic<uint32_t> ready[2];
    std::atomic<uint32_t> port, done, number;
};

// In one of the processes: endpoint 0 has 10.0.0.1 and endpoint 1 has 10.0.0.2.
class Node {
public:
    Node(const Way &way, Shared *shared, unsigned me, bool with_stack = true);
    ~Node();
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;

    struct sockaddr_in peer(in_port_t port) const;
    struct sockaddr_in at(const char *address, in_port_t port) const;

    struct unet_endpoint *ep = nullptr;
    struct ip_stack *stack = nullptr;
    uint16_t channel = 0;
    Shared *shared;

private:
    unsigned me_;
};

// Why endpoints of that backend cannot be had here; "" if they can.
std::string missing(const std::string &backend);

// Runs each body in a process of its own; fails the test with what went wrong in one, which
// is what it throws by `need`.
void run_both(const Way &way, const std::function<void(Node &)> &first,
              const std::function<void(Node &)> &second, int seconds = 40,
              bool second_has_stack = true);

void need(bool condition, const std::string &what);

// The test's bytes: byte i of a stream, the same in both processes.
void fill(uint8_t *bytes, size_t length, uint64_t from);
bool matches(const uint8_t *bytes, size_t length, uint64_t from);

// Random numbers with a seed.
struct Random {
    uint64_t state;
    uint32_t below(uint32_t bound);
};

#endif
