// SPDX-License-Identifier: BSD-3-Clause
//
// What is the service's own: who may have what, deaths, sleep, its wires, and what it is told.
#include "unetni/harness.h"
#include "unetni/raw.h"

#include "conformance/process.h"
#include "quoted.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <set>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unet/unet_frame.h>
#include <unistd.h>

using namespace std::chrono;
using Catch::Matchers::Contains;
using Catch::Matchers::Matches;

const Backend backend_under_test = {.name = "ni", .beside = true};

namespace {

// Whether the wire works here; if not, that is said.
bool has_wire(const std::string &wire)
{
    const std::string why = why_not("unet0", wire);

    if (!why.empty())
        WARN("left out: " << why);
    return why.empty();
}

// Frames of U-Net with a message that the kernel's network stack takes in at an interface.
class Tap {
public:
    explicit Tap(const char *interface)
        : fd_(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(UNET_ETHERTYPE)))
    {
        sockaddr_ll at = {};

        at.sll_family = AF_PACKET;
        at.sll_protocol = htons(UNET_ETHERTYPE);
        at.sll_ifindex = static_cast<int>(if_nametoindex(interface));
        REQUIRE(bind(fd_, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0);
    }
    ~Tap() { close(fd_); }
    Tap(const Tap &) = delete;
    Tap &operator=(const Tap &) = delete;

    unsigned messages() const
    {
        unet_frame frame;
        sockaddr_ll from = {};
        socklen_t length = sizeof from;
        unsigned count = 0;

        while (recvfrom(fd_, &frame, sizeof frame, 0, reinterpret_cast<sockaddr *>(&from),
                        &length) > 0)
            count += from.sll_pkttype == PACKET_HOST &&
                     (frame.kind == UNET_FRAME_INLINE || frame.kind == UNET_FRAME_PIECES);
        return count;
    }

private:
    const int fd_;
};

bool has_program(const char *interface)
{
    return std::system(
               (std::string("ip link show ") + interface + " | grep -q prog/xdp").c_str()) == 0;
}

// Each test has a network of its own.
void need_wires()
{
    if (!enter_wires()) {
        std::puts("\nnot run: services need root, or user namespaces, and the command ip");
        std::exit(0);
    }
}

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string> &more)
{
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

int open_one(const unet_config &config = {})
{
    unet_endpoint *ep = nullptr;
    const int error = unet_open(unet_backend("ni"), &config, &ep);

    unet_close(ep);
    return error;
}

// Nanoseconds of processor time that the process has had.
uint64_t processor_time(pid_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
    uint64_t ns = UINT64_MAX;

    file >> ns;
    return ns;
}

// A pair of endpoints of a backend each, whose channel leads from one to the other.
bool talk(unet_endpoint *a, unet_endpoint *b)
{
    const Bytes bytes = pattern(1000, 3);
    const unet_piece piece = {0, 1000};
    uint16_t ab, ba;

    join(a, b, 99, ab, ba);
    give_buffers(b, 4, 2048, 4096);
    fill(a, 0, bytes);
    return send_text(a, ab, "to") == 0 && text(await(b)) == "to" && send_text(b, ba, "fro") == 0 &&
           text(await(a)) == "fro" && unet_send(a, ab, 7, &piece, 1, nullptr) == 0 &&
           await(b).bytes == bytes;
}

// A child that opens an endpoint at the service and a channel to the board's endpoint 0, and
// sleeps.
std::unique_ptr<Child> sleeper(const Board &board, unsigned number, uint64_t tag)
{
    return std::make_unique<Child>([&board, number, tag] {
        Endpoint ep;

        board.show(number, ep);
        if (meet(ep, board, 0, tag) == 0)
            return false;
        board.raise(number + 1);
        for (;;)
            pause();
        return true;
    });
}

} // namespace

// ---- wires -------------------------------------------------------------------------------

