// SPDX-License-Identifier: BSD-3-Clause
//
// What is eth's own: interfaces, frames that are not for us, ports.
//
// The suite runs in a network namespace of its own, with a pair of virtual interfaces.  Endpoints
// are opened on one and the other in turn, so channels lead over the wire as well as through
// the loopback interface.
#include "conformance/process.h"

#define CATCH_CONFIG_EXTERNAL_INTERFACES // for the listener
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unet/unet_frame.h>
#include <unistd.h>

// The library's calls come by here.
static int interface_lists;

extern "C" int getifaddrs(ifaddrs **all)
{
    interface_lists++;
    return reinterpret_cast<int (*)(ifaddrs **)>(dlsym(RTLD_NEXT, "getifaddrs"))(all);
}

namespace {

constexpr const char *INTERFACE = "UNET_INTERFACE";
constexpr uint32_t MTU = 9000;

bool make_interfaces()
{
    return std::system("ip link add unet0 mtu 9000 type veth peer name unet1 mtu 9000 && "
                       "ip link set unet0 up && ip link set unet1 up") == 0;
}

class Namespace : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo &) override
    {
        static bool entered = false;

        if (!entered && !(enter_network() && make_interfaces())) {
            std::puts("\nnot run: raw Ethernet needs root, or user namespaces, and the command ip");
            std::exit(0);
        }
        entered = true;
        setenv(INTERFACE, "unet0", 1);
    }
};
CATCH_REGISTER_LISTENER(Namespace)

void take_turns()
{
    static bool second = false;

    setenv(INTERFACE, second ? "unet1" : "unet0", 1);
    second = !second;
}

struct Header {
    uint8_t mac[6];
    uint16_t port;
};

Header address_of(const Endpoint &e)
{
    const struct unet_address address = e.address();
    Header header;

    std::memcpy(&header, address.bytes, sizeof header);
    return header;
}

// A packet socket that is no endpoint's.
class Stranger {
public:
    explicit Stranger(const char *name)
        : fd(socket(AF_PACKET, SOCK_DGRAM, htons(UNET_ETHERTYPE))), index(if_nametoindex(name))
    {
        sockaddr_ll here = {};

        REQUIRE(fd >= 0);
        here.sll_family = AF_PACKET;
        here.sll_protocol = htons(UNET_ETHERTYPE);
        here.sll_ifindex = static_cast<int>(index);
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&here), sizeof here) == 0);
    }
    ~Stranger() { close(fd); }
    Stranger(const Stranger &) = delete;
    Stranger &operator=(const Stranger &) = delete;

    void send(const uint8_t *mac, const void *bytes, size_t length)
    {
        sockaddr_ll to = {};

        to.sll_family = AF_PACKET;
        to.sll_protocol = htons(UNET_ETHERTYPE);
        to.sll_ifindex = static_cast<int>(index);
        to.sll_halen = 6;
        std::memcpy(to.sll_addr, mac, 6);
        REQUIRE(sendto(fd, bytes, length, 0, reinterpret_cast<sockaddr *>(&to), sizeof to) ==
                static_cast<ssize_t>(length));
    }

private:
    int fd;
    unsigned index;
};

int open_at(const char *interface)
{
    unet_endpoint *ep = nullptr;

    setenv(INTERFACE, interface, 1);
    const int error = unet_open(unet_backend("eth"), nullptr, &ep);
    unet_close(ep);
    return error;
}

bool channels_work(const char *one, const char *other)
{
    setenv(INTERFACE, one, 1);
    unet_endpoint *a = nullptr, *b = nullptr;
    uint16_t ab, ba;

    REQUIRE(unet_open(unet_backend("eth"), nullptr, &a) == 0);
    setenv(INTERFACE, other, 1);
    REQUIRE(unet_open(unet_backend("eth"), nullptr, &b) == 0);
    join(a, b, 7, ab, ba);
    bool good = send_text(a, ab, "hello") == 0 && text(await(b)) == "hello" &&
                send_text(b, ba, "you, too") == 0 && text(await(a)) == "you, too";
    unet_close(a);
    unet_close(b);
    return good;
}

} // namespace

const Backend backend_under_test = {.name = "eth", .before_open = take_turns};

TEST_CASE("endpoints reach each other over the wire, on one interface, and on the loopback")
{
    CHECK(channels_work("unet0", "unet1"));
    CHECK(channels_work("unet0", "unet0"));
    CHECK(channels_work("lo", "lo"));
}

TEST_CASE("what is no interface, or no Ethernet, is refused")
{
    const size_t before = open_descriptors();

    CHECK(open_at("nosuch0") == -ENODEV);
    REQUIRE(std::system("ip tuntap add dev unettun mode tun") == 0);
    CHECK(open_at("unettun") == -EINVAL);
    REQUIRE(std::system("ip link del unettun") == 0);
    CHECK(open_descriptors() == before);
}

