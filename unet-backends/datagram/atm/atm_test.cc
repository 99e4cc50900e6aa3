// SPDX-License-Identifier: BSD-3-Clause
//
// The suite, over the switch within which the test runs; and what is atm's own.
#include "conformance/process.h"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
#include "datagram/atm/atm.h"
}

const Backend backend_under_test = {.name = "atm", .detour = true};

namespace {

// Sets UNET_ATM_CARRIER for a while.
class Carrier {
public:
    explicit Carrier(const char *value)
    {
        const char *was = getenv("UNET_ATM_CARRIER");

        if (was)
            before = was;
        if (value)
            setenv("UNET_ATM_CARRIER", value, 1);
        else
            unsetenv("UNET_ATM_CARRIER");
    }
    ~Carrier()
    {
        if (before)
            setenv("UNET_ATM_CARRIER", before->c_str(), 1);
        else
            unsetenv("UNET_ATM_CARRIER");
    }

private:
    std::optional<std::string> before;
};

int open_with(const char *carrier)
{
    const Carrier set(carrier);
    unet_endpoint *ep = nullptr;
    const int error = unet_open(unet_backend("atm"), nullptr, &ep);

    unet_close(ep);
    return error;
}

uint32_t node_of(unet_endpoint *ep)
{
    return reinterpret_cast<atm_endpoint *>(ep)->own.node;
}

// The VCI on which an endpoint hears a channel.
uint16_t vci_of(unet_endpoint *ep, uint16_t channel)
{
    return atm_life_vci(reinterpret_cast<atm_endpoint *>(ep)->de.link[channel].life);
}

// A node of which the test says every cell.
class Node {
public:
    Node()
    {
        datagram_place place;
        const std::string carrier = getenv("UNET_ATM_CARRIER");

        unet_aal5_init();
        REQUIRE(unet_atm_line_place(carrier.c_str() + 6, &place) == 0);
        REQUIRE(unet_atm_line_open(&line, place.any.sa_family) == 0);
        REQUIRE(connect(line.fd, &place.any, place.length) == 0);
        atm_link_message message = {};
        message.version = ATM_LINK_VERSION;
        message.kind = ATM_LINK_ATTACH;
        message.cookie = 4711;
        unet_atm_write_link(cell, &message);
        send();
        pollfd fd = {line.fd, POLLIN, 0};
        REQUIRE(poll(&fd, 1, 10000) == 1);
        REQUIRE(recv(line.fd, cell, sizeof cell, 0) == ATM_CELL);
        uint32_t header;
        REQUIRE(unet_atm_read_header(cell, &header));
        REQUIRE(unet_atm_read_link(cell, header, &message));
        number = message.node;
    }
    ~Node() { close(line.fd); }
    // A PDU of one cell, to that node.
    void say(uint32_t node, uint32_t vci, uint8_t uu, const Bytes &bytes)
    {
        unet_atm_write_lone(cell, node, vci, uu, bytes.data(), bytes.size());
        send();
    }
    void say(uint32_t node, const unet_frame &frame)
    {
        unet_atm_write_lone(cell, node, ATM_VCI_SIGNALLING, atm_uu(frame.kind), &frame,
                            sizeof frame);
        send();
    }
    void send() { REQUIRE(unet_atm_line_send(&line, nullptr, cell, ATM_CELL) == ATM_CELL); }

    uint8_t cell[ATM_CELL];
    uint16_t number = 0;

private:
    atm_line line = {-1, false};
};

// Cells of the switch itself, straight to an endpoint: what nobody but who forges its address can
// send.
void arrives(unet_endpoint *ep, const Bytes &cells)
{
    atm_endpoint *ae = reinterpret_cast<atm_endpoint *>(ep);
    int both[2];
    const int kept = ae->de.socket;

    REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, both) == 0);
    REQUIRE(send(both[0], cells.data(), cells.size(), 0) == static_cast<ssize_t>(cells.size()));
    ae->de.socket = both[1];
    unet_atm_receive(&ae->de);
    ae->de.socket = kept;
    close(both[0]);
    close(both[1]);
}

