// SPDX-License-Identifier: BSD-3-Clause
#include "kept.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace {

constexpr uint64_t MIB = 1 << 20;

std::vector<uint64_t> add(splitc_kept &kept, uint64_t start, uint64_t size)
{
    std::vector<uint64_t> displaced;
    splitc_kept_range gone;

    while (splitc_kept_displace(&kept, size, &gone))
        displaced.push_back(gone.start);
    splitc_kept_add(&kept, start, size);
    return displaced;
}

} // namespace

TEST_CASE("the oldest ranges make room for a new one")
{
    splitc_kept kept = {};

    CHECK(add(kept, 0, 100 * MIB).empty());
    CHECK(add(kept, 1000 * MIB, 100 * MIB).empty());
    CHECK(add(kept, 2000 * MIB, 56 * MIB).empty());
    CHECK(kept.bytes == SPLITC_KEPT_BYTES);
    CHECK(add(kept, 3000 * MIB, 101 * MIB) == std::vector<uint64_t>{0, 1000 * MIB});
    CHECK(kept.bytes == 157 * MIB);
    CHECK(add(kept, 4000 * MIB, SPLITC_KEPT_BYTES) ==
          std::vector<uint64_t>{2000 * MIB, 3000 * MIB});
}

TEST_CASE("there are only so many ranges")
{
    splitc_kept kept = {};

    for (uint64_t i = 0; i < SPLITC_KEPT_RANGES; i++)
        CHECK(add(kept, 10 * i * MIB, MIB).empty());
    CHECK(add(kept, 10000 * MIB, MIB) == std::vector<uint64_t>{0});
}

TEST_CASE("what is in use again is no longer kept")
{
    splitc_kept kept = {};

    add(kept, 100 * MIB, 10 * MIB);
    SECTION("all of it")
    {
        splitc_kept_reuse(&kept, 90 * MIB, 20 * MIB);
        CHECK(kept.count == 0);
        CHECK(kept.bytes == 0);
    }
    SECTION("its begin")
    {
        splitc_kept_reuse(&kept, 100 * MIB, 3 * MIB);
        CHECK(kept.range[0].start == 103 * MIB);
        CHECK(kept.bytes == 7 * MIB);
    }
    SECTION("its middle: the longer piece is left")
    {
        splitc_kept_reuse(&kept, 106 * MIB, 1 * MIB);
        CHECK(kept.range[0].end == 106 * MIB);
        CHECK(kept.bytes == 6 * MIB);
    }
    SECTION("its neighbour")
    {
        splitc_kept_reuse(&kept, 110 * MIB, 1 * MIB);
        splitc_kept_reuse(&kept, 99 * MIB, 1 * MIB);
        CHECK(kept.bytes == 10 * MIB);
    }
}

TEST_CASE("nothing in use is ever kept, and the bytes are those of the ranges")
{
    const unsigned seed = GENERATE(range(1u, 20u));
    std::mt19937 random(seed);
    std::vector<bool> used(512, true); // in units of 1 MiB
    splitc_kept kept = {};

    INFO("seed " << seed);
    for (int step = 0; step < 2000; step++) {
        uint64_t start = random() % 500, size = 1 + random() % 12, bytes = 0;
        bool free = random() % 2;

        for (uint64_t i = start; i < start + size; i++)
            if (used[i] != free)
                size = i - start; // as an allocator would: all of it used, or all of it free
        if (size == 0)
            continue;
        if (free)
            add(kept, start * MIB, size * MIB);
        else
            splitc_kept_reuse(&kept, start * MIB, size * MIB);
        for (uint64_t i = start; i < start + size; i++)
            used[i] = !free;
        for (unsigned i = 0; i < kept.count; i++) {
            bytes += kept.range[i].end - kept.range[i].start;
            for (uint64_t at = kept.range[i].start; at < kept.range[i].end; at += MIB)
                REQUIRE_FALSE(used[at / MIB]);
        }
        REQUIRE(kept.bytes == bytes);
        REQUIRE(bytes <= SPLITC_KEPT_BYTES);
    }
}