TEST_CASE("endpoints of one service reach each other, and those of another")
{
    need_wires();
    const std::string wire = GENERATE("packet", "xdp", "udp", "atm");
    if (!has_wire(wire))
        return;
    AtmSwitch both;
    const auto options = wire == "atm" ? both.options() : std::vector<std::string>{"--wire", wire};
    Service one(with(Service::at("unet0"), options));
    Service other(with(Service::at("unet1"), options));

    use(one);
    Endpoint a, b;
    use(other);
    Endpoint c;
    CHECK(talk(a, b));
    CHECK(talk(a, c));
}

TEST_CASE("a node whose service is killed is dead to others, and a service ends with its switch")
{
    need_wires();
    AtmSwitch both;
    Service one(with(Service::at("atm0"), both.options()));
    Service other(with(Service::at("atm1"), both.options()));
    uint16_t ab, ba;

    use(one);
    Endpoint a;
    use(other);
    Endpoint b;
    join(a, b, 99, ab, ba);
    const struct unet_address to = b.address();
    other.end(SIGKILL);
    CHECK(eventually([&] {
        send_text(a, ab, "anybody?"); // what the switch cannot deliver shows it who is gone
        unet_wait(a, 10);
        return unet_channel_state(a, ab) == UNET_DEAD;
    }));
    both.end();
    REQUIRE(unet_connect(a, &to, 7, &ab) == 0); // asks again and again
    CHECK(eventually([&] {
        unet_wait(a, 100);
        return unet_channel_state(a, ab) == UNET_DEAD;
    }));
    CHECK(WEXITSTATUS(one.end(0)) == 1);
}

TEST_CASE("endpoints reach those of the backend eth, over the wire and on one interface")
{
    need_wires();
    const std::string interface = GENERATE("unet0", "unet1");
    const std::string wire = GENERATE("packet", "xdp");
    if (!has_wire(wire))
        return;
    Service service(with(Service::at("unet0"), {"--wire", wire}));
    unet_endpoint *eth = nullptr;

    use(service);
    Endpoint ni;
    setenv("UNET_INTERFACE", interface.c_str(), 1);
    REQUIRE(unet_open(unet_backend("eth"), nullptr, &eth) == 0);
    CHECK(talk(ni, eth));
    unet_close(eth);
}

TEST_CASE(
    "by AF_XDP messages for a service's ports pass the kernel's network stack by, and no others")
{
    need_wires();
    const std::string wire = GENERATE("packet", "xdp");
    if (!has_wire(wire))
        return;
    Service one(with(Service::at("unet0"), {"--wire", wire}));
    Service other(with(Service::at("unet1"), {"--wire", wire}));
    Tap tap("unet1");
    unet_endpoint *eth = nullptr;

    use(one);
    Endpoint a;
    use(other);
    Endpoint b;
    CHECK(talk(a, b));
    CHECK(tap.messages() == (wire == "packet" ? 2 : 0)); // b is told two, and tells one
    setenv("UNET_INTERFACE", "unet1", 1);
    REQUIRE(unet_open(unet_backend("eth"), nullptr, &eth) == 0);
    CHECK(talk(a, eth));
    CHECK(tap.messages() == 2);
    unet_close(eth);
}

TEST_CASE("while the interface is down messages are lost, and nobody waits for it")
{
    need_wires();
    const std::string wire = GENERATE("packet", "xdp");
    if (!has_wire(wire))
        return;
    Service one(with(Service::at("unet0"), {"--wire", wire}));
    Service other(with(Service::at("unet1"), {"--wire", wire}));
    uint16_t ab, ba;
    int sent = 0;

    use(one);
    Endpoint a;
    use(other);
    Endpoint b;
    join(a, b, 99, ab, ba);
    REQUIRE(std::system("ip link set unet0 down") == 0);
    const Deadline soon(patience);
    while (sent < 10000 && !soon.passed()) { // more than all queues on the way have room for
        const int rc = send_text(a, ab, "lost");
        if (rc == -EAGAIN)
            unet_progress(a);
        else
            REQUIRE(rc == 0);
        sent += rc == 0;
    }
    CHECK(sent == 10000);
    REQUIRE(std::system("ip link set unet0 up") == 0);
    CHECK(eventually([&] {
        send_text(a, ab, "again");
        unet_wait(b, 10);
        return unet_rx_peek(b) != nullptr;
    }));
}

