// SPDX-License-Identifier: BSD-3-Clause
//
// direct_test.cc - direct access, where a network has it; elsewhere it is refused.
#include "world.h"

#include <cerrno>
#include <chrono>
#include <cstring>

using namespace world;

namespace {

constexpr uint32_t TRANSFER = 77;

// Whether all pieces come, for which it waits some time: they may be lost.
bool arrives(Rank &r, uint32_t transfer, uint32_t pieces)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);

    while (gam_direct_come(r.g, 1 - r.me, transfer) != pieces) {
        if (std::chrono::steady_clock::now() >= end)
            return false;
        gam_poll(r.g);
    }
    return true;
}

// What one rank puts into the other's memory, as often as the network loses some of it.
void exchange(Rank &r, std::vector<uint8_t> &from, std::vector<uint8_t> &to)
{
    const size_t n = 3 * gam_direct_most(r.g, 1 - r.me) + 17;

    r.expect("hold", gam_direct_hold(r.g, from.data(), n), 0);
    r.expect("hold", gam_direct_hold(r.g, to.data(), n), 0);
    for (size_t i = 0; i < n; i++)
        from[i] = pattern(r.me, i);
    r.show(0, to.data());
    r.barrier();
    for (uint32_t round = 0; round < 20; round++) {
        const uint32_t transfer = TRANSFER + round;
        r.expect("pieces",
                 gam_direct_put(r.g, 1 - r.me, transfer, from.data(), r.address(1 - r.me, 0), n),
                 4);
        if (arrives(r, transfer, 4)) {
            r.expect("bytes", pattern_wrong(to.data(), n, 1 - r.me), std::string());
            r.count[0]++;
        }
        std::memset(to.data(), 0, n);
        r.barrier();
    }
    if (r.count[0] == 0)
        throw Failure("of 20 transfers none has come in whole");
    gam_direct_release(r.g, from.data(), n);
    gam_direct_release(r.g, to.data(), n);
}

} // namespace

TEST_CASE("direct: pieces go from memory to memory")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        std::vector<uint8_t> from(1 << 20), to(1 << 20);

        if (gam_direct_open(r.g) != 0)
            return;
        r.barrier(); // all have allowed it
        r.expect("nothing of it has come", gam_direct_come(r.g, 1 - r.me, TRANSFER), 0u);
        exchange(r, from, to);
    });
}

TEST_CASE("direct: what cannot be is refused")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        std::vector<uint8_t> bytes(1 << 20);
        uint8_t *at = bytes.data();
        const bool has_it = gam_direct_open(r.g) == 0;
        const size_t most = gam_direct_most(r.g, 1 - r.me);

        r.expect("length of a piece", most > 0, has_it);
        r.expect("a rank that is not there", gam_direct_most(r.g, 2), size_t{0});
        r.expect("hold nothing", gam_direct_hold(r.g, nullptr, 100),
                 has_it ? -EFAULT : -EOPNOTSUPP);
        r.expect("no bytes", gam_direct_put(r.g, 1 - r.me, 1, at, at, 0), -EINVAL);
        r.expect("a number too large", gam_direct_put(r.g, 1 - r.me, 1u << 24, at, at, 100),
                 -EINVAL);
        r.expect("too many bytes",
                 gam_direct_put(r.g, 1 - r.me, 1, at, at, GAM_DIRECT_PIECES * most + 1), -EINVAL);
        r.expect("come", gam_direct_come(r.g, 1 - r.me, 1), 0u);
    });
}
