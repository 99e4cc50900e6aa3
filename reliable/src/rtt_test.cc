// SPDX-License-Identifier: BSD-3-Clause
//
// rtt_test.cc - round-trip times against RFC 6298 in whole numbers.
#include <catch2/catch.hpp>

#include <vector>

extern "C" {
#include "src/connection.h"
}

namespace {

reliable_rtt fresh()
{
    static reliable_connection conn;

    conn = {};
    reliable_rtt_open(&conn);
    return conn.rtt;
}

reliable_rtt after(const std::vector<uint64_t> &samples)
{
    reliable_rtt rtt = fresh();

    for (uint64_t us : samples)
        reliable_rtt_sample(&rtt, 1, us);
    return rtt;
}

} // namespace

TEST_CASE("before the first sample the time-out is 20 ms")
{
    const reliable_rtt rtt = fresh();

    CHECK(reliable_rtt_timeout(&rtt) == 20000);
}

TEST_CASE("the first sample is the estimate, and half of it the deviation")
{
    const reliable_rtt rtt = after({1000});

    CHECK(rtt.srtt == 8000);
    CHECK(rtt.rttvar == 2000);
    CHECK(rtt.latest == 1000);
    CHECK(reliable_rtt_min(&rtt) == 1000);
    CHECK(reliable_rtt_timeout(&rtt) == 1000 + 2000); // srtt + 4 * rttvar of the RFC
}

TEST_CASE("later samples count an eighth for the estimate and a quarter for the deviation")
{
    // R = 1000, then 1800: srtt = 1000 + 800 / 8, rttvar = 500 + (800 - 500) / 4
    const reliable_rtt longer = after({1000, 1800});
    CHECK(longer.srtt == 8 * 1100);
    CHECK(longer.rttvar == 4 * 525);
    CHECK(longer.latest == 1800);
    CHECK(reliable_rtt_min(&longer) == 1000);

    // then 200: srtt = 1000 - 800 / 8, and the deviation grows as well
    const reliable_rtt shorter = after({1000, 200});
    CHECK(shorter.srtt == 8 * 900);
    CHECK(shorter.rttvar == 4 * 525);
    CHECK(reliable_rtt_min(&shorter) == 200);
}

TEST_CASE("the estimate follows what does not change, and the time-out has a least")
{
    const reliable_rtt rtt = after(std::vector<uint64_t>(200, 40));

    CHECK(rtt.srtt == 8 * 40);
    CHECK(rtt.rttvar < 4);
    CHECK(reliable_rtt_timeout(&rtt) == 500);
}

TEST_CASE("a round trip of less than a microsecond counts as one")
{
    const reliable_rtt rtt = after({0});

    CHECK(reliable_rtt_min(&rtt) == 1);
    CHECK(rtt.srtt == 8);
}

TEST_CASE("a round trip has grown when it is more than one and a half times the shortest")
{
    const auto grown = [](uint64_t us) {
        const reliable_rtt rtt = after({100, us});
        return reliable_rtt_has_grown(&rtt);
    };

    CHECK_FALSE(grown(90));
    CHECK_FALSE(grown(150));
    CHECK(grown(151));
}

TEST_CASE("the shortest round trip is that of the last 5 to 10 s")
{
    const uint64_t second = 1000000;
    reliable_rtt rtt = fresh();

    reliable_rtt_sample(&rtt, second, 50);
    reliable_rtt_sample(&rtt, 5 * second, 100);
    CHECK(reliable_rtt_min(&rtt) == 50);
    reliable_rtt_sample(&rtt, 7 * second, 100);
    CHECK(reliable_rtt_min(&rtt) == 50);
    reliable_rtt_sample(&rtt, 13 * second, 200);
    CHECK(reliable_rtt_min(&rtt) == 100);
    reliable_rtt_sample(&rtt, 100 * second, 300); // long after
    CHECK(reliable_rtt_min(&rtt) == 300);
}

TEST_CASE("the probe time-out is two round trips, four deviations and a delayed acknowledgement")
{
    const reliable_rtt rtt = after({1000}), none = fresh();

    CHECK(reliable_rtt_probe_timeout(&rtt) == 2 * 1000 + 4 * 500 + RELIABLE_ACK_DELAY_US);
    CHECK(reliable_rtt_probe_timeout(&none) == RELIABLE_NEVER);
}
