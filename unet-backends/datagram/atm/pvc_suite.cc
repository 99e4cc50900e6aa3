// SPDX-License-Identifier: BSD-3-Clause
//
// The suite, over PVCs of a kernel that the test plays; every endpoint is on a node of its own.
// What the kernel itself does is tested in virtual machines (tests/kernel).
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <sys/socket.h>
#include <tuple>
#include <unistd.h>

extern "C" {
#include "datagram/atm/pvc.h"
}

extern const bool pvc_raw_by_default; // what the suite runs over

namespace {

// ---- a kernel: a VC is a pair of Unix sockets ----------------------------------------

using Vc = std::tuple<uint32_t, uint32_t, uint32_t>; // node, VPI, VCI

std::map<Vc, int> waiting; // ends that nobody has opened yet
int claims_refused;        // of the next ones
int answer;                // to every open; 0: the socket
bool refuses_raw;

int play_open(const pvc_settings *settings, uint32_t vpi, uint32_t vci)
{
    const Vc own(settings->node, vpi, vci), other(vpi, settings->node, vci);
    int both[2];

    if (answer || (refuses_raw && settings->raw))
        return answer ? answer : -EPROTONOSUPPORT;
    if (vpi == settings->node && claims_refused > 0 && claims_refused--)
        return -EADDRINUSE;
    if (const auto found = waiting.find(own); found != waiting.end()) {
        const int fd = found->second;

        waiting.erase(found);
        return fd;
    }
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both) < 0)
        return -errno;
    if (own == other)
        close(both[1]); // nobody speaks on a claim
    else
        waiting[other] = both[1];
    return both[0];
}

// What was opened by one side only is of earlier endpoints.
void forget()
{
    for (const auto &[vc, fd] : waiting)
        close(fd);
    waiting.clear();
}

const std::string devices = "/tmp/unet-pvc-test-" + std::to_string(getpid());
const pvc_kernel play = {devices.c_str(), play_open};

void write_devices(const std::string &lines)
{
    std::ofstream(devices) << "Itf Type    ESI/\"MAC\"addr AAL(TX,err,RX,err,drop) ...\n" << lines;
}

bool raw = pvc_raw_by_default;

void prepare()
{
    static unsigned node;

    unet_pvc_kernel = &play;
    write_devices("  0 xusbatm 0a1b2c3d4e5f  0 ( 0 0 0 0 0 )  5 ( 0 0 0 0 0 )  [1]\n");
    node = node % PVC_NODE_MOST + 1;
    setenv("UNET_ATM_CARRIER", raw ? "pvc:0,aal0" : "pvc:0", 1);
    setenv("UNET_ATM_NODE", std::to_string(node).c_str(), 1);
}

// Every case begins so, for one process may run several.
struct Kernel {
    Kernel()
    {
        answer = claims_refused = 0;
        refuses_raw = false;
        write_devices("  0 xusbatm x\n");
    }
    ~Kernel()
    {
        forget();
        raw = pvc_raw_by_default;
        answer = claims_refused = 0;
        prepare();
    }
};

// Some cases of the suite open endpoints by themselves.
const struct Process {
    const pid_t own = getpid();
    Process() { prepare(); }
    ~Process()
    {
        if (getpid() == own)
            unlink(devices.c_str());
    }
} process;

int open_with(const char *carrier, const char *node)
{
    unet_endpoint *ep = nullptr;

    unet_pvc_kernel = &play;
    setenv("UNET_ATM_CARRIER", carrier, 1);
    node ? setenv("UNET_ATM_NODE", node, 1) : unsetenv("UNET_ATM_NODE");
    const int error = unet_open(unet_backend("atm"), nullptr, &ep);
    unet_close(ep);
    return error;
}

pvc_endpoint *inside(unet_endpoint *ep)
{
    return reinterpret_cast<pvc_endpoint *>(ep);
}

} // namespace

const Backend backend_under_test = {.name = "atm", .before_open = prepare};

TEST_CASE("pvc: a carrier that is none is refused, and says what to do")
{
    const Kernel kernel;
    write_devices("  0 xusbatm x\n  1 atmtcp x\n");
    for (const char *bad : {"pvc:", "pvc:x", "pvc:-1", "pvc: 0", "pvc:0,", "pvc:0,aal5",
                            "pvc:0,aal00", "pvc:0x", "pvc:32768", "pvc:99999999999999999999"}) {
        INFO(bad);
        CHECK(open_with(bad, "1") == -EINVAL);
    }
    CHECK(open_with("pvc:0", "1") == 0);
    CHECK(open_with("pvc:0,aal0", "1") == 0);
    CHECK(open_with("pvc:2", "1") == -ENODEV);
    CHECK(open_with("pvc:10", "1") == -ENODEV);
    CHECK(open_with("pvc:1", "1") == -EOPNOTSUPP);
    unlink(devices.c_str());
    CHECK(open_with("pvc:0", "1") == -EAFNOSUPPORT);
    for (int error :
         {-EINVAL, -ENODEV, -EOPNOTSUPP, -EAFNOSUPPORT, -ENXIO, -EPROTONOSUPPORT, -EADDRNOTAVAIL}) {
        INFO(error);
        CHECK(std::string(unet_remedy(unet_backend("atm"), error)) != "");
    }
    CHECK(std::string(unet_remedy(unet_backend("atm"), -EOPNOTSUPP)).find("atmtcp") !=
          std::string::npos);
}