Bytes lone(uint32_t vpi, uint32_t vci, uint8_t uu, const Bytes &bytes)
{
    Bytes cell(ATM_CELL);

    unet_atm_write_lone(cell.data(), vpi, vci, uu, bytes.data(), bytes.size());
    return cell;
}

} // namespace

TEST_CASE("atm: a carrier that is none is refused, and says what to do")
{
    CHECK(open_with(nullptr) == -EDESTADDRREQ);
    CHECK(open_with("") == -EDESTADDRREQ);
    for (const char *bad : {"cells", "cells:", "cells:127.0.0.1", "cells:localhost:1",
                            "cells:127.0.0.1:65536", "cells:127.0.0.1:1x", "cells:127.0.0.1:",
                            "cells:[::1:1", "cells:::1:1", "pvc:atm0", "cells:1.2.3:4"}) {
        INFO(bad);
        CHECK(open_with(bad) == -EINVAL);
    }
    for (int error : {-EDESTADDRREQ, -EINVAL, -ECONNREFUSED, -ETIMEDOUT, -EUSERS})
        CHECK(std::string(unet_remedy(unet_backend("atm"), error)) != "");
}

TEST_CASE("atm: without a switch an endpoint does not open")
{
    // Bound, so that nobody else has the number, and silent.
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address = {};
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    REQUIRE(getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) == 0);
    const std::string carrier = "cells:127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    CHECK(open_with(carrier.c_str()) == -ETIMEDOUT);
    close(fd);
    CHECK(open_with(carrier.c_str()) == -ECONNREFUSED);
}

TEST_CASE("atm: VCIs are assigned by the receiver, each anew, from 32 on")
{
    Endpoint a, b;
    uint16_t ab, ba, before = 0;

    for (uint64_t tag = 1; tag <= 50; tag++) {
        join(a, b, tag, ab, ba);
        const uint16_t vci = vci_of(b, ba);
        CHECK(vci >= ATM_VCI_USER);
        CHECK(vci != before);
        before = vci;
        REQUIRE(unet_disconnect(a, ab) == 0);
        REQUIRE(unet_disconnect(b, ba) == 0);
    }
}

TEST_CASE("atm: behind the last VCI come those from 32 on that are free")
{
    Endpoint a, b;
    atm_endpoint *ae = reinterpret_cast<atm_endpoint *>(static_cast<unet_endpoint *>(a));
    uint16_t ab[3], ba[3];

    ae->next_vci = ATM_VCI_MOST;
    join(a, b, 1, ab[0], ba[0]);
    CHECK(vci_of(a, ab[0]) == ATM_VCI_MOST);
    join(a, b, 2, ab[1], ba[1]);
    CHECK(vci_of(a, ab[1]) == ATM_VCI_USER);
    ae->next_vci = ATM_VCI_MOST;
    join(a, b, 3, ab[2], ba[2]);
    CHECK(vci_of(a, ab[2]) == ATM_VCI_USER + 1);
}

TEST_CASE("atm: a message of 36 bytes takes one cell, and one more takes two")
{
    Pair pair;
    atm_endpoint *ae = reinterpret_cast<atm_endpoint *>(static_cast<unet_endpoint *>(pair.a));
    const atm_line kept = ae->line;
    int both[2];
    const auto cells = [&](const std::function<int()> &send) {
        uint8_t bytes[LINE_ROOM];

        ae->line = {both[0], false};
        REQUIRE(send() == 0);
        ae->line = kept;
        return recv(both[1], bytes, sizeof bytes, 0) / double(ATM_CELL);
    };
    const auto message = [&](uint32_t length) {
        return cells([&] { return unet_send_inline(pair.a, pair.ab, 0, pair.a->segment, length); });
    };
    const unet_piece pieces[] = {{0, 6}, {100, 30}};

    REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, both) == 0);
    CHECK(message(0) == 1);
    CHECK(message(36) == 1);
    CHECK(message(37) == 2);
    CHECK(cells([&] { return unet_send(pair.a, pair.ab, 0, pieces, 2, nullptr); }) == 1);
    CHECK(cells([&] { return unet_disconnect(pair.a, pair.ab); }) == 1);
    close(both[0]);
    close(both[1]);
}

