// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol on simulated networks.  A failure prints its seed; SPLITC_SIM_SEED=n repeats the
// random worlds from that one on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>

#include "sim.h"

using namespace sim;

namespace {

// One sender to one receiver; the time it took.
uint64_t stream(const Options &options, uint64_t messages)
{
    Sim sim(options);

    sim.add({0, 1, messages});
    REQUIRE(sim.run(600 * SECOND) == "");
    return sim.finished();
}

} // namespace

TEST_CASE("every message arrives once and in order in random worlds of faults")
{
    const uint64_t first = number_from("SPLITC_SIM_SEED", 1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    uint64_t carried = 0, seed = first;

    for (; seed < first + 400 && std::chrono::steady_clock::now() < end; seed++)
        REQUIRE(random_world(seed, 4000, carried) == "");
    INFO(seed - first << " worlds, " << carried << " packets");
    CHECK(carried > 1000);
}

TEST_CASE("a long stream over a line that loses a quarter each way ends after ten minutes")
{
    uint64_t carried = 0;

    CHECK(random_world(50770055, 100000, carried) == "");
}

TEST_CASE("a thousand ranks talk to one another on a bad network")
{
    Options o;

    o.ranks = 1000;
    o.packet_bytes = 512;
    o.faults = {0.02, 0.01, 0.05, 0.001, 0.001, 0.001};
    Sim sim(o);
    for (uint32_t r = 0; r < o.ranks; r++) {
        for (uint32_t k = 0; k < 10; k++)
            sim.add({r, (r * 7 + k * k * 31) % o.ranks, 10, 48, 0.5});
    }
    CHECK(sim.run(60 * SECOND) == "");
    CHECK(sim.total().refused[RELIABLE_REFUSED_FORGED] > 0);
}

TEST_CASE("65536 ranks talk to their parents and children in a tree on a bad network")
{
    constexpr uint32_t fan_out = 32;
    Options o;

    o.ranks = 65536;
    o.packet_bytes = 512;
    o.faults = {0.01, 0.01, 0.01, 0.001, 0.001, 0.001};
    Sim sim(o);
    for (uint32_t r = 1; r < o.ranks; r++) {
        sim.add({r, (r - 1) / fan_out, 3});
        sim.add({(r - 1) / fan_out, r, 3});
    }
    CHECK(sim.run(60 * SECOND) == "");
    CHECK(sim.messages() == 6ull * (o.ranks - 1));
    CHECK(sim.total().connections == 2ull * (o.ranks - 1)); // those who never talk cost nothing
}

// ---- congestion ------------------------------------------------------------------------

TEST_CASE("many senders to one: the receiver is kept busy and nobody starves")
{
    const uint32_t senders = GENERATE(1u, 2u, 8u, 32u, 100u);
    Options o;
    uint64_t least = UINT64_MAX, most = 0, sum = 0;

    o.ranks = senders + 1;
    o.service_ns = 1000;
    o.backlog = 256;
    Sim sim(o);
    for (uint32_t s = 1; s <= senders; s++)
        sim.add({s, 0, UINT32_MAX, 48});
    REQUIRE(sim.pass(SECOND / 10) == "");
    for (uint32_t s = 1; s <= senders; s++) {
        const uint64_t n = sim.delivered(s, 0);

        least = std::min(least, n);
        most = std::max(most, n);
        sum += n;
    }
    INFO(senders << " senders: " << least << " to " << most << " messages each, in all " << sum);
    CHECK(2 * least > most);
    CHECK(sum > 100000 * 25); // a packet per us, some 33 messages in each
}

TEST_CASE("far more senders than the receiver can hold packets still all get on")
{
    const uint32_t senders = 500;
    Options o;

    o.ranks = senders + 1;
    o.service_ns = 1000;
    o.backlog = 256;
    Sim sim(o);
    for (uint32_t s = 1; s <= senders; s++)
        sim.add({s, 0, 2000, 48});
    REQUIRE(sim.run(10 * SECOND) == "");
    CHECK(sim.finished() < 10 * (senders * 2000 / 33)); // ten times what the receiver needs
}

// One world says little: of twenty the luckiest keeps two thirds, the unluckiest two fifths.
TEST_CASE("at 1% loss streams keep more than half of their speed on the average")
{
    const int worlds = 20;
    double kept = 0;

    for (int seed = 1; seed <= worlds; seed++) {
        Options clean, lossy;

        clean.service_ns = lossy.service_ns = 400; // as 3.5 GB/s
        clean.seed = lossy.seed = static_cast<uint64_t>(seed);
        lossy.faults.loss = 0.01;
        kept += static_cast<double>(stream(clean, 100000)) /
                static_cast<double>(stream(lossy, 100000)) / worlds;
    }
    INFO("kept on the average: " << kept);
    CHECK(kept > 0.55);
}

TEST_CASE("hardly more is sent again than was lost")
{
    Options o;

    o.faults.loss = 0.01;
    Sim sim(o);
    sim.add({0, 1, 100000});
    REQUIRE(sim.run(600 * SECOND) == "");
    CHECK(sim.total().sent_again * 50 < sim.total().sent);
}

TEST_CASE("nothing is sent again on a network without faults")
{
    Options o;

    o.ranks = 8;
    Sim sim(o);
    for (uint32_t r = 0; r < 8; r++) {
        for (uint32_t to = 0; to < 8; to++)
            sim.add({r, to, 5000, 48, 0.5});
    }
    REQUIRE(sim.run(60 * SECOND) == "");
    CHECK(sim.total().sent_again == 0);
    CHECK(sim.total().duplicates == 0);
}

// ---- lengths of packets ------------------------------------------------------------------

TEST_CASE("packets become as long as the way lets pass, and no longer")
{
    struct Way {
        uint32_t mtu, longest;
        uint64_t narrow;
    };
    const Way way =
        GENERATE(Way{9000, 8960, 0}, Way{1500, 1408, 1}, Way{1300, 1152, 1}, Way{600, 512, 1});
    Options o;

    o.packet_bytes = 8960;
    o.packet_sure = 512;
    o.mtu = way.mtu;
    Sim sim(o);
    sim.add({0, 1, 100, 8000}); // finds out
    REQUIRE(sim.run(10 * SECOND) == "");
    REQUIRE(sim.pass(SECOND) == "");
    const auto found = sim.stats(0);
    sim.take_longest();
    sim.add({0, 1, 1000, 8000});
    CHECK(sim.run(sim.now() + 10 * SECOND) == "");
    INFO("MTU " << way.mtu << ", " << found.probes << " probes");
    CHECK(sim.take_longest() == way.longest);
    CHECK(found.narrow == way.narrow);
    CHECK(sim.stats(0).probes == found.probes);
    CHECK(sim.total().sent_again == 0);
}

TEST_CASE("a bad line does not make packets short")
{
    Options o;

    o.faults.loss = 0.05;
    o.packet_bytes = 8960;
    o.packet_sure = 512;
    Sim sim(o);
    for (uint32_t i = 0; i < 8; i++)
        sim.add({0, 1, 200, 8000});
    CHECK(sim.run(60 * SECOND) == "");
    CHECK(sim.stats(0).narrow == 0);
}

// What the probes have found is not asked again, and packets are not cut anew.
TEST_CASE("a way that becomes narrower is an error and no hang")
{
    Options o;

    o.packet_bytes = 8960;
    o.packet_sure = 512;
    Sim sim(o);
    sim.add({0, 1, 1000000, 8000});
    sim.at(SECOND / 100, [&] { sim.narrow(1500); });
    REQUIRE(sim.pass(SECOND) == "");
    const uint64_t delivered = sim.delivered(0, 1);
    REQUIRE(sim.pass(9 * SECOND) == "");
    CHECK(sim.delivered(0, 1) == delivered);
    CHECK(sim.died(0).empty());
    CHECK(sim.pass(4 * SECOND) == "");
    CHECK(sim.died(0) == std::vector<uint32_t>{1});
    CHECK(sim.pass(12 * SECOND) == "");
    CHECK(sim.died(1) == std::vector<uint32_t>{0});
}

// ---- cuts and deaths ---------------------------------------------------------------------

TEST_CASE("a cut shorter than the peer timeout loses nothing")
{
    Options o;

    o.ranks = 4;
    Sim sim(o);
    for (uint32_t r = 0; r < 4; r++)
        sim.add({r, (r + 1) % 4, 500000, 48, 0.1});
    sim.at(1000, [&] { sim.cut(2, true); });
    sim.at(9 * SECOND, [&] { sim.cut(2, false); });
    CHECK(sim.run(60 * SECOND) == "");
    CHECK(sim.finished() > 9 * SECOND);
    for (uint32_t r = 0; r < 4; r++)
        CHECK(sim.died(r).empty());
}

// The heartbeats of 10 s are closer to one another than the round trip takes.
TEST_CASE("what a cut has lost goes again though the round trip is long")
{
    Options o;

    o.delay = SECOND / 10;
    Sim sim(o);
    sim.add({0, 1, 60000});
    sim.at(SECOND, [&] { sim.cut(1, true); });
    sim.at(SECOND + SECOND / 5, [&] { sim.cut(1, false); });
    CHECK(sim.run(60 * SECOND) == "");
    INFO("finished after " << sim.finished() << " us");
    CHECK(sim.finished() < 8 * SECOND);
}

TEST_CASE("a rank that does not look for a while is waited for")
{
    Options o;

    o.ranks = 3;
    Sim sim(o);
    for (uint32_t r = 0; r < 3; r++)
        sim.add({r, (r + 1) % 3, 100000, 48, 0.1});
    sim.at(1000, [&] { sim.pause(1, true); });
    sim.at(5 * SECOND, [&] { sim.pause(1, false); });
    CHECK(sim.run(60 * SECOND) == "");
    for (uint32_t r = 0; r < 3; r++)
        CHECK(sim.died(r).empty());
}

TEST_CASE("who is idle on a bad line is not taken for dead")
{
    Sim sim({.ranks = 2, .seed = 5, .faults = {.loss = 0.25}});

    sim.add({0, 1, 1});
    CHECK(sim.run(10 * SECOND) == "");
    CHECK(sim.pass(100 * 3600 * SECOND) == "");
    CHECK(sim.died(0).empty());
    CHECK(sim.died(1).empty());
}

TEST_CASE("a dead rank is found by all who talked to it, and only that one")
{
    const bool busy = GENERATE(true, false);
    Options o;

    o.ranks = 6;
    o.faults.loss = 0.05;
    Sim sim(o);
    for (uint32_t r = 0; r < 5; r++)
        sim.add({r, 5, busy ? uint64_t{UINT32_MAX} : 1, 48});
    sim.at(SECOND / 100, [&] { sim.kill(5); });
    REQUIRE(sim.pass(9 * SECOND) == "");
    for (uint32_t r = 0; r < 5; r++)
        CHECK(sim.died(r).empty());
    REQUIRE(sim.pass(5 * SECOND) == "");
    for (uint32_t r = 0; r < 5; r++) {
        INFO((busy ? "busy" : "idle") << ", rank " << r);
        CHECK(sim.died(r) == std::vector<uint32_t>{5});
    }
}
