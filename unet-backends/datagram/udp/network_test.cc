// SPDX-License-Identifier: BSD-3-Clause
//
// What the network says to udp, of others than those who are spoken to.
#include "conformance/process.h"
#include "datagram/udp/puppet.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Looks at what the network says of datagrams that were sent.
static std::atomic<int> error_looks; // by any thread

extern "C" ssize_t recvmsg(int fd, msghdr *message, int flags)
{
    if (flags & MSG_ERRQUEUE)
        error_looks++;
    return syscall(SYS_recvmsg, fd, message, flags);
}

namespace {

uint16_t port_of(const Endpoint &e)
{
    const struct unet_address address = e.address();
    uint16_t port;

    std::memcpy(&port, address.bytes + 2, sizeof port);
    return port;
}

// In a process and a network of its own, as its root.
void in_own_network(const std::function<bool()> &body)
{
    Board board;
    Child child([&] {
        if (!enter_network())
            return true;
        board.raise(0);
        return body();
    });

    CHECK(child.wait() == 0);
    if (!board.raised(0))
        std::puts("\nnot run: needs root, or user namespaces, and the command ip");
}

uint16_t checksum(const uint8_t *bytes, size_t length)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < length; i += 2)
        sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons(static_cast<uint16_t>(~sum));
}

// What a router says of a datagram from the endpoint to there; it has come when this returns.
void unreachable(const Endpoint &e, uint8_t code, uint32_t address, uint16_t port)
{
    std::array<uint8_t, sizeof(icmphdr) + sizeof(iphdr) + sizeof(udphdr)> bytes = {};
    icmphdr icmp = {};
    iphdr ip = {};
    udphdr udp = {};
    sockaddr_in to = {};
    const int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);

    ip.version = 4;
    ip.ihl = 5;
    ip.protocol = IPPROTO_UDP;
    ip.tot_len = htons(sizeof ip + sizeof udp);
    ip.saddr = htonl(INADDR_LOOPBACK);
    ip.daddr = htonl(address);
    udp.source = port_of(e);
    udp.dest = port;
    udp.len = htons(sizeof udp);
    icmp.type = ICMP_DEST_UNREACH;
    icmp.code = code;
    std::memcpy(bytes.data() + sizeof icmp, &ip, sizeof ip);
    std::memcpy(bytes.data() + sizeof icmp + sizeof ip, &udp, sizeof udp);
    std::memcpy(bytes.data(), &icmp, sizeof icmp);
    icmp.checksum = checksum(bytes.data(), bytes.size());
    std::memcpy(bytes.data(), &icmp, sizeof icmp);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr *>(&to),
                   sizeof to) == static_cast<ssize_t>(bytes.size()));
    close(fd);
    pollfd errors = {unet_fd(e), 0, 0};
    REQUIRE(poll(&errors, 1, 20000) == 1);
}

// Of a datagram to another machine.
void prohibit(const Endpoint &e)
{
    unreachable(e, ICMP_PKT_FILTERED, 0x0a010203, htons(9));
}

// That this network's machines have sent: what the kernel cuts counts as one.
long datagrams_sent()
{
    std::ifstream counts("/proc/self/net/snmp");
    std::string line;
    long in, no_port, errors, out = -1;

    while (out < 0 && std::getline(counts, line))
        std::sscanf(line.c_str(), "Udp: %ld %ld %ld %ld", &in, &no_port, &errors, &out);
    return out;
}

int sum(const std::map<uint64_t, int> &counts)
{
    int all = 0;

    for (const auto &[key, count] : counts)
        all += count;
    return all;
}

} // namespace

TEST_CASE("what the network says of one peer costs another nothing")
{
    in_own_network([] {
        Pair pair;
        const unet_piece piece = {0, 1000};
        long before = datagrams_sent();

        give_buffers(pair.b, 8, 1000);
        prohibit(pair.a);
        REQUIRE(unet_send(pair.a, pair.ab, 1, &piece, 1, nullptr) == 0);
        REQUIRE(datagrams_sent() - before == 1);
        prohibit(pair.a);
        REQUIRE(send_text(pair.a, pair.ab, "short", 2) == 0);
        REQUIRE(datagrams_sent() - before == 2);

        prohibit(pair.a);
        REQUIRE(unet_send_more(pair.a, pair.ab, 3, &piece, 1, nullptr) == 0);
        REQUIRE(unet_send(pair.a, pair.ab, 4, &piece, 1, nullptr) == 0);
        REQUIRE(datagrams_sent() - before == 3); // as one, to be cut
        for (uint32_t user = 1; user <= 4; user++)
            REQUIRE(await(pair.b, 1000).user == user);
        REQUIRE(unet_channel_state(pair.a, pair.ab) == UNET_OPEN);
        return true;
    });
}

TEST_CASE("a way that takes shorter datagrams than are cut for it leaves the others as they are")
{
    in_own_network([] {
        Endpoint a, near;
        REQUIRE(std::system("ip route add local 127.0.0.2 dev lo table local mtu lock 1300") == 0);
        setenv("UNET_INTERFACE", "127.0.0.2", 1);
        Endpoint far;
        const unet_piece piece = {0, 2000};
        uint16_t to_near, to_far, back;

        join(a, near, 1, to_near, back);
        join(a, far, 2, to_far, back);
        give_buffers(near, 4, 2000);
        give_buffers(far, 4, 2000);
        for (const uint16_t channel : {to_far, to_near}) {
            const long before = datagrams_sent();

            REQUIRE(unet_send_more(a, channel, 1, &piece, 1, nullptr) == 0);
            REQUIRE(unet_send(a, channel, 2, &piece, 1, nullptr) == 0);
            REQUIRE(datagrams_sent() - before == (channel == to_far ? 2 : 1));
            REQUIRE(await(channel == to_far ? far : near, 2000).user == 1);
            REQUIRE(await(channel == to_far ? far : near, 2000).user == 2);
        }
        return true;
    });
}

