// SPDX-License-Identifier: BSD-3-Clause
//
// Super-frames: many frames as one, whole and cut on the way, and without them.  The interfaces are
// those of eth_test.cc.
#include "conformance/harness.h"
#include "datagram/eth/eth.h"

#include <arpa/inet.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unet/unet_frame.h>
#include <unistd.h>

// The library's calls come by here: kernels before 6.2 refuse what is to be cut, and a network may
// filter super-frames, in one direction alone.
static bool old_kernel;
static int filtered = -1; // the socket from which no super-frame arrives

extern "C" ssize_t sendmsg(int fd, const msghdr *message, int flags)
{
    const auto *name = static_cast<const sockaddr_ll *>(message->msg_name);

    if (old_kernel && name && name->sll_family == AF_PACKET &&
        name->sll_protocol == htons(ETH_P_IP)) {
        errno = EINVAL;
        return -1;
    }
    if (fd == filtered) {
        ssize_t all = 0;
        for (size_t i = 0; i < message->msg_iovlen; i++)
            all += static_cast<ssize_t>(message->msg_iov[i].iov_len);
        return all;
    }
    return syscall(SYS_sendmsg, fd, message, flags);
}

namespace {

// An endpoint that keeps what arrives past its queues.
class Taker {
public:
    std::vector<Bytes> arrived;

    explicit Taker(const char *super = "1")
    {
        setenv("UNET_ETH_SUPER", super, 1);
        ep->ops->datagrams->attach(ep, keep, this);
        unsetenv("UNET_ETH_SUPER");
    }
    operator unet_endpoint *() const { return ep; }
    eth_endpoint *eth() const { return eth_of(datagram_of(ep)); }
    const datagram_link &link(uint16_t n) const { return datagram_of(ep)->link[n]; }
    unsigned send(const std::vector<unet_packet> &packets)
    {
        return ep->ops->datagrams->send(ep, packets.data(), static_cast<unsigned>(packets.size()));
    }

private:
    Endpoint ep;

    static void keep(void *arg, uint16_t, const void *bytes, size_t length, bool)
    {
        const auto *first = static_cast<const uint8_t *>(bytes);
        static_cast<Taker *>(arg)->arrived.emplace_back(first, first + length);
    }
};

struct Pairing {
    Taker a, b;
    uint16_t ab = 0, ba = 0;

    explicit Pairing(const char *super_of_b = "1") : b(super_of_b)
    {
        join(a, b, 1, ab, ba);
        eventually([&] { // what was said by super-frame may come last
            unet_progress(a);
            unet_progress(b);
            return a.link(ab).super || super_of_b[0] == '0';
        });
    }
    uint32_t packets_by_super() const { return b.eth()->super_ring.next; }
};

// Packets whose headers go in front of them, one behind the other or each by itself.
struct Packets {
    std::vector<Bytes> expected;
    std::vector<uint8_t> memory;
    std::vector<unet_packet> packet;

    Packets(uint16_t channel, const std::vector<uint32_t> &lengths, bool one_by_one)
    {
        const size_t stride = UNET_PACKET_HEADROOM + 9000;
        size_t at = 64;

        memory.resize(lengths.size() * stride + 128);
        for (size_t i = 0; i < lengths.size(); i++) {
            expected.push_back(pattern(lengths[i], static_cast<uint32_t>(i)));
            at += sizeof(unet_frame);
            std::memcpy(&memory[at], expected.back().data(), lengths[i]);
            packet.push_back({&memory[at], lengths[i], channel});
            at = one_by_one ? (i + 1) * stride + 64 : at + lengths[i];
        }
    }
};

void require_all_arrive(Pairing &p, const Packets &packets)
{
    const uint64_t malformed = static_cast<unet_endpoint *>(p.b)->stats.malformed;
    size_t sent = 0;

    p.b.arrived.clear();
    while (sent < packets.packet.size())
        sent += p.a.send({packets.packet.begin() + static_cast<long>(sent), packets.packet.end()});
    CHECK(eventually([&] {
        unet_progress(p.b);
        return p.b.arrived.size() >= packets.expected.size();
    }));
    CHECK(p.b.arrived == packets.expected);
    CHECK(static_cast<unet_endpoint *>(p.b)->stats.malformed == malformed);
}

const std::vector<uint32_t> many(200, 1000);

const unet_config with_trains = {.segment_bytes = 1 << 20,
                                 .send_slots = 64,
                                 .recv_slots = 128,
                                 .free_slots = 128,
                                 .channels = 4,
                                 .polled = false,
                                 .trains = true};

bool kernel_cuts(const Pairing &p)
{
    if (p.a.link(p.ab).uncut)
        WARN("not run: packet sockets of this kernel cut no UDP; Linux 6.2 and later do");
    return !p.a.link(p.ab).uncut;
}

// The interface that leads to an endpoint: the other one.
int index_towards(const Taker &to)
{
    const auto index = static_cast<int>(if_nametoindex("unet0"));
    return to.eth()->interface.index == index ? static_cast<int>(if_nametoindex("unet1")) : index;
}

// A packet of IP to an endpoint's Ethernet address, of one frame or more, with a word for who cuts
// it: a struct virtio_net_hdr, whose header is no C++.
struct Forged {
    struct {
        uint8_t flags, gso_type;
        uint16_t hdr_len, gso_size, csum_start, csum_offset;
    } virtio = {};
    iphdr ip = {};
    udphdr udp = {};
    unet_frame frame = {};
    Bytes rest; // behind the first frame