TEST_CASE("auto is the interface of the default route, or else one that runs")
{
    const auto mac_at = [](const char *interface) {
        struct unet_address address;
        unet_endpoint *ep = nullptr;

        setenv(INTERFACE, interface, 1);
        REQUIRE(unet_open(unet_backend("eth"), nullptr, &ep) == 0);
        unet_address(ep, &address);
        unet_close(ep);
        return std::string(reinterpret_cast<const char *>(address.bytes), 6);
    };

    CHECK(mac_at("auto") != mac_at("lo"));
    for (const std::string name : {"unet0", "unet1"}) {
        const std::string route =
            "ip addr add 10.1.2.3/24 dev " + name + " && ip route add default via 10.1.2.4";
        REQUIRE(std::system(route.c_str()) == 0);
        CHECK(mac_at("auto") == mac_at(name.c_str()));
        REQUIRE(std::system(("ip addr flush dev " + name).c_str()) == 0);
    }
}

TEST_CASE("who may not open packet sockets is told so")
{
    REQUIRE(setresuid(65534, 65534, 0) == 0);
    const int error = open_at("unet0");
    REQUIRE(setresuid(0, 0, 0) == 0);
    CHECK(error == -EPERM);
}

TEST_CASE("a program with capabilities is open to others of its user")
{
    REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
    CHECK(open_at("unet0") == 0);
    CHECK(prctl(PR_GET_DUMPABLE) == 1);
}

TEST_CASE("a message is as long as a frame of the interface may be")
{
    Pair pair;
    const uint32_t most = MTU - sizeof(unet_frame) - 28; // as in a super-frame
    unet_piece piece = {0, most};
    Bytes sent = pattern(most, 5);

    CHECK(pair.a->packet_bytes == most);
    give_buffers(pair.b, 4, 4096, 100000);
    fill(pair.a, 0, sent);
    REQUIRE(unet_send(pair.a, pair.ab, 0, &piece, 1, nullptr) == 0);
    CHECK(await(pair.b).bytes == sent);
    piece.length++;
    REQUIRE(unet_send(pair.a, pair.ab, 9, &piece, 1, nullptr) == 0);
    Message refused = await(pair.a);
    CHECK(refused.kind == UNET_ERROR);
    CHECK(refused.error == EMSGSIZE);
}

TEST_CASE("frames for others never come in, those of strangers are counted")
{
    Pair pair;
    const Header victim = address_of(pair.b); // on unet1
    Stranger stranger("unet0");
    unet_frame frame = {};
    uint8_t mac[6];

    frame.version = UNET_FRAME_VERSION;
    frame.kind = UNET_FRAME_INLINE;
    frame.to_port = victim.port;
    std::memcpy(mac, victim.mac, sizeof mac);

    // To another port, and to another address: nothing is counted when a third has come.
    frame.to_port = static_cast<uint16_t>(victim.port + 1);
    stranger.send(mac, &frame, sizeof frame);
    frame.to_port = victim.port;
    mac[5] ^= 1;
    stranger.send(mac, &frame, sizeof frame);
    mac[5] ^= 1;
    frame.version++;
    stranger.send(mac, &frame, sizeof frame);
    CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.malformed > 0; }));
    CHECK(pair.b->stats.malformed == 1);
    CHECK(pair.b->stats.foreign == 0);

    frame.version--;
    stranger.send(mac, &frame, sizeof frame); // a key that is nobody's
    CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.foreign == 1; }));
    stranger.send(mac, &frame, sizeof frame - 1); // padded by none here
    CHECK(eventually([&] { return unet_progress(pair.b), pair.b->stats.malformed == 2; }));
    CHECK(take(pair.b).kind == UNET_EMPTY);
    REQUIRE(send_text(pair.a, pair.ab, "unharmed") == 0);
    CHECK(text(await(pair.b)) == "unharmed");
}

TEST_CASE("endpoints of one interface have ports of their own")
{
    setenv(INTERFACE, "unet0", 1);
    Endpoint a, b, c, d;

    CHECK(address_of(a).port != address_of(c).port); // in turn: a and c share one
    CHECK(address_of(b).port != address_of(d).port);
    for (const Endpoint *one : {&a, &b, &c, &d})
        CHECK(address_of(*one).port >= UNET_FRAME_SOCKET_PORTS);
}

TEST_CASE("which peers are on this machine is found out once")
{
    Board board;
    Endpoint ep;
    Child child([&] {
        Endpoint far; // on the other interface

        board.show(1, far);
        return meet(far, board, 0, 7) != 0 && eventually([] { return false; });
    });

    board.show(0, ep);
    const uint16_t channel = meet(ep, board, 1, 7);
    REQUIRE(channel != 0);
    interface_lists = 0;
    child.kill();
    CHECK(eventually([&] {
        unet_progress(ep);
        return ep->channel[channel].state == UNET_DEAD;
    }));
    CHECK(interface_lists == 0);
}

TEST_CASE("a ring that is full loses frames, and goes on")
{
    Pair pair;
    const uint32_t most = 6000;
    unet_piece piece = {0, most};

    give_buffers(pair.b, 16, 8192, 100000);
    for (int i = 0; i < 2000; i++) {
        unet_progress(pair.a);
        (void)unet_send(pair.a, pair.ab, 1, &piece, 1, nullptr);
    }
    while (take(pair.b, 8192).kind != UNET_EMPTY) {
    }
    REQUIRE(send_text(pair.a, pair.ab, "last") == 0);
    CHECK(eventually([&] { return text(take(pair.b, 8192)) == "last"; }));
}