TEST_CASE("a service leaves no program on its interface, and has no other's there")
{
    need_wires();
    if (!has_wire("xdp"))
        return;
    const int signal = GENERATE(SIGTERM, SIGKILL);
    Service service(with(Service::at("unet0"), {"--wire", "xdp"}));

    CHECK(has_program("unet0"));
    const Outcome second = run_unetni({"--interface", "unet0", "--wire", "xdp"});
    CHECK(second.code == 1);
    CHECK_THAT(second.text, Contains("unet0: has another XDP program"));
    const Outcome loopback = run_unetni({"--interface", "lo", "--wire", "xdp"});
    CHECK(loopback.code == 1);
    CHECK_THAT(loopback.text, Contains("lo: has no AF_XDP (--wire packet works there)"));
    service.end(signal);
    CHECK(eventually([] { return !has_program("unet0"); }));
}

TEST_CASE("endpoints of eth and of services have ports of their own")
{
    need_wires();
    Service one(Service::at("lo")), other(Service::at("lo"));
    std::vector<std::unique_ptr<Raw>> clients;
    std::vector<unet_endpoint *> eths(8);
    std::set<uint16_t> ports;

    setenv("UNET_INTERFACE", "lo", 1);
    for (unet_endpoint *&eth : eths) {
        struct unet_address address;

        REQUIRE(unet_open(unet_backend("eth"), nullptr, &eth) == 0);
        unet_address(eth, &address);
        ports.insert(static_cast<uint16_t>(address.bytes[6] | address.bytes[7] << 8));
    }
    for (int i = 0; i < 8; i++) {
        clients.push_back(std::make_unique<Raw>((i % 2 ? one : other).path()));
        REQUIRE(clients.back()->create() == 0);
        ports.insert(clients.back()->layout.port);
    }
    CHECK(ports.size() == 16);
    // Those of one service are out of the other's reach but by the loopback interface.
    open_both(*clients[0], *clients[1]);
    for (unet_endpoint *eth : eths)
        unet_close(eth);
}

// ---- who may -----------------------------------------------------------------------------

TEST_CASE("who may not use the socket is told so")
{
    need_wires();
    Service service({"--interface", "lo", "--mode", "660"});

    use(service);
    CHECK(open_one() == 0);
    if (!become_nobody()) {
        std::puts("\nleft out: there is no other user here");
        return;
    }
    CHECK(open_one() == -EACCES);
    CHECK_THAT(unet_remedy(unet_backend("ni"), -EACCES), Contains("group"));
    REQUIRE(setresuid(0, 0, 0) == 0); // who looks for leaks may not trace two users at once
}

TEST_CASE("one user's endpoints, channels and memory have limits")
{
    need_wires();
    Service service(with(Service::at("lo"),
                         {"--max-endpoints", "3", "--max-channels", "2", "--max-megabytes", "8"}));
    unet_config large = {};

    use(service);
    {
        Endpoint a, b;
        uint16_t ab[3];
        struct unet_address to = b.address();

        CHECK(unet_connect(a, &to, 1, &ab[0]) == 0);
        CHECK(unet_connect(a, &to, 2, &ab[1]) == 0);
        CHECK(unet_connect(a, &to, 3, &ab[2]) == -EDQUOT);
        CHECK(unet_disconnect(a, ab[0]) == 0);
        CHECK(unet_connect(a, &to, 3, &ab[2]) == 0);
        large.segment_bytes = 8 << 20;
        CHECK(open_one(large) == -EDQUOT);
        Endpoint c;
        CHECK(open_one() == -EDQUOT);
    }
    CHECK(eventually([] { return open_one() == 0; }));
}