    explicit Forged(const Taker &to)
    {
        ip.version = 4;
        ip.ihl = 5;
        ip.ttl = 1;
        ip.protocol = IPPROTO_UDP;
        ip.saddr = ip.daddr = htonl(0x00554e45);
        ip.tot_len = htons(sizeof(iphdr) + sizeof(udphdr) + sizeof(unet_frame));
        udp.dest = htons(to.eth()->own.port);
        frame.version = UNET_FRAME_VERSION;
        frame.kind = UNET_FRAME_INLINE;
        frame.to_port = to.eth()->own.port;
    }
    void add_bytes(size_t count)
    {
        rest.resize(rest.size() + count);
        ip.tot_len = htons(static_cast<uint16_t>(ntohs(ip.tot_len) + count));
    }
    // A frame with so many bytes, which says that it has `said`.
    void add(size_t bytes, uint32_t said)
    {
        unet_frame another = frame;

        another.kind = UNET_FRAME_PIECES;
        another.length = static_cast<uint16_t>(said);
        add_bytes(sizeof another + bytes);
        std::memcpy(&rest[rest.size() - bytes - sizeof another], &another, sizeof another);
    }
    // False: the kernel does not send it.
    bool send(const Taker &to, size_t missing = 0) const
    {
        const int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1;
        ethhdr ethernet = {};
        sockaddr_ll place = {};
        Bytes all;
        const auto append = [&](const auto &part) {
            const auto *at = reinterpret_cast<const uint8_t *>(&part);
            all.insert(all.end(), at, at + sizeof part);
        };

        REQUIRE(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) == 0);
        std::memcpy(ethernet.h_dest, to.eth()->own.mac, ETH_ALEN);
        ethernet.h_proto = htons(ETH_P_IP);
        append(virtio);
        append(ethernet);
        append(ip);
        append(udp);
        append(frame);
        all.insert(all.end(), rest.begin(), rest.end());
        place.sll_family = AF_PACKET;
        place.sll_protocol = htons(ETH_P_IP);
        place.sll_ifindex = index_towards(to);
        const auto sent = sendto(fd, all.data(), all.size() - missing, 0,
                                 reinterpret_cast<sockaddr *>(&place), sizeof place);
        close(fd);
        return sent > 0;
    }
};

} // namespace

TEST_CASE("super: packets of one length go as one, the last may be shorter")
{
    Pairing p;
    std::vector<uint32_t> lengths = many;

    REQUIRE(p.a.link(p.ab).super);
    REQUIRE(p.b.link(p.ba).super);
    lengths.back() = 300;
    for (const bool one_by_one : {false, true}) {
        const uint32_t before = p.packets_by_super();

        require_all_arrive(p, Packets(p.ab, lengths, one_by_one));
        if (!kernel_cuts(p))
            return;
        CHECK(p.packets_by_super() > before);
        CHECK(p.packets_by_super() - before < 20);
    }
}

