// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol through one port of 25 Gb/s: how much of it senders get, how they share it, and what
// is lost meanwhile.  Goodput is of messages, and headers take 9 %.
#include <catch2/catch.hpp>

#include <algorithm>

#include "port.h"

using namespace port;

namespace {

constexpr double MOST = 0.905; // of the port, what messages can get

void show(const Report &r)
{
    UNSCOPED_INFO("goodput " << r.goodput << ", TCPs " << r.reno_goodput << " and "
                             << r.cubic_goodput << ", Jain " << r.jain << " (" << r.least << " to "
                             << r.most << "), drops " << r.drops << ", sent again " << r.sent_again
                             << ", median queue " << r.queue << " bytes, " << r.stats.timeouts
                             << " time-outs, " << r.stats.congestions << " cuts, "
                             << r.stats.spurious << " spurious, " << r.stats.undone << " undone");
}

// Of those with a seed from 1 to `worlds`: the mean goodputs, and the worst of the rest.
Report mean(Options options, int worlds, double seconds)
{
    Report sum;

    sum.jain = sum.least = 1;
    for (int seed = 1; seed <= worlds; seed++) {
        options.seed = static_cast<uint64_t>(seed);
        const Report one = run(options, seconds);

        show(one);
        sum.goodput += one.goodput / worlds;
        sum.reno_goodput += one.reno_goodput / worlds;
        sum.cubic_goodput += one.cubic_goodput / worlds;
        sum.drops = std::max(sum.drops, one.drops);
        sum.sent_again = std::max(sum.sent_again, one.sent_again);
        sum.jain = std::min(sum.jain, one.jain);
        sum.least = std::min(sum.least, one.least);
    }
    return sum;
}

} // namespace

TEST_CASE("one sender fills the port")
{
    const Report r = mean({}, 2, 0.05);

    CHECK(r.goodput > MOST);
    CHECK(r.drops == 0);
}

TEST_CASE("many senders share the port equally, and lose little")
{
    const uint32_t ranks = GENERATE(2u, 8u, 32u);
    const uint64_t buffer = GENERATE(256u, 512u);
    Options o;

    o.ranks = ranks;
    o.buffer = buffer * 1024;
    const Report r = mean(o, 2, 0.1);
    INFO(ranks << " senders, a buffer of " << buffer << " KiB");
    CHECK(r.goodput > 0.9);
    CHECK(r.jain > 0.95);
    CHECK(r.drops < 0.05);
}

TEST_CASE("where the port marks packets, many senders lose none")
{
    const uint32_t ranks = GENERATE(4u, 32u, 64u);
    Options o;

    o.ranks = ranks;
    o.buffer = 256 * 1024;
    o.mark = 64 * 1024;
    const Report r = mean(o, 2, 0.1);
    INFO(ranks << " senders");
    CHECK(r.goodput > 0.9);
    CHECK(r.jain > 0.95);
    CHECK(r.drops < 0.001);
}

TEST_CASE("packets that are late are not taken for lost")
{
    const double round_trip = GENERATE(5., 10., 50.), interface = GENERATE(25., 100.);
    Options o;

    o.late = 0.01;
    o.round_trip_us = round_trip;
    o.interface_gbit = interface;
    const Report r = mean(o, 3, 0.05);
    INFO("1 % late by 1 to 5 us, a round trip of " << round_trip << " us");
    CHECK(r.goodput > 0.85);
    CHECK(r.sent_again < 0.005);
}

TEST_CASE("with 1 % of packets lost a sender keeps 60 % of the port")
{
    const double round_trip = GENERATE(10., 50.);
    Options o;

    o.loss = 0.01;
    o.round_trip_us = round_trip;
    const Report r = mean(o, 3, 0.1);
    INFO("a round trip of " << round_trip << " us");
    CHECK(r.goodput > 0.6);
    CHECK(r.sent_again < 0.015);
}

TEST_CASE("one sender fills a port of 100 Gb/s over a round trip of 50 us")
{
    Options o;

    o.gbit = 100;
    o.round_trip_us = 50;
    o.buffer = 2 << 20;
    const Report r = run(o, 0.05);
    show(r);
    CHECK(r.goodput > 0.9);
    CHECK(r.stats.congestions == 0);
}

TEST_CASE("a thousand packets in flight find their losses, too")
{
    Options o;

    o.gbit = 100;
    o.round_trip_us = 50;
    o.buffer = 2 << 20;
    o.loss = 0.0001;
    const Report r = mean(o, 2, 0.1);
    CHECK(r.goodput > 0.8);
    CHECK(r.sent_again < 0.0005);
}

TEST_CASE("all who begin to send at once are done not much later than the port allows")
{
    Options o;

    o.ranks = 32;
    o.burst = 65536;
    Report r = run(o, 0.1);
    show(r);
    REQUIRE(r.bursts.size() > 50);
    std::sort(r.bursts.begin(), r.bursts.end());
    const double ideal = static_cast<double>(o.ranks * o.burst) * 8 / o.gbit / 1000 / MOST;
    INFO("ideal " << ideal << " us, median " << r.bursts[r.bursts.size() / 2]);
    CHECK(r.bursts[r.bursts.size() / 2] < 1.25 * ideal);
    CHECK(r.drops < 0.05);
}

TEST_CASE("TCPs that meet us at the port get their share, and leave us ours")
{
    struct Rivals {
        uint32_t ranks, renos, cubics;
    };
    const auto rivals = GENERATE(Rivals{4, 4, 0}, Rivals{4, 0, 4});
    Options o;

    o.ranks = rivals.ranks;
    o.renos = rivals.renos;
    o.cubics = rivals.cubics;
    const Report r = mean(o, 2, 0.2);
    const double theirs = r.reno_goodput + r.cubic_goodput;
    INFO(r.goodput << " and " << theirs);
    CHECK(r.goodput < 1.5 * theirs);
    CHECK(theirs < 1.5 * r.goodput);
    CHECK(r.goodput + theirs > 0.9);
}

// ---- the same for longer, and in more worlds ------------------------------------------------

TEST_CASE("in the long run TCPs and we share the port", "[long]")
{
    const uint32_t each = GENERATE(1u, 2u, 4u, 8u);
    const bool cubic = GENERATE(false, true);
    const uint64_t buffer = GENERATE(256u, 512u, 1024u);
    const double round_trip = GENERATE(10., 50.);
    const double most = buffer > 512 ? 1.8 : 1.5; // deep buffers are CUBIC's home
    Options o;

    o.ranks = each;
    (cubic ? o.cubics : o.renos) = each;
    o.buffer = buffer * 1024;
    o.round_trip_us = round_trip;
    const Report r = mean(o, 4, 1);
    const double theirs = r.reno_goodput + r.cubic_goodput;
    INFO(each << (cubic ? " CUBICs" : " Renos") << ", " << buffer << " KiB, " << round_trip
              << " us: " << r.goodput << " and " << theirs);
    CHECK(r.goodput < most * theirs);
    CHECK(theirs < most * r.goodput);
}

TEST_CASE("many senders share the port in many worlds", "[long]")
{
    const uint32_t ranks = GENERATE(4u, 16u, 32u, 48u);
    const double round_trip = GENERATE(5., 10., 50.);
    Options o;

    o.ranks = ranks;
    o.round_trip_us = round_trip;
    const Report r = mean(o, 10, 0.5);
    INFO(ranks << " senders, " << round_trip << " us");
    CHECK(r.goodput > 0.9);
    CHECK(r.jain > 0.95);
    CHECK(r.drops < 0.05);
}