TEST_CASE("pvc: an interface of atmtcp is never connected to")
{
    const Kernel kernel;
    write_devices("  0 atmtcp x\n");
    answer = -EIO; // what the kernel would be asked for
    CHECK(open_with("pvc:0", "1") == -EOPNOTSUPP);
}

TEST_CASE("pvc: the node is a number, or this host's in a list")
{
    const Kernel kernel;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    const std::string own = host;

    for (const std::string &bad :
         {std::string(""), std::string("0"), std::string("256"), std::string("1x"),
          std::string("x"), std::string("-1"), "x" + own + "=1", own + "x=1", own + "=", own + "=0",
          own, own + "=1x", std::string("x=1,y=2"), std::string("="), std::string(",")}) {
        INFO(bad);
        CHECK(open_with("pvc:0", bad.c_str()) == -ENXIO);
    }
    CHECK(open_with("pvc:0", nullptr) == -ENXIO);
    for (const std::string &good : {std::string("1"), std::string("255"), own + "=7",
                                    "x=1," + own + "=7", own + "=7,x=1", own + ".domain=7"}) {
        INFO(good);
        CHECK(open_with("pvc:0", good.c_str()) == 0);
    }
}

TEST_CASE("pvc: what the kernel says of the first VC is what opening says")
{
    const Kernel kernel;
    refuses_raw = true;
    CHECK(open_with("pvc:0,aal0", "1") == -EPROTONOSUPPORT);
    answer = -EADDRINUSE;
    CHECK(open_with("pvc:0", "1") == -EADDRNOTAVAIL);
    answer = -EPERM;
    CHECK(open_with("pvc:0", "1") == -EPERM);
}

TEST_CASE("pvc: a port that another process has is left to it")
{
    const Kernel kernel;
    claims_refused = PVC_PORTS - 1;
    CHECK(open_with("pvc:0", "1") == 0);
    CHECK(claims_refused == 0);
    claims_refused = PVC_PORTS;
    CHECK(open_with("pvc:0", "1") == -EADDRNOTAVAIL);
}

TEST_CASE("pvc: both ends of a VC find the same VCI, and no two pairs of ports the same")
{
    const Kernel kernel;
    std::vector<bool> seen(ATM_VCI_MOST + 1);

    for (uint32_t a = 0; a < PVC_PORTS; a++)
        for (uint32_t b = 0; b < PVC_PORTS; b++) {
            const uint32_t vci = unet_pvc_vci(3, a, 200, b);

            REQUIRE(vci == unet_pvc_vci(200, b, 3, a));
            REQUIRE((vci >= ATM_VCI_USER && vci <= ATM_VCI_MOST));
            REQUIRE(!seen[vci]);
            seen[vci] = true;
        }
}

TEST_CASE("pvc: endpoints of one node, or of other carriers, do not reach each other")
{
    const Kernel kernel;
    uint16_t channel;
    Endpoint a, b;
    struct unet_address address = b.address();
    pvc_address peer;

    memcpy(&peer, address.bytes, sizeof peer);
    const auto connects = [&](const pvc_address &to) {
        memcpy(address.bytes, &to, sizeof to);
        return unet_connect(a, &address, 1, &channel);
    };
    pvc_address other = peer;
    other.node = inside(a)->settings.node;
    CHECK(connects(other) == -EADDRNOTAVAIL);
    for (uint32_t node : {0u, 256u, 0x10001u}) {
        other.node = node;
        CHECK(connects(other) == -EADDRNOTAVAIL);
    }
    other = peer;
    other.port = PVC_PORTS;
    CHECK(connects(other) == -EADDRNOTAVAIL);
    other = peer;
    other.carrier ^= 1;
    CHECK(connects(other) == -EADDRNOTAVAIL);
    address.length--;
    CHECK(connects(peer) == -EADDRNOTAVAIL);
    address.length++;
    CHECK(connects(peer) == 0);
}

