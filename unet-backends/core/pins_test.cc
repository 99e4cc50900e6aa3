// SPDX-License-Identifier: BSD-3-Clause
//
// The table of pinned pages, over a pinner that keeps a list of what is pinned.
extern "C" {
#include "core/pins.h"
}

#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <random>
#include <set>
#include <unistd.h>
#include <vector>

namespace {

constexpr uint64_t kBlockPages = UNET_PINS_BLOCK_PAGES;

// Pins at most `limit` pages, and none that is in `absent`.
struct Pinner {
    Pinner()
    {
        static const unet_pins_ops ops = {
            [](void *self, const unet_pins_pages *p) {
                return static_cast<Pinner *>(self)->pin(*p);
            },
            [](void *self, const unet_pins_pages *p) { static_cast<Pinner *>(self)->unpin(*p); },
        };
        unet_pins_init(&pins, &ops, this);
    }
    ~Pinner() { unet_pins_free(&pins); }
    Pinner(const Pinner &) = delete;
    Pinner &operator=(const Pinner &) = delete;

    int pin(const unet_pins_pages &p)
    {
        calls++;
        REQUIRE(p.count >= 1);
        REQUIRE(p.count <= kBlockPages);
        for (uint64_t page = p.first; page < p.first + p.count; page++) {
            REQUIRE(page < pages);
            REQUIRE(pinned.count(page) == 0); // never twice
            if (absent.count(page) > 0)
                return -EFAULT;
        }
        if (pinned.size() + p.count > limit)
            return -ENOBUFS;
        for (uint64_t page = p.first; page < p.first + p.count; page++)
            pinned.insert(page);
        return 0;
    }

    void unpin(const unet_pins_pages &p)
    {
        for (uint64_t page = p.first; page < p.first + p.count; page++)
            pinned.erase(page);
    }

    void open(uint64_t count)
    {
        pages = count;
        REQUIRE(unet_pins_range_open(&pins, 1, count * page_bytes) == 0);
    }

    int hold(uint64_t page, uint64_t count = 1)
    {
        return unet_pins_hold(&pins, UNET_PLACE(1, page * page_bytes), count * page_bytes);
    }

    void release(uint64_t page, uint64_t count = 1)
    {
        unet_pins_release(&pins, UNET_PLACE(1, page * page_bytes), count * page_bytes);
    }

    bool has(uint64_t page, uint64_t count = 1) const
    {
        for (uint64_t i = page; i < page + count; i++)
            if (pinned.count(i) == 0)
                return false;
        return true;
    }

    const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    unet_pins pins;
    uint64_t pages = 0;
    size_t limit = SIZE_MAX, calls = 0;
    std::set<uint64_t> pinned, absent;
};

} // namespace

TEST_CASE("pins: what is held once is found again without the pinner")
{
    Pinner p;
    p.open(10 * kBlockPages);

    REQUIRE(p.hold(3) == 0);
    CHECK(p.calls == 1);
    CHECK(p.pinned.size() == kBlockPages); // its block
    CHECK(p.hold(5, 4) == 0);
    p.release(3);
    p.release(5, 4);
    CHECK(p.hold(0, kBlockPages) == 0);
    CHECK(p.calls == 1);
    CHECK(p.pins.misses == 1);
    CHECK(p.pins.hits == 2);
    CHECK(p.hold(kBlockPages - 1, 2) == 0); // one that is there, and one that is not
    CHECK(p.calls == 2);
}

TEST_CASE("pins: at a limit the oldest go that nobody holds, and no others")
{
    Pinner p;
    p.open(10 * kBlockPages);
    p.limit = 3 * kBlockPages;

    REQUIRE(p.hold(0) == 0); // for good
    for (uint64_t block = 1; block < 3; block++) {
        REQUIRE(p.hold(block * kBlockPages) == 0);
        p.release(block * kBlockPages);
    }
    REQUIRE(p.hold(3 * kBlockPages) == 0);
    CHECK(p.pins.evictions == 1);
    CHECK(p.has(0));
    CHECK_FALSE(p.has(1 * kBlockPages));
    CHECK(p.has(2 * kBlockPages));
    CHECK(p.hold(4 * kBlockPages, 2 * kBlockPages) == -ENOBUFS); // two, where one may go
    CHECK(p.has(0));
    CHECK(p.has(3 * kBlockPages));
    CHECK(p.hold(5 * kBlockPages) == 0); // what had no room holds nothing
    CHECK(p.hold(6 * kBlockPages) == -ENOBUFS);
}

