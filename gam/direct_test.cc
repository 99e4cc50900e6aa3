// SPDX-License-Identifier: BSD-3-Clause
//
// direct_test.cc - direct access, where a network has it; elsewhere it is refused.
#include "world.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <reliable/reliable.h>

using namespace world;

namespace {

// What a rank keeps of one transfer of its own, and of one of its peer's.
struct Ground {
    Rank &r;
    const uint32_t peer;
    const size_t n;
    std::vector<uint8_t> from, to;

    // The vectors are so large that they share no pages, nor blocks of them.
    explicit Ground(Rank &rank)
        : r(rank), peer(1 - r.me), n(3 * reliable_direct_most(r.ep) + 17), from(1 << 20),
          to(1 << 20)
    {
        for (size_t i = 0; i < n; i++)
            from[i] = pattern(r.me, i);
        r.show(0, to.data());
        r.expect("hold", reliable_direct_pin(r.ep, from.data(), n), 0);
    }
    ~Ground() { reliable_direct_unpin(r.ep, from.data(), n); }

    // Grants all of it, and learns what the peer grants.
    uint64_t exchange_grants(uint64_t &own)
    {
        r.expect("grant", reliable_direct_grant(r.ep, peer, to.data(), n, &own), 0);
        r.show(1, own);
        r.barrier();
        const uint64_t theirs = r.shown(peer, 1);
        r.barrier(); // both have looked
        return theirs;
    }
    int put(uint64_t grant)
    {
        return reliable_direct_put(r.ep, peer, grant, from.data(), r.address(peer, 0), n);
    }
    // Whether it comes, for which it waits some time: it may be lost.
    bool arrives()
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);

        while (!pattern_wrong(to.data(), n, peer).empty()) {
            if (std::chrono::steady_clock::now() >= end)
                return false;
            gam_poll(r.g);
        }
        return true;
    }
};

// What one rank puts into the other's memory, as often as the network loses some of it.
void exchange(Ground &ground)
{
    Rank &r = ground.r;

    for (int round = 0; round < 20; round++) {
        uint64_t own = 0;
        const uint64_t theirs = ground.exchange_grants(own);

        r.expect("put", ground.put(theirs), 0);
        r.count[0] += ground.arrives();
        r.expect("revoke", reliable_direct_revoke(r.ep, ground.to.data(), ground.n, own), 0);
        r.expect("revoke once more", reliable_direct_revoke(r.ep, ground.to.data(), ground.n, own),
                 -EINVAL);
        std::memset(ground.to.data(), 0, ground.n);
        r.barrier();
        r.expect("late", ground.put(theirs), 0);
        r.barrier(); // messages, behind it
        r.expect("what came late", ground.to == std::vector<uint8_t>(1 << 20), true);
        r.barrier();
    }
    if (r.count[0] == 0)
        throw Failure("of 20 transfers none has come in whole");
}

void compare_sums(Ground &ground)
{
    Rank &r = ground.r;
    std::vector<uint8_t> &bytes = ground.from;
    const auto sum = [&](uint64_t grant, size_t n) {
        return reliable_direct_mac(r.ep, grant, bytes.data(), n);
    };
    const uint64_t whole = sum(5, ground.n);

    r.expect("the same sum", sum(5, ground.n), whole);
    r.expect("under another grant", sum(6, ground.n) != whole, true);
    r.expect("of less", sum(5, ground.n - 1) != whole, true);
    bytes[ground.n / 2] ^= 1;
    r.expect("of a bit less", sum(5, ground.n) != whole, true);
    bytes[ground.n / 2] ^= 1;
    r.show(2, sum(5, 0));
    r.barrier();
    r.expect("the other's sum", r.shown(ground.peer, 2), sum(5, 0));
    r.barrier();
}

} // namespace

TEST_CASE("direct: pieces go from memory to memory, and none when it is too late")
{
    run(EACH_NETWORK, 2, [](Rank &r) {
        if (reliable_direct_open(r.ep) != 0)
            return;
        Ground ground(r);
        compare_sums(ground);
        exchange(ground);
    });
}

TEST_CASE("direct: what cannot be is refused")
{
    run(EACH_NETWORK, 2, [](Rank &r) {
        std::vector<uint8_t> bytes(1 << 20);
        uint8_t *at = bytes.data();
        const bool has_it = reliable_direct_open(r.ep) == 0;
        const size_t most = reliable_direct_most(r.ep);
        const int without = has_it ? -EFAULT : -EOPNOTSUPP;
        const int invalid = has_it ? -EINVAL : -EOPNOTSUPP;
        const uint32_t other = 1 - r.me;
        uint64_t rkey = 0;

        r.expect("length of a piece", most > 0, has_it);
        r.expect("pin nothing", reliable_direct_pin(r.ep, nullptr, 100), without);
        r.expect("grant nothing", reliable_direct_grant(r.ep, other, nullptr, 100, &rkey), without);
        r.expect("grant to nobody", reliable_direct_grant(r.ep, 2, at, 100, &rkey), invalid);
        r.expect("revoke nothing", reliable_direct_revoke(r.ep, at, 100, 0), invalid);
        r.expect("no bytes", reliable_direct_put(r.ep, other, 1, at, at, 0), invalid);
        r.expect("to nobody", reliable_direct_put(r.ep, 2, 1, at, at, 1), invalid);
        r.expect("too many bytes",
                 reliable_direct_put(r.ep, other, 1, at, at, RELIABLE_DIRECT_PIECES * most + 1),
                 invalid);
    });
}