TEST_CASE("super: messages of several pieces that are sent together go as one")
{
    static constexpr uint32_t PIECE = 500, BUFFER = 2048, COUNT = 30;
    Pair p(with_trains);
    const auto *eth = eth_of(datagram_of(p.b));
    const datagram_link &link = datagram_of(p.a)->link[p.ab];

    REQUIRE(eventually([&] {
        unet_progress(p.a);
        unet_progress(p.b);
        return link.super;
    }));
    for (uint32_t i = 0; i < COUNT; i++)
        REQUIRE(unet_free_put(p.b, i * BUFFER, BUFFER) == 0);
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        std::memcpy(p.a->segment + i * PIECE, pattern(PIECE, i).data(), PIECE);
    const uint32_t before = eth->super_ring.next;
    for (uint32_t i = 0; i < COUNT; i++) { // of two pieces, which lie apart
        const unet_piece piece[2] = {{i * PIECE, PIECE}, {(2 * COUNT - 1 - i) * PIECE, PIECE}};

        REQUIRE((i + 1 < COUNT ? unet_send_more : unet_send)(p.a, p.ab, i, piece, 2, nullptr) == 0);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const Message m = await(p.b, BUFFER);
        Bytes expected = pattern(PIECE, i);
        const Bytes second = pattern(PIECE, 2 * COUNT - 1 - i);

        expected.insert(expected.end(), second.begin(), second.end());
        CHECK(m.user == i);
        CHECK(m.bytes == expected);
    }
    if (link.uncut)
        WARN("not run: packet sockets of this kernel cut no UDP; Linux 6.2 and later do");
    else
        CHECK(eth->super_ring.next - before < COUNT / 5);
    CHECK(eth->super_ring.next > before);
}

TEST_CASE("super: an endpoint with trains has upcalls by a thread, and none by a signal")
{
    std::atomic<int> told = 0;
    const auto note = [](unet_endpoint *, void *arg) { ++*static_cast<std::atomic<int> *>(arg); };
    Pair p(with_trains);

    CHECK(unet_upcall(p.b, UNET_UPCALL_SIGNAL, UNET_NONEMPTY, note, &told) == -EOPNOTSUPP);
    REQUIRE(unet_upcall(p.b, UNET_UPCALL_THREAD, UNET_NONEMPTY, note, &told) == 0);
    REQUIRE(unet_send_inline(p.a, p.ab, 0, "x", 1) == 0);
    CHECK(eventually([&] { return told > 0; }));
    CHECK(unet_upcall(p.b, UNET_UPCALL_NONE, 0, nullptr, nullptr) == 0);
}

TEST_CASE("super: packets of many lengths, in super-frames and alone, are taken in order")
{
    Pairing p;

    for (uint32_t seed = 1; seed <= 20; seed++) {
        std::vector<uint32_t> lengths;
        uint32_t random = seed;

        for (int i = 0; i < 100; i++) {
            random = random * 1664525 + 1013904223;
            lengths.push_back(random >> 31 ? lengths.empty() ? 500 : lengths.back()
                                           : 100 + (random >> 8) % 8000);
        }
        const Packets packets(p.ab, lengths, seed % 2);
        p.b.arrived.clear();
        REQUIRE(p.a.send(packets.packet) == packets.packet.size());
        CHECK(eventually([&] {
            unet_progress(p.b);
            return p.b.arrived.size() == packets.expected.size();
        }));
        const bool in_order = p.b.arrived == packets.expected; // too long to be printed
        CHECK(in_order);
    }
}

TEST_CASE("super: what is cut on the way arrives, too")
{
    Pairing p;
    const uint32_t before = p.packets_by_super();

    REQUIRE(std::system(
                "ip link set unet0 gso_max_size 2000 && ip link set unet1 gso_max_size 2000") == 0);
    require_all_arrive(p, Packets(p.ab, many, false));
    if (kernel_cuts(p))
        CHECK(p.packets_by_super() - before == many.size());
    REQUIRE(std::system("ip link set unet0 gso_max_size 65536 && "
                        "ip link set unet1 gso_max_size 65536") == 0);
}

TEST_CASE("super: where the kernel cannot cut, packets go one by one")
{
    Pairing p;

    require_all_arrive(p, Packets(p.ab, many, false));
    const bool cuts = kernel_cuts(p); // ours, before it is made to refuse
    const uint32_t before = p.packets_by_super();

    old_kernel = true;
    require_all_arrive(p, Packets(p.ab, many, false));
    old_kernel = false;
    CHECK(p.a.link(p.ab).uncut > 0);
    CHECK(p.packets_by_super() == before);
    require_all_arrive(p, Packets(p.ab, many, false)); // it is not tried again at once
    CHECK(p.packets_by_super() == before);
    for (int i = 0; i < 100 && p.packets_by_super() == before; i++) // but later
        require_all_arrive(p, Packets(p.ab, many, false));
    if (cuts)
        CHECK(p.packets_by_super() > before);
}

