// SPDX-License-Identifier: BSD-3-Clause
//
// pmtu_test.cc - which probes go when, for interfaces that take packets of any length.
#include "test/peer.h"

#include <utility>

namespace {

using Probes = std::vector<std::pair<uint32_t, uint32_t>>; // length, and ms after the first

// What a rank sends whose peer never answers a probe.
Probes probes_of(uint32_t interface)
{
    Peer a(0, 2, 512);
    Probes seen;

    a.engine->config.packet_bytes = interface;
    a.engine->config.peer_timeout_us = 0;
    REQUIRE(a.send(std::string(4000, 'x')) == 0);
    const uint64_t start = a.now;
    while (a.now < start + 2000000) {
        for (Wire &wire : a.transmit()) {
            if (wire.header().flags & RELIABLE_PACKET_PROBE)
                seen.emplace_back(wire.length, (a.now - start) / 1000);
        }
        a.now = std::max(a.now + 1, reliable_engine_deadline(a.engine));
    }
    CHECK(a.stats().probes == seen.size());
    CHECK(a.stats().narrow == (interface > 512));
    return seen;
}

} // namespace

TEST_CASE("probes are of the interface's length, then of networks' that are shorter, four of each")
{
    CHECK(probes_of(8192) == Probes{{8192, 0},
                                    {8192, 20},
                                    {8192, 60},
                                    {8192, 140},
                                    {1408, 300},
                                    {1408, 320},
                                    {1408, 360},
                                    {1408, 440},
                                    {1152, 600},
                                    {1152, 620},
                                    {1152, 660},
                                    {1152, 740}});
    CHECK(probes_of(1408) == Probes{{1408, 0},
                                    {1408, 20},
                                    {1408, 60},
                                    {1408, 140},
                                    {1152, 300},
                                    {1152, 320},
                                    {1152, 360},
                                    {1152, 440}});
    CHECK(probes_of(1200) == Probes{{1200, 0},
                                    {1200, 20},
                                    {1200, 60},
                                    {1200, 140},
                                    {1152, 300},
                                    {1152, 320},
                                    {1152, 360},
                                    {1152, 440}});
    CHECK(probes_of(1152) == Probes{{1152, 0}, {1152, 20}, {1152, 60}, {1152, 140}});
    CHECK(probes_of(513) == Probes{{513, 0}, {513, 20}, {513, 60}, {513, 140}});
    CHECK(probes_of(512).empty());
}

TEST_CASE("nobody probes before there is use for longer packets")
{
    Peer a(0, 2, 512), b(1);

    REQUIRE(a.send("short") == 0);
    for (Wire &wire : a.transmit())
        CHECK_FALSE(wire.header().flags & RELIABLE_PACKET_PROBE);
    REQUIRE(a.send(std::string(400, 'x')) == 0); // does not fit behind it
    a.transmit();
    CHECK(a.stats().probes == 0);
}

TEST_CASE("a probe that is answered ends them")
{
    Peer a(0, 2, 512), b(1);

    REQUIRE(a.send(std::string(900, 'x')) == 0);
    b.receive(a.transmit());
    a.receive(b.transmit());
    CHECK(a.stats().probes == 1);
    while (a.now < 2000000) {
        a.now = std::max(a.now + 1, reliable_engine_deadline(a.engine));
        b.now = a.now;
        b.receive(a.transmit());
        a.receive(b.transmit());
    }
    CHECK(a.stats().probes == 1);
    CHECK(a.stats().narrow == 0);
}