TEST_CASE("atm: a node cannot speak on another's channel, nor end it")
{
    Pair pair;
    Node stranger;
    const uint32_t node = node_of(pair.b);
    const atm_endpoint *be = reinterpret_cast<atm_endpoint *>(static_cast<unet_endpoint *>(pair.b));
    const datagram_link &link = be->de.link[pair.ba];
    unet_frame frame = {};

    stranger.say(node, vci_of(pair.b, pair.ba), atm_uu(UNET_FRAME_INLINE), Bytes(20, 7));
    for (uint8_t kind : {UNET_FRAME_CLOSE, UNET_FRAME_GONE, UNET_FRAME_OPENED, UNET_FRAME_OPEN}) {
        frame.version = UNET_FRAME_VERSION;
        frame.kind = kind;
        frame.key = kind == UNET_FRAME_GONE ? link.key_out : link.key_in;
        frame.life = kind == UNET_FRAME_GONE ? pair.ba : link.life;
        frame.user = link.peer_life;
        stranger.say(node, frame);
    }
    CHECK(eventually([&] {
        unet_progress(pair.b);
        return pair.b->stats.foreign >= 5;
    }));
    CHECK(unet_rx_peek(pair.b) == nullptr);
    CHECK(unet_channel_state(pair.b, pair.ba) == UNET_OPEN);
    REQUIRE(send_text(pair.a, pair.ab, "still here") == 0);
    CHECK(text(await(pair.b)) == "still here");
}

TEST_CASE("atm: what a peer's cells say is checked, and counted")
{
    Pair pair;
    const uint32_t vpi = node_of(pair.a), vci = vci_of(pair.b, pair.ba);
    const auto bad = [&](const Bytes &cells, uint64_t unet_stats::*counter) {
        const uint64_t before = pair.b->stats.*counter;

        arrives(pair.b, cells);
        CHECK(unet_rx_peek(pair.b) == nullptr);
        CHECK(pair.b->stats.*counter == before + 1);
    };
    Bytes altered = lone(vpi, vci, atm_uu(UNET_FRAME_INLINE), Bytes(20, 7)), other = altered;

    altered[1] ^= 1;
    bad(altered, &unet_stats::malformed); // HEC
    other[20] ^= 1;
    bad(other, &unet_stats::malformed);     // CRC-32
    bad(Bytes(20), &unet_stats::malformed); // no cell
    bad(lone(vpi, vci, atm_uu(UNET_FRAME_INLINE), Bytes(3)), &unet_stats::malformed);
    bad(lone(vpi, vci, atm_uu(UNET_FRAME_PIECES), Bytes(3)), &unet_stats::malformed);
    bad(lone(vpi, vci, UNET_FRAME_INLINE, Bytes(20)), &unet_stats::malformed); // version 0
    bad(lone(vpi, vci, atm_uu(UNET_FRAME_CLOSE), Bytes(4)), &unet_stats::malformed);
    bad(lone(vpi, vci, atm_uu(UNET_FRAME_PIECES), Bytes(4)), &unet_stats::malformed);
    bad(lone(vpi, vci, atm_uu(0), Bytes(4)), &unet_stats::malformed);
    bad(lone(vpi, vci == 32 ? 33 : vci - 1, atm_uu(UNET_FRAME_INLINE), Bytes(20)),
        &unet_stats::foreign);
    bad(lone(vpi + 1, vci, atm_uu(UNET_FRAME_INLINE), Bytes(20)), &unet_stats::foreign);
    bad(lone(vpi, 6, atm_uu(UNET_FRAME_INLINE), Bytes(20)), &unet_stats::foreign);
    bad(lone(0, ATM_VCI_SIGNALLING, atm_uu(UNET_FRAME_OPEN), Bytes(24)), &unet_stats::foreign);
    bad(lone(vpi, ATM_VCI_SIGNALLING, atm_uu(UNET_FRAME_OPEN), Bytes(24)), &unet_stats::malformed);
    bad(lone(vpi, ATM_VCI_SIGNALLING, atm_uu(UNET_FRAME_OPEN), Bytes(23)), &unet_stats::malformed);
    bad(lone(0, ATM_VCI_LINK, 0, Bytes(24)), &unet_stats::malformed);
    unet_atm_write_header(other.data(), atm_header(vpi, vci) | ATM_OTHER);
    bad(other, &unet_stats::foreign);

    arrives(pair.b, lone(vpi, vci, atm_uu(UNET_FRAME_INLINE), Bytes(40, 'x')));
    CHECK(text(take(pair.b)) == std::string(36, 'x'));
}