TEST_CASE("pins: of a block with holes the part is pinned that was asked for")
{
    Pinner p;
    p.open(2 * kBlockPages);
    p.absent = {4};

    CHECK(p.hold(0, kBlockPages) == -EFAULT);
    CHECK(p.pinned.empty());
    REQUIRE(p.hold(6, 2) == 0);
    CHECK(p.pinned == std::set<uint64_t>{6, 7});
    CHECK(p.hold(7) == 0);
    CHECK(p.hold(8) == -EBUSY); // more of it, while it is held
    p.release(6, 2);
    p.release(7);
    CHECK(p.hold(8) == 0);
    CHECK(p.pinned == std::set<uint64_t>{8});
    CHECK(p.hold(2, 2) == -EBUSY);
}

TEST_CASE("pins: the last block of a range may be short")
{
    Pinner p;
    p.open(kBlockPages + 3);

    REQUIRE(p.hold(kBlockPages, 3) == 0);
    CHECK(p.pinned.size() == 3);
    CHECK(p.hold(kBlockPages, 4) == -EINVAL);
    CHECK(p.hold(0, kBlockPages + 3) == 0);
}

TEST_CASE("pins: when mappings change nothing is believed that nobody holds")
{
    Pinner p;
    p.open(4 * kBlockPages);

    REQUIRE(p.hold(0) == 0);
    REQUIRE(p.hold(kBlockPages) == 0);
    p.release(kBlockPages);
    unet_pins_distrust(&p.pins);
    CHECK(p.has(0)); // held
    CHECK_FALSE(p.has(kBlockPages));
    CHECK(p.hold(1) == -EBUSY); // it may be other memory by now
    CHECK(p.hold(kBlockPages) == 0);
    p.release(0);
    const size_t before = p.calls;
    CHECK(p.hold(1) == 0);
    CHECK(p.calls == before + 1);
}

TEST_CASE("pins: what is no place is refused")
{
    Pinner p;

    CHECK(unet_pins_hold(&p.pins, UNET_PLACE(1, 0), 1) == -EINVAL);
    CHECK_FALSE(unet_pins_range_close(&p.pins, 1));
    p.open(kBlockPages);
    CHECK(unet_pins_hold(&p.pins, UNET_PLACE(1, 0), 0) == -EINVAL);
    CHECK(unet_pins_hold(&p.pins, UNET_PLACE(0, 0), 1) == -EINVAL);
    CHECK(unet_pins_hold(&p.pins, UNET_PLACE(UNET_RANGES_MAX + 1, 0), 1) == -EINVAL);
    CHECK(unet_pins_hold(&p.pins, UNET_PLACE(1, 1), UINT64_MAX) == -EINVAL);
    unet_pins_release(&p.pins, UNET_PLACE(1, 0), 1); // of what nobody holds
    REQUIRE(p.hold(0) == 0);
    CHECK(unet_pins_range_close(&p.pins, 1));
    CHECK(p.pins.count == 0);
    CHECK(p.hold(0) == -EINVAL);
}

TEST_CASE("pins: a block is held as often as it is released, and no more than can be counted")
{
    Pinner p;
    p.open(kBlockPages);

    for (int i = 0; i < 0xffff; i++)
        REQUIRE(p.hold(0) == 0);
    CHECK(p.hold(0) == -EBUSY);
    p.release(0);
    CHECK(p.hold(0) == 0);
    CHECK(p.calls == 1);
}

// What is held is pinned, whatever else comes and goes.
TEST_CASE("pins: random holders never lose a page")
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto below = [&](uint64_t n) { return random() % n; };
        Pinner p;
        p.open(20 * kBlockPages + below(kBlockPages) + 1);
        p.limit = (4 + below(8)) * kBlockPages;
        for (uint64_t i = below(20); i > 0; i--)
            p.absent.insert(below(p.pages));
        std::vector<std::pair<uint64_t, uint64_t>> held;
        size_t refused = 0;

        for (int step = 0; step < 2000; step++) {
            const uint64_t first = below(p.pages), count = 1 + below(3 * kBlockPages);
            if (below(100) == 0) {
                unet_pins_distrust(&p.pins);
            } else if (held.size() > 3 || (below(2) == 0 && !held.empty())) {
                const size_t i = below(held.size());
                p.release(held[i].first, held[i].second);
                held.erase(held.begin() + static_cast<long>(i));
            } else if (first + count <= p.pages) {
                if (p.hold(first, count) == 0)
                    held.emplace_back(first, count);
                else
                    refused++;
            }
            for (const auto &[page, n] : held)
                REQUIRE(p.has(page, n));
            REQUIRE(p.pinned.size() <= p.limit);
        }
        CHECK(refused > 0);
        CHECK(p.pins.hits > 0);
        CHECK(p.pins.evictions > 0);
        for (const auto &[page, n] : held)
            p.release(page, n);
        unet_pins_distrust(&p.pins); // all go, of which each is counted to nought
        CHECK(p.pinned.empty());
    }
}