TEST_CASE("without a service the reason is named")
{
    setenv("UNET_NI_SOCKET", "/nonexistent/socket", 1);
    CHECK(open_one() == -ENODEV);
    CHECK_THAT(unet_remedy(unet_backend("ni"), -ENODEV), Contains("unetni"));
}

TEST_CASE("a service at the interface's own place is found by its name")
{
    unsetenv("UNET_NI_SOCKET");
    setenv("UNET_INTERFACE", "nosuch0", 1);
    CHECK(open_one() == -ENODEV);
}

// ---- deaths ------------------------------------------------------------------------------

constexpr milliseconds at_once{100};

// On a busy machine who waits may run late, so the quickest of some attempts counts.
milliseconds quickest(const std::function<milliseconds()> &attempt)
{
    milliseconds best = milliseconds::max();

    for (int i = 0; i < 10 && best >= at_once; i++)
        best = std::min(best, attempt());
    return best;
}

milliseconds since(steady_clock::time_point start)
{
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
}

// How long a killed client's peer has an open channel to it, at the same service or at another.
milliseconds until_dead(bool beyond)
{
    Service one(Service::at("unet0")), other(Service::at("unet1"));
    Board board;

    use(one);
    Endpoint ep;
    board.show(0, ep);
    use(beyond ? other : one);
    auto child = sleeper(board, 1, 5);
    const uint16_t channel = meet(ep, board, 1, 5);
    REQUIRE(channel != 0);
    REQUIRE(eventually([&] { return board.raised(2); }));
    while (unet_wait(ep, 0) > 0)
        take(ep);
    const auto start = steady_clock::now();
    child->kill();
    while (unet_channel_state(ep, channel) == UNET_OPEN && since(start) < patience)
        unet_wait(ep, 1000);
    const milliseconds noticed = since(start);
    CHECK(unet_channel_state(ep, channel) == UNET_DEAD);
    return noticed;
}

TEST_CASE("a client that is killed is dead to its peers at once, here and beyond the wire")
{
    need_wires();
    const bool beyond = GENERATE(false, true);

    CHECK(quickest([&] { return until_dead(beyond); }) < at_once);
}

// How long a client has open channels when its service has got that signal.
milliseconds until_down(int signal)
{
    auto service = std::make_unique<Service>(Service::at("lo"));
    const size_t before = open_descriptors();
    milliseconds noticed;

    use(*service);
    {
        Pair pair;
        struct unet_address to = pair.b.address();
        uint16_t channel;
        const auto start = steady_clock::now();
        Child killer([&] {
            kill(service->pid(), signal);
            return true;
        });

        while (unet_channel_state(pair.a, pair.ab) == UNET_OPEN && since(start) < patience)
            unet_wait(pair.a, 1000);
        noticed = since(start);
        CHECK(unet_channel_state(pair.a, pair.ab) == UNET_DEAD);
        CHECK(unet_channel_state(pair.b, pair.ba) == UNET_DEAD);
        CHECK(send_text(pair.a, pair.ab, "x") == -EPIPE);
        CHECK(unet_connect(pair.a, &to, 9, &channel) == -ENETDOWN);
        CHECK(unet_wait(pair.a, 20) == 0); // and sleeps, although the service is gone
        CHECK(unet_disconnect(pair.a, pair.ab) == 0);
        CHECK(killer.wait() == 0);
    }
    service->end(signal);
    CHECK(open_one() == -ENODEV);
    CHECK((signal == SIGKILL) == (access(service->path().c_str(), F_OK) == 0));
    CHECK(open_descriptors() == before);
    return noticed;
}

TEST_CASE("a service that ends, or is killed, is noticed at once, and leaves nothing behind")
{
    need_wires();
    const int signal = GENERATE(SIGTERM, SIGKILL);

    CHECK(quickest([&] { return until_down(signal); }) < at_once);
}