TEST_CASE("atm: late cells of an earlier opening find nobody")
{
    Pair pair;
    const uint32_t vpi = node_of(pair.a), vci = vci_of(pair.b, pair.ba);
    const Bytes late = lone(vpi, vci, atm_uu(UNET_FRAME_INLINE), Bytes(20, 7));

    REQUIRE(unet_disconnect(pair.a, pair.ab) == 0);
    REQUIRE(unet_disconnect(pair.b, pair.ba) == 0);
    arrives(pair.b, late);
    CHECK(pair.b->stats.foreign == 1);
    join(pair.a, pair.b, 0x1234, pair.ab, pair.ba);
    const uint64_t before = pair.b->stats.foreign;
    arrives(pair.b, late);
    CHECK(pair.b->stats.foreign == before + 1);
    CHECK(unet_rx_peek(pair.b) == nullptr);
}

TEST_CASE("atm: a part of a message is forgotten with its channel")
{
    Pair pair;
    const uint32_t vpi = node_of(pair.a);
    const Bytes message(100, 7);
    const iovec iov = {const_cast<uint8_t *>(message.data()), message.size()};
    Bytes cells(3 * ATM_CELL);

    give_buffers(pair.b, 1, 4096);
    REQUIRE(unet_aal5_cut(cells.data(), atm_header(vpi, vci_of(pair.b, pair.ba)),
                          atm_uu(UNET_FRAME_PIECES), &iov, 1, message.size()) == 3);
    arrives(pair.b, Bytes(cells.begin(), cells.begin() + ATM_CELL));
    REQUIRE(unet_disconnect(pair.a, pair.ab) == 0);
    REQUIRE(unet_disconnect(pair.b, pair.ba) == 0);
    join(pair.a, pair.b, 0x1234, pair.ab, pair.ba);
    REQUIRE(unet_aal5_cut(cells.data(), atm_header(vpi, vci_of(pair.b, pair.ba)),
                          atm_uu(UNET_FRAME_PIECES), &iov, 1, message.size()) == 3);
    arrives(pair.b, cells);
    CHECK(take(pair.b).length == 100 - ATM_USER_BYTES);
}

TEST_CASE("atm: an inline message that is longer than any is refused")
{
    Pair pair;
    const Bytes message(ATM_USER_BYTES + UNET_INLINE_MAX + 1, 7);
    const iovec iov = {const_cast<uint8_t *>(message.data()), message.size()};
    Bytes cells(2 * ATM_CELL);

    REQUIRE(unet_aal5_cut(cells.data(), atm_header(node_of(pair.a), vci_of(pair.b, pair.ba)),
                          atm_uu(UNET_FRAME_INLINE), &iov, 1, message.size()) == 2);
    arrives(pair.b, cells);
    CHECK(unet_rx_peek(pair.b) == nullptr);
    CHECK(pair.b->stats.malformed == 1);
}