TEST_CASE("super: through a network that passes them in one direction, packets go one by one")
{
    Taker a, b;
    uint16_t ab = 0, ba = 0;

    filtered = GENERATE(false, true) ? a.eth()->super : b.eth()->super;
    join(a, b, 1, ab, ba);
    for (int i = 0; i < 1000; i++) { // an answer that had come would be here
        unet_progress(a);
        unet_progress(b);
    }
    CHECK_FALSE(a.link(ab).super);
    CHECK_FALSE(b.link(ba).super);
    REQUIRE(a.send(Packets(ab, {1000}, false).packet) == 1);
    REQUIRE(b.send(Packets(ba, {1000}, false).packet) == 1);
    const Packets there(ab, many, false), back(ba, many, false);
    size_t sent = 0, sent_back = 0;
    CHECK(eventually([&] {
        if (sent < many.size())
            sent += a.send({there.packet.begin() + static_cast<long>(sent), there.packet.end()});
        if (sent_back < many.size())
            sent_back +=
                b.send({back.packet.begin() + static_cast<long>(sent_back), back.packet.end()});
        unet_progress(a);
        unet_progress(b);
        return b.arrived.size() == many.size() + 1 && a.arrived.size() == many.size() + 1;
    }));
    filtered = -1;
}

TEST_CASE("super: a peer that did not answer when the channel was opened is asked again")
{
    Taker a, b;
    uint16_t ab = 0, ba = 0;

    filtered = GENERATE(false, true) ? a.eth()->super : b.eth()->super;
    join(a, b, 1, ab, ba);
    filtered = -1;
    CHECK_FALSE(a.link(ab).super);
    const Packets train(ab, {1000, 1000, 1000}, false);
    CHECK(eventually([&] {
        a.send(train.packet);
        unet_progress(b);
        unet_progress(a);
        return a.link(ab).super;
    }));
    CHECK(a.link(ab).super_pause > 0);
    CHECK_FALSE(b.link(ba).super); // it had nothing to send
}

TEST_CASE("super: to who takes none, packets go one by one")
{
    Pairing p("0");

    CHECK(p.b.eth()->super < 0);
    require_all_arrive(p, Packets(p.ab, many, false));
    CHECK_FALSE(p.a.link(p.ab).super);
}

TEST_CASE("super: who sleeps is woken by one")
{
    Pairing p;
    const Packets packets(p.ab, many, false);

    while (unet_progress(p.b) > 0)
        ;
    REQUIRE(p.a.send(packets.packet) > 0);
    if (!kernel_cuts(p))
        return;
    pollfd bell = {unet_fd(p.b), POLLIN, 0};
    CHECK(poll(&bell, 1, 5000) == 1);
    CHECK(unet_wait(p.b, 5000) == 1);
    CHECK(p.b.arrived.size() > 0);
}

TEST_CASE("super: what strangers send so is dropped, and counted where it comes in")
{
    Pairing p;
    unet_endpoint *const b = p.b;
    Forged forged(p.b);
    const auto counts = [&](uint64_t malformed, uint64_t foreign) {
        CHECK(eventually([&] {
            unet_progress(b);
            return b->stats.malformed >= malformed && b->stats.foreign >= foreign;
        }));
        CHECK(b->stats.malformed == malformed);
        CHECK(b->stats.foreign == foreign);
    };

    CHECK(forged.send(p.b)); // a key that is nobody's
    counts(0, 1);
    forged.ip.tot_len = htons(2000); // more than there is
    CHECK(forged.send(p.b));
    counts(1, 1);
    forged.ip.tot_len = htons(sizeof(iphdr) + sizeof(udphdr)); // nothing
    CHECK(forged.send(p.b));
    counts(2, 1);
    forged.ip.tot_len = htons(sizeof(iphdr) + sizeof(udphdr) + sizeof(unet_frame));
    CHECK(forged.send(p.b, 5)); // less than that
    counts(3, 1);
    forged.frame.length = 100; // a frame that says more
    CHECK(forged.send(p.b));
    counts(4, 1);
    forged.frame.length = 0;
    for (uint32_t iphdr::*address : {&iphdr::saddr, &iphdr::daddr}) {
        forged.ip.*address = htonl(0x0a000001); // a real one: never comes in
        CHECK(forged.send(p.b));
        forged.ip.*address = htonl(0x00554e45);
    }
    forged.ip.protocol = IPPROTO_TCP;
    CHECK(forged.send(p.b));
    forged.ip.protocol = IPPROTO_UDP;
    forged.ip.frag_off = htons(IP_MF);
    CHECK(forged.send(p.b));
    forged.ip.frag_off = 0;
    forged.udp.dest++;
    CHECK(forged.send(p.b));
    forged.udp.dest--;
    CHECK(forged.send(p.b));
    counts(4, 2);
    require_all_arrive(p, Packets(p.ab, many, false));
}

