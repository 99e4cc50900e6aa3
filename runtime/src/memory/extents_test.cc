// SPDX-License-Identifier: BSD-3-Clause
#include "extents.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <random>
#include <vector>

namespace {

constexpr uint64_t start = 0x200000000000;
constexpr uint64_t size = 1 << 20;

// An allocator that closes itself.
struct Extents : splitc_extents {
    Extents() { REQUIRE(splitc_extents_open(this, start, size) == 0); }
    ~Extents() { splitc_extents_close(this); }
    Extents(const Extents &) = delete;
    Extents &operator=(const Extents &) = delete;

    uint64_t take(uint64_t bytes)
    {
        uint64_t at = 0;

        REQUIRE(splitc_extents_alloc(this, bytes, &at) == 0);
        return at;
    }

    uint64_t give(uint64_t at)
    {
        uint64_t bytes = 0;

        REQUIRE(splitc_extents_free(this, at, &bytes) == 0);
        return bytes;
    }
};

// The extents tile the range, none is empty, and no two free ones touch.
void check_tiling(const Extents &x)
{
    uint64_t next = start;

    for (size_t i = 0; i < x.count; i++) {
        const splitc_extent &e = x.extent[i];

        REQUIRE(e.start == next);
        REQUIRE(e.size > 0);
        REQUIRE((e.used || i == 0 || x.extent[i - 1].used));
        next = e.start + e.size;
    }
    REQUIRE(next == start + size);
}

// What is allocated, by address.
using Model = std::map<uint64_t, uint64_t>;

// The size of the largest gap between allocations.
uint64_t largest_gap(const Model &model)
{
    uint64_t largest = 0, end = start;

    for (auto [at, bytes] : model) {
        largest = std::max(largest, at - end);
        end = at + bytes;
    }
    return std::max(largest, start + size - end);
}

// A random sequence of calls against the model; returns the addresses it got.
std::vector<uint64_t> run_random(unsigned seed, unsigned calls)
{
    std::mt19937 random(seed);
    std::vector<uint64_t> log;
    Extents x;
    Model model;

    for (unsigned i = 0; i < calls; i++) {
        uint64_t bytes = 1 + random() % (random() % 8 ? 2000 : 200000), at = 0, freed = 0;

        if (random() % 2 && !model.empty()) {
            auto victim = std::next(model.begin(), random() % model.size());

            REQUIRE(splitc_extents_free(&x, victim->first, &freed) == 0);
            REQUIRE(freed == victim->second);
            model.erase(victim);
        } else if (splitc_extents_alloc(&x, bytes, &at) == 0) {
            auto next = model.lower_bound(at);

            REQUIRE(at >= start);
            REQUIRE(at + bytes <= (next == model.end() ? start + size : next->first));
            REQUIRE(
                (next == model.begin() || std::prev(next)->first + std::prev(next)->second <= at));
            model.emplace(at, bytes);
            log.push_back(at);
        } else {
            REQUIRE(bytes > largest_gap(model));
        }
        REQUIRE(splitc_extents_largest(&x) == largest_gap(model));
        check_tiling(x);
    }
    return log;
}

} // namespace

TEST_CASE("extents: a new range is one free extent")
{
    Extents x;

    CHECK(splitc_extents_largest(&x) == size);
    CHECK(x.take(size) == start);
    CHECK(splitc_extents_largest(&x) == 0);
    CHECK(x.give(start) == size);
    CHECK(splitc_extents_largest(&x) == size);
}

TEST_CASE("extents: what does not fit is refused and changes nothing")
{
    Extents x;
    uint64_t at = 42;

    CHECK(splitc_extents_alloc(&x, size + 1, &at) == -ENOSPC);
    x.take(size - 10);
    CHECK(splitc_extents_alloc(&x, 11, &at) == -ENOSPC);
    CHECK(at == 42);
    CHECK(splitc_extents_largest(&x) == 10);
    check_tiling(x);
}

TEST_CASE("extents: the smallest gap that fits is taken")
{
    Extents x;
    uint64_t large = x.take(1000);

    x.take(1);
    uint64_t small = x.take(100);
    x.take(1);
    x.give(large);
    x.give(small);
    CHECK(x.take(100) == small);
    CHECK(x.take(500) == large);
}

TEST_CASE("extents: of equal gaps the lowest is taken")
{
    Extents x;
    uint64_t a = x.take(64);

    x.take(1);
    uint64_t b = x.take(64);
    x.take(1);
    x.give(b);
    x.give(a);
    CHECK(x.take(64) == a);
    CHECK(x.take(64) == b);
}

TEST_CASE("extents: neighbours join in whatever order they are freed")
{
    unsigned order = GENERATE(0u, 1u, 2u, 3u, 4u, 5u);
    const unsigned orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    Extents x;
    uint64_t block[3] = {x.take(10), x.take(20), x.take(30)};

    for (unsigned i : orders[order])
        x.give(block[i]);
    CHECK(x.count == 1);
    CHECK(splitc_extents_largest(&x) == size);
}

TEST_CASE("extents: only the start of an allocation can be freed")
{
    Extents x;
    uint64_t at = x.take(100), bytes = 42;

    CHECK(splitc_extents_free(&x, at + 1, &bytes) == -EINVAL);
    CHECK(splitc_extents_free(&x, at + 100, &bytes) == -EINVAL);
    CHECK(splitc_extents_free(&x, at - 1, &bytes) == -EINVAL);
    CHECK(splitc_extents_free(&x, start + size, &bytes) == -EINVAL);
    CHECK(bytes == 42);
    x.give(at);
    CHECK(splitc_extents_free(&x, at, &bytes) == -EINVAL);
}

TEST_CASE("extents: random calls agree with a model")
{
    unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);

    INFO("seed " << seed);
    run_random(seed, 3000);
}

TEST_CASE("extents: the same calls give the same addresses")
{
    CHECK(run_random(99, 3000) == run_random(99, 3000));
}

TEST_CASE("extents: the table grows with the number of allocations")
{
    Extents x;
    std::vector<uint64_t> blocks;

    for (unsigned i = 0; i < 5000; i++)
        blocks.push_back(x.take(8));
    CHECK(x.count == 5001);
    for (uint64_t at : blocks)
        x.give(at);
    CHECK(x.count == 1);
}