namespace {

// Puts bytes into b's socket as if they had come by the VC from a; raw: as a PDU of one cell.
void arrives(const Pair &p, const Bytes &bytes, uint32_t header = ATM_LAST)
{
    const pvc_vc *vc = inside(p.a)->only;

    if (!raw) {
        REQUIRE(send(vc->fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
        return;
    }
    uint8_t cell[ATM_CELL];
    const iovec iov = {const_cast<uint8_t *>(bytes.data() + 1), bytes.size() - 1};
    REQUIRE(unet_aal5_cut(cell, 0, bytes[0], &iov, 1, iov.iov_len) == 1);
    memcpy(cell + 1, &header, sizeof header);
    REQUIRE(send(vc->fd, cell + 1, PVC_CELL, 0) == PVC_CELL);
}

uint8_t number_of(unet_endpoint *ep, uint16_t channel)
{
    return inside(ep)->de.link[channel].life % PVC_NUMBERS;
}

} // namespace

TEST_CASE("pvc: what arrives is checked, and counted")
{
    const Kernel kernel;
    raw = GENERATE(false, true);
    Pair p;
    p.settle();
    const uint8_t number = number_of(p.b, p.ba), unknown = number % (PVC_NUMBERS - 1) + 1;
    const auto &stats = p.b->stats;
    const uint64_t malformed = stats.malformed, foreign = stats.foreign;

    arrives(p, {number, 1, 2, 3});           // no whole `user`
    arrives(p, {PVC_INLINE, 1, 2, 3, 4, 5}); // nobody's number
    arrives(p, {number, 1, 2, 3, 4});        // pieces of nothing
    arrives(p, Bytes(13, 0));                // a part of a frame
    arrives(p, Bytes(25, 0));                // of no version
    unet_progress(p.b);
    CHECK(stats.malformed == malformed + 5);
    arrives(p, {unknown, 1, 2, 3, 4, 5});
    unet_progress(p.b);
    CHECK(stats.foreign == foreign + 1);
    CHECK(take(p.b).kind == UNET_EMPTY);
    arrives(p, {static_cast<uint8_t>(number | PVC_INLINE), 1, 2, 3, 4, 'a'});
    unet_progress(p.b);
    const Message m = take(p.b);
    CHECK(m.kind == UNET_INLINE);
    CHECK(m.user == 0x04030201);
    CHECK(text(m) == "a");
}

TEST_CASE("pvc: raw cells that are none, or of maintenance, are dropped")
{
    const Kernel kernel;
    raw = true;
    Pair p;
    p.settle();
    const uint8_t tag = number_of(p.b, p.ba) | PVC_INLINE;
    const uint64_t malformed = p.b->stats.malformed;
    const Bytes shorter(PVC_CELL - 1), longer(PVC_CELL + 1);

    for (const Bytes &bytes : {shorter, longer})
        REQUIRE(send(inside(p.a)->only->fd, bytes.data(), bytes.size(), 0) > 0);
    unet_progress(p.b);
    CHECK(p.b->stats.malformed == malformed + 2);
    arrives(p, {tag, 1, 2, 3, 4, 'a'}, ATM_LAST | ATM_OTHER);
    unet_progress(p.b);
    CHECK(take(p.b).kind == UNET_EMPTY);
}

TEST_CASE("pvc: a closed channel's number is nobody's, and the next opening has another")
{
    const Kernel kernel;
    Pair p;
    p.settle();
    const uint8_t before = number_of(p.b, p.ba);
    const uint64_t foreign = p.b->stats.foreign;

    REQUIRE(unet_disconnect(p.b, p.ba) == 0);
    arrives(p, {static_cast<uint8_t>(before | PVC_INLINE), 1, 2, 3, 4, 'a'});
    unet_progress(p.b);
    CHECK(p.b->stats.foreign > foreign);
    REQUIRE(unet_disconnect(p.a, p.ab) == 0);
    join(p.a, p.b, 99, p.ab, p.ba);
    CHECK(number_of(p.b, p.ba) != before);
}

TEST_CASE("pvc: a pair of endpoints has no more than 127 channels")
{
    const Kernel kernel;
    unet_config config = {};
    config.channels = 200;
    Endpoint a(config), b(config);
    const struct unet_address to = b.address();
    uint16_t channel;
    int opened = 0;

    for (uint64_t tag = 1; tag <= 150 && unet_connect(a, &to, tag, &channel) == 0; tag++)
        opened++;
    CHECK(opened == PVC_NUMBERS - 1);
    CHECK(unet_connect(a, &to, 1000, &channel) == -ENOSPC);
    REQUIRE(unet_disconnect(a, channel) == 0);
    CHECK(unet_connect(a, &to, 1001, &channel) == 0);
}

TEST_CASE("pvc: channels end with their VC")
{
    const Kernel kernel;
    Pair p;
    p.settle();
    p.b.close();
    CHECK(eventually([&] {
        unet_progress(p.a);
        return unet_channel_state(p.a, p.ab) == UNET_DEAD;
    }));
}

TEST_CASE("pvc: with raw cells, messages of every number of cells arrive whole and in order")
{
    const Kernel kernel;
    raw = true;
    Pair p;
    p.settle();
    give_buffers(p.b, 16, 2048);
    for (uint32_t length = 1; length < 6000; length += length < 100 ? 1 : 311) {
        const Bytes bytes = pattern(length, length);
        unet_desc desc = {};

        INFO(length);
        fill(p.a, 0, bytes);
        desc.kind = UNET_PIECES;
        desc.channel = p.ab;
        desc.length = length;
        desc.pieces = 1;
        desc.piece[0] = {0, length};
        REQUIRE(unet_push(p.a, &desc, nullptr) == 0);
        Message m;
        REQUIRE(eventually([&] {
            unet_progress(p.a);
            unet_progress(p.b);
            m = take(p.b, 2048);
            return m.kind != UNET_EMPTY;
        }));
        CHECK(m.bytes == bytes);
    }
}