TEST_CASE("progress alone notices that the service has ended")
{
    need_wires();
    Service service(Service::at("lo"));

    use(service);
    Pair pair;
    service.end(SIGKILL);
    CHECK(eventually([&] {
        unet_progress(pair.a);
        return pair.a->channel[pair.ab].state == UNET_DEAD;
    }));
}

TEST_CASE("a service that was killed can be started again in its place, and only one serves there")
{
    need_wires();
    Service service(Service::at("lo"));
    const std::string path = service.path();

    const Outcome second = run_unetni({"--interface", "lo", "--socket", path});
    CHECK(second.code == 1);
    CHECK_THAT(second.text, Contains(path) && Contains("another unetni"));
    service.end(SIGKILL);
    Child again([&] {
        execl(UNETNI_PROGRAM, "unetni", "--interface", "lo", "--socket", path.c_str(), nullptr);
        return false;
    });
    use(service);
    CHECK(eventually([] { return open_one() == 0; }));
}

TEST_CASE("a file in a service's place that is no socket stays")
{
    need_wires();
    char name[] = "/tmp/unetni-test-XXXXXX";
    const int fd = mkstemp(name);

    REQUIRE(fd >= 0);
    close(fd);
    const Outcome outcome = run_unetni({"--interface", "lo", "--socket", name});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.text, Contains(name) && Contains("name another place with --socket"));
    CHECK(unlink(name) == 0);
}

TEST_CASE("the folder of the interfaces' own places is made, for all to reach")
{
    need_wires();
    if (run_shell("unshare -m mount -t tmpfs none /run").code != 0) {
        std::puts("\nleft out: there is no /run of one's own here");
        return;
    }
    const Outcome outcome = run_shell(
        "exec unshare -m sh -c 'mount -t tmpfs none /run && umask 077 || exit; "
        "\"$1\" --interface lo & until [ -S /run/unetni/lo ] || ! kill -0 $!; do sleep 0.01; done; "
        "stat -c %a /run/unetni; kill $!; wait $!' sh " +
        quoted(UNETNI_PROGRAM));
    CHECK(outcome.code == 0);
    CHECK(outcome.text == "755\n");
    const Outcome refused =
        run_shell("exec unshare -m sh -c 'mount -t tmpfs -o ro none /run && exec \"$1\" "
                  "--interface lo' sh " +
                  quoted(UNETNI_PROGRAM));
    CHECK(refused.code == 1);
    CHECK(refused.text == "unetni: /run/unetni: cannot be made: Read-only file system; start "
                          "unetni as root or by systemd, or name another place with --socket\n");
}

// ---- sleep -------------------------------------------------------------------------------

TEST_CASE("a service with nothing to do takes no processor time, whoever is connected")
{
    need_wires();
    Service service(Service::at("lo"));
    std::vector<std::unique_ptr<Pair>> pairs;
    uint64_t before = 0, after = UINT64_MAX;

    use(service);
    for (int i = 0; i < 20; i++)
        pairs.push_back(std::make_unique<Pair>());
    // Time in which nothing happens is what is measured.
    for (Deadline deadline; after - before > 1000000 && !deadline.passed();) {
        before = processor_time(service.pid());
        usleep(1000000);
        after = processor_time(service.pid());
    }
    CHECK(after - before < 1000000);
    for (auto &pair : pairs) {
        REQUIRE(send_text(pair->a, pair->ab, "still there") == 0);
        CHECK(text(await(pair->b)) == "still there");
    }
}

TEST_CASE("each client sleeps and is woken by itself, while others keep the service awake")
{
    need_wires();
    Service service(with(Service::at("lo"), {"--spin", "0"}));

    use(service);
    Pair busy, quiet;
    for (uint32_t i = 0; i < 2000; i++) {
        REQUIRE(send_text(busy.a, busy.ab, "busy", i) == 0);
        REQUIRE(await(busy.b).user == i);
        if (i % 100 == 0) {
            REQUIRE(send_text(quiet.a, quiet.ab, "quiet", i) == 0);
            REQUIRE(await(quiet.b).user == i);
        }
    }
}