TEST_CASE("atm: an alarm ends the channels of that node alone")
{
    Endpoint a, b, c;
    uint16_t ab, ba, ac, ca;
    Bytes alarm(ATM_CELL);

    join(a, b, 1, ab, ba);
    join(a, c, 1, ac, ca);
    unet_atm_write_alarm(alarm.data(), node_of(b));
    alarm[20] ^= 1;
    arrives(a, alarm); // its CRC-10 is wrong
    CHECK(unet_channel_state(a, ab) == UNET_OPEN);
    alarm[20] ^= 1;
    arrives(a, alarm);
    CHECK(unet_channel_state(a, ab) == UNET_DEAD);
    CHECK(unet_channel_state(a, ac) == UNET_OPEN);
}

TEST_CASE("atm: a switch that has begun anew ends all channels")
{
    Pair pair;
    atm_link_message message = {};
    Bytes cell(ATM_CELL);

    message.version = ATM_LINK_VERSION;
    message.kind = ATM_LINK_LOOK;
    unet_atm_write_link(cell.data(), &message);
    arrives(pair.a, cell);
    CHECK(unet_channel_state(pair.a, pair.ab) == UNET_OPEN);
    message.kind = ATM_LINK_DETACHED;
    unet_atm_write_link(cell.data(), &message);
    arrives(pair.a, cell);
    CHECK(unet_channel_state(pair.a, pair.ab) == UNET_DEAD);
}

TEST_CASE("atm: a peer of another switch is not reached")
{
    Endpoint a, b;
    struct unet_address address = b.address();
    atm_address inner;
    uint16_t channel;

    std::memcpy(&inner, address.bytes, sizeof inner);
    inner.switch_id ^= 1;
    std::memcpy(address.bytes, &inner, sizeof inner);
    CHECK(unet_connect(a, &address, 1, &channel) == -EADDRNOTAVAIL);
    inner.switch_id ^= 1;
    for (uint32_t node : {0u, 4096u, ~0u}) {
        inner.node = node;
        std::memcpy(address.bytes, &inner, sizeof inner);
        CHECK(unet_connect(a, &address, 1, &channel) == -EADDRNOTAVAIL);
    }
}

TEST_CASE("atm: cells that the socket does not take wait, in order")
{
    Pair pair;
    atm_endpoint *ae = reinterpret_cast<atm_endpoint *>(static_cast<unet_endpoint *>(pair.a));
    int both[2];
    const int line = ae->line.fd, bytes = 4096;
    const bool whole = ae->line.whole;
    const Bytes message = pattern(60000, 3);

    give_buffers(pair.b, 1, 65536);
    fill(pair.a, 0, message);
    // A socket that soon has no room, in front of the real one.
    REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, both) == 0);
    REQUIRE(setsockopt(both[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0);
    ae->line = {both[0], false};
    const unet_piece piece = {0, 60000};
    REQUIRE(unet_send(pair.a, pair.ab, 5, &piece, 1, nullptr) == 0);
    CHECK(ae->de.unsent);
    std::fill_n(pair.a->segment, 60000, 0); // cut and copied already
    REQUIRE(send_text(pair.a, pair.ab, "next") == 0);
    CHECK(ae->de.unsent);
    uint8_t cells[LINE_ROOM];
    CHECK(eventually([&] {
        for (ssize_t n; (n = recv(both[1], cells, sizeof cells, 0)) > 0;)
            REQUIRE(send(line, cells, static_cast<size_t>(n), 0) == n);
        unet_progress(pair.a);
        return !ae->de.unsent;
    }));
    for (ssize_t n; (n = recv(both[1], cells, sizeof cells, 0)) > 0;)
        REQUIRE(send(line, cells, static_cast<size_t>(n), 0) == n);
    ae->line = {line, whole};
    const Message first = await(pair.b);
    CHECK(first.bytes == message);
    CHECK(text(await(pair.b)) == "next");
    close(both[0]);
    close(both[1]);
}