TEST_CASE("super: what is not taken in is counted, and the next ones are not taken for it")
{
    Pairing p;
    unet_endpoint *const b = p.b;
    const int bytes = 1; // room for little more than one whole packet
    const Packets packets(p.ab, many, false);

    REQUIRE(setsockopt(p.b.eth()->super, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0);
    REQUIRE(p.a.send(packets.packet) == many.size());
    if (!kernel_cuts(p))
        return;
    CHECK(eventually([&] { return unet_progress(b), b->stats.overruns > 0; }));
    while (unet_progress(b) > 0)
        ;
    CHECK(p.b.arrived.size() < many.size());
    size_t at = 0;
    for (const Bytes &one : p.b.arrived) { // whole, and in order
        while (at < many.size() && packets.expected[at] != one)
            at++;
        CHECK(at < many.size());
    }
}

TEST_CASE("super: of a forged train each frame counts, up to one that does not end in it")
{
    Pairing p;
    unet_endpoint *const b = p.b;
    const auto takes = [&](Forged train, uint64_t malformed, uint64_t foreign) {
        const uint64_t before[] = {b->stats.malformed, b->stats.foreign};

        REQUIRE(train.send(p.b));
        CHECK(eventually([&] {
            unet_progress(b);
            return b->stats.malformed + b->stats.foreign >=
                   before[0] + before[1] + malformed + foreign;
        }));
        CHECK(b->stats.malformed - before[0] == malformed);
        CHECK(b->stats.foreign - before[1] == foreign);
    };
    Forged good(p.b), bad(p.b);

    good.add(300, 300);
    good.add(300, 300);
    good.udp.len = htons(9); // what UDP says is nobody's concern
    takes(good, 0, 3);
    good.udp.len = htons(65535);
    takes(good, 0, 3);
    good.add(300, 301); // one byte beyond the end
    takes(good, 1, 3);
    bad.add(300, 65535);
    bad.add(300, 300); // is inside of that
    takes(bad, 1, 1);
    bad = Forged(p.b);
    bad.add_bytes(sizeof(unet_frame) - 1); // no whole header
    takes(bad, 1, 1);
    bad = Forged(p.b);
    bad.add(0, 0); // a message of no bytes is none
    bad.add(300, 300);
    takes(bad, 1, 1);
    CHECK(p.b.arrived.empty());
    require_all_arrive(p, Packets(p.ab, many, false));
}

TEST_CASE("super: forged words about the cutting do no harm, wherever they are noticed")
{
    Pairing p;
    const Packets after(p.ab, many, false);

    for (const uint16_t segment : {0, 1, 7, 332, 9000, 65535}) {
        for (const uint16_t header : {0, 1, 34, 42, 60000}) {
            Forged train(p.b);

            for (int i = 0; i < 20; i++)
                train.add(300, 300);
            train.virtio = {1, 5, header, segment, header, 6}; // the first two as in super.c
            train.send(p.b);
            unet_progress(p.b);
        }
    }
    REQUIRE(p.a.send(after.packet) == many.size());
    CHECK(eventually([&] {
        unet_progress(p.b);
        return p.b.arrived.size() >= many.size();
    }));
    const bool as_sent = p.b.arrived == after.expected;
    CHECK(as_sent);
    if (kernel_cuts(p))
        CHECK(static_cast<unet_endpoint *>(p.b)->stats.foreign > 0); // some came as far as that
}