// ---- what it is told ---------------------------------------------------------------------

TEST_CASE("options that make no sense are refused by name")
{
    struct Bad {
        std::vector<std::string> options;
        const char *says;
    };

    for (const Bad &bad :
         {Bad{{}, "--interface NAME is needed"},
          Bad{{"--interface", "lo", "word"}, "nothing but options"},
          Bad{{"--interface", "lo", "--wire", "string"}, "packet, xdp, udp or atm"},
          Bad{{"--interface", "lo", "--carrier", "cells:1.2.3.4:5"}, "--carrier wants --wire atm"},
          Bad{{"--interface", "lo", "--mode", "999"}, "an octal number"},
          Bad{{"--interface", "lo", "--spin", "-1"}, "a number up to 1000000"},
          Bad{{"--interface", "lo", "--max-endpoints", "x"}, "a number"},
          Bad{{"--interface", "lo", "--group", "no such"}, "name of a group"},
          Bad{{"--interface", "a name that is too long"}, "name of an interface"},
          Bad{{"--nonsense"}, "unetni --help"}}) {
        const Outcome outcome = run_unetni(bad.options);

        CHECK(outcome.code == 2);
        CHECK_THAT(outcome.text, Contains(bad.says));
    }
    CHECK(run_unetni({"--help"}).code == 0);
    CHECK(run_unetni({"--version"}).code == 0);
    CHECK_THAT(run_unetni({"--version"}).text, Matches("unetni [0-9]+[.][0-9.]+\n"));
}

TEST_CASE("help and version that cannot be written are no success")
{
    const std::string option = GENERATE("--help", "--version");
    const Outcome outcome =
        run_shell("exec " + quoted(UNETNI_PROGRAM) + " " + option + " >/dev/full");

    CHECK(outcome.code == 1);
    CHECK(outcome.text == "unetni: cannot write to standard output: No space left on device\n");
}

TEST_CASE("the manual has every option of --help")
{
    std::ifstream file(UNETNI_MANUAL);
    const std::string manual((std::istreambuf_iterator<char>(file)), {});
    const std::string help = run_unetni({"--help"}).text;
    unsigned options = 0;

    for (size_t at = 0; (at = help.find("\n  --", at)) != help.npos; options++) {
        at += 5;
        const std::string name = help.substr(at, help.find(' ', at) - at);
        INFO(name);
        CHECK_THAT(manual, Contains(".It Fl Fl " + name));
    }
    CHECK(options == 13);
}

TEST_CASE("a wire that cannot be opened is named, with the reason")
{
    need_wires();
    Outcome outcome = run_unetni({"--interface", "nosuch0"});

    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.text, Contains("nosuch0"));
    outcome = run_unetni({"--interface", "lo", "--socket", "/nonexistent/folder/socket"});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.text, Contains("/nonexistent/folder/socket") &&
                                 Contains("make its directory") && Contains("--socket"));
    outcome = run_unetni({"--interface", "lo", "--socket", std::string(200, 'x')});
    CHECK_THAT(outcome.text, Contains("too long"));
    REQUIRE(std::system("ip link set unet0 mtu 68") == 0);
    outcome = run_unetni({"--interface", "unet0"});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.text, Contains("MTU"));
    if (has_wire("xdp") && prctl(PR_CAPBSET_DROP, CAP_BPF) == 0 &&
        prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) == 0)
        CHECK_THAT(run_unetni({"--interface", "unet1", "--wire", "xdp"}).text, Contains("CAP_BPF"));
    if (prctl(PR_CAPBSET_DROP, CAP_NET_RAW) == 0) // of programs that start from now on
        CHECK_THAT(run_unetni({"--interface", "lo"}).text, Contains("CAP_NET_RAW"));
}