TEST_CASE("who was heard of is not asked whether he is alive, who was not is")
{
    Endpoint e;
    Puppet puppet(e);
    const uint16_t channel = puppet.join(e, 1);

    puppet.asked.clear();
    for (Deadline end(std::chrono::milliseconds(200)); !end.passed();) {
        puppet.speak();
        unet_channel_state(e, channel);
        while (take(e).kind != UNET_EMPTY) {
        }
        puppet.serve();
    }
    INFO("asked " << sum(puppet.asked) << " times while it spoke");
    CHECK(sum(puppet.asked) <= 1); // before it began
    puppet.asked.clear();
    CHECK(eventually([&] {
        unet_progress(e);
        puppet.serve();
        return sum(puppet.asked) > 0;
    }));
}

TEST_CASE("of many channels all are asked in their turn, so many a second")
{
    constexpr unsigned channels = 200, a_second = 1000, at_once = 64;
    unet_config config = {};
    config.channels = channels;
    Endpoint e(config);
    Puppet puppet(e);
    std::vector<uint16_t> channel(channels);

    for (unsigned i = 0; i < channels; i++)
        channel[i] = puppet.join(e, i);
    puppet.asked.clear();
    int most_looks = 0;
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(eventually([&] {
        error_looks = 0;
        e->ops->state(e, 0);
        most_looks = std::max(most_looks, error_looks.load());
        for (unsigned i = 0; i < channels; i += 7)
            unet_channel_state(e, channel[i]);
        puppet.serve();
        return puppet.asked.size() == channels && sum(puppet.asked) > 400;
    }));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double most = seconds.count() * a_second + channels + at_once;
    INFO(sum(puppet.asked) << " questions, at most " << most << " in " << seconds.count() << " s");
    CHECK(sum(puppet.asked) <= most);
    CHECK(most_looks <= 1); // for errors, in one for all channels
}

TEST_CASE("who opens anew to a channel that is open is asked for its past, not answered")
{
    Endpoint e;
    Puppet puppet(e);
    const uint16_t channel = puppet.join(e, 1);

    puppet.reopen();
    CHECK(eventually([&] {
        unet_progress(e);
        puppet.serve();
        return sum(puppet.asked) > 0;
    }));
    CHECK(puppet.answers == 0);
    CHECK(unet_channel_state(e, channel) == UNET_OPEN);
}

TEST_CASE("frames that are queued together make no datagram that would pass where they do not")
{
    Endpoint e;
    Puppet puppet(e);
    const uint16_t channel = puppet.join(e, 1);
    const uint32_t bytes = GENERATE(48, 200, 300, 512);
    const unet_piece piece = {0, bytes};
    constexpr size_t count = 30, most = 512 + sizeof(unet_frame);

    puppet.lengths.clear();
    for (size_t i = 1; i < count; i++)
        REQUIRE(unet_send_more(e, channel, 0, &piece, 1, nullptr) == 0);
    REQUIRE(unet_send(e, channel, 0, &piece, 1, nullptr) == 0);
    REQUIRE(eventually([&] {
        puppet.serve();
        return puppet.messages == count;
    }));
    const size_t longest = *std::max_element(puppet.lengths.begin(), puppet.lengths.end());
    INFO(count << " frames of " << bytes << " bytes: " << puppet.lengths.size() << " datagrams");
    CHECK(longest <= most);
}

TEST_CASE("who merely is said not to listen is not taken for dead")
{
    in_own_network([] {
        Endpoint e;
        Puppet puppet(e);
        const uint16_t channel = puppet.join(e, 1);

        // Once and idle, then for longer than a silent one would live.
        unreachable(e, ICMP_PORT_UNREACH, INADDR_LOOPBACK, puppet.port());
        REQUIRE(unet_channel_state(e, channel) == UNET_OPEN);
        REQUIRE(unet_wait(e, 0) == 0);
        REQUIRE(unet_channel_state(e, channel) == UNET_OPEN);
        for (Deadline end(std::chrono::milliseconds(1500)); !end.passed();) {
            puppet.speak();
            unreachable(e, ICMP_PORT_UNREACH, INADDR_LOOPBACK, puppet.port());
            REQUIRE(unet_channel_state(e, channel) == UNET_OPEN);
            while (take(e).kind != UNET_EMPTY) {
            }
        }
        return true;
    });
}

TEST_CASE("routers may cut what goes over IPv4, be it one datagram or many")
{
    in_own_network([] {
        Pair pair;
        const int fd = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_UDP);
        const unet_piece piece = {0, 1000};
        uint8_t packet[65536];
        int packets = 0;

        REQUIRE(unet_send(pair.a, pair.ab, 1, &piece, 1, nullptr) == 0);
        REQUIRE(unet_send_more(pair.a, pair.ab, 2, &piece, 1, nullptr) == 0);
        REQUIRE(unet_send(pair.a, pair.ab, 3, &piece, 1, nullptr) == 0);
        for (; recv(fd, packet, sizeof packet, 0) > 0; packets++) {
            iphdr ip;

            std::memcpy(&ip, packet, sizeof ip);
            REQUIRE((ntohs(ip.frag_off) & IP_DF) == 0);
        }
        REQUIRE(packets >= 2);
        close(fd);
        return true;
    });
}
