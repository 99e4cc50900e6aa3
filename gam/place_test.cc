// SPDX-License-Identifier: BSD-3-Clause
//
// place_test.cc - stores to buffers: the receiver's hook places each piece, in parts if it wants,
// and refuses what it does not know.
#include "world.h"

#include <cstring>

using namespace world;

namespace {

enum { LANDED = 1, STEP = 2 };
constexpr uint32_t BUFFER = 7;

// Memory of one buffer in two halves that lie apart.
struct Halves {
    Guarded low, high;
    size_t calls = 0, refused = 0;

    explicit Halves(size_t n) : low(n / 2, 3), high(n - n / 2, 5) {}
    size_t size() const { return low.size() + high.size(); }
    static void *place(void *arg, const gam_piece *piece, size_t *length)
    {
        auto &h = *static_cast<Halves *>(arg);

        h.calls++;
        if (piece->buffer != BUFFER || piece->offset > h.size() ||
            piece->length > h.size() - piece->offset) {
            h.refused++;
            return nullptr;
        }
        if (piece->offset >= h.low.size())
            return h.high.data() + (piece->offset - h.low.size());
        *length = std::min(*length, h.low.size() - size_t(piece->offset));
        return h.low.data() + piece->offset;
    }
};

void landed(gam *, const gam_message *m)
{
    self().count[LANDED]++;
    self().log.insert(self().log.end(), {m->word[0], m->word[1], m->word[2], m->length});
}

} // namespace

TEST_CASE("a store to a buffer lands where the hook says, in parts, and its handler runs once")
{
    const std::string backend = EACH_BACKEND;

    run(backend, 2, [](Rank &r) {
        for (size_t n : {1u, 31u, 32u, 33u, 48u, 4000u, 8064u, 8065u, 100000u}) {
            Halves halves(n);
            Guarded from(n);

            r.handler(LANDED, landed);
            r.log.clear();
            r.count[LANDED] = 0;
            r.expect("hook", gam_set_placement(r.g, Halves::place, &halves), 0);
            r.expect("a second hook", gam_set_placement(r.g, Halves::place, &halves), -EBUSY);
            r.barrier();
            from.fill(n + r.me);
            r.expect("store",
                     gam_place_store(r.g, r.right(), from.data(), n, BUFFER, 0, LANDED, 99), 0);
            r.until("landed", [&] { return r.count[LANDED] == 1; });
            r.expect("handler", r.log == std::vector<uint64_t>({99, BUFFER, 0, n}), true);
            std::vector<uint8_t> all(halves.low.data(), halves.low.data() + halves.low.size());
            all.insert(all.end(), halves.high.data(), halves.high.data() + halves.high.size());
            r.expect("contents", pattern_wrong(all.data(), n, n + r.left()), std::string());
            r.barrier();
            r.expect("no hook", gam_set_placement(r.g, nullptr, nullptr), 0);
        }
    });
}

TEST_CASE("what the hook refuses is written nowhere, runs no handler, and the way stays open")
{
    const std::string backend = EACH_BACKEND;

    run(backend, 2, [](Rank &r) {
        constexpr size_t N = 20000;
        Halves halves(N);
        Guarded from(N);
        uint64_t before;

        halves.low.fill(1);
        halves.high.fill(2);
        from.fill(3);
        r.handler(LANDED, landed);
        before = r.stats().refused;
        r.barrier();
        // Without a hook, all.
        r.expect("store", gam_place_store(r.g, r.right(), from.data(), 8, BUFFER, 0, LANDED, 0), 0);
        r.until("no hook", [&] { return r.stats().refused == before + 1; });
        r.expect("hook", gam_set_placement(r.g, Halves::place, &halves), 0);
        r.barrier();
        struct {
            size_t n;
            uint32_t buffer;
            uint64_t offset;
        } const bad[] = {{8, BUFFER + 1, 0}, {0, BUFFER + 1, 0},       {32, BUFFER, N - 31},
                         {8000, 0, 0},       {4000, BUFFER, N - 3999}, {1, BUFFER, UINT64_MAX - 1}};
        for (const auto &b : bad)
            r.expect(
                "store",
                gam_place_store(r.g, r.right(), from.data(), b.n, b.buffer, b.offset, LANDED, 0),
                0);
        r.until("refused", [&] { return r.stats().refused == before + 1 + std::size(bad); });
        r.expect("handlers", r.count[LANDED], 0u);
        r.expect("low", halves.low.wrong(1), std::string());
        r.expect("high", halves.high.wrong(2), std::string());
        r.barrier();
        r.expect("store", gam_place_store(r.g, r.right(), from.data(), 0, BUFFER, N, LANDED, 5), 0);
        r.until("landed", [&] { return r.count[LANDED] == 1; });
        r.barrier();
    });
}

TEST_CASE("stores to buffers with arguments out of range are refused, and from handlers")
{
    const std::string backend = EACH_BACKEND;

    run(backend, 1, [](Rank &r) {
        uint8_t byte = 0;

        r.expect("rank", gam_place_store(r.g, 1, &byte, 1, 0, 0, 0, 0), -EINVAL);
        r.expect("handler", gam_place_store(r.g, 0, &byte, 1, 0, 0, GAM_HANDLERS, 0), -EINVAL);
        r.expect("source", gam_place_store(r.g, 0, nullptr, 1, 0, 0, 0, 0), -EINVAL);
        r.expect("wraps", gam_place_store(r.g, 0, &byte, 1, 0, UINT64_MAX, 0, 0), -EINVAL);
        r.handler(STEP, [](gam *g, const gam_message *) {
            self().note("in a handler", gam_place_store(g, 0, "x", 1, 0, 0, 0, 0), -EPERM);
            self().count[STEP]++;
        });
        r.expect("request", gam_request_0(r.g, 0, STEP), 0);
        r.until("handler", [&] { return r.count[STEP] == 1; });
    });
}

TEST_CASE("more small stores to a buffer than the window has arrive in order")
{
    const std::string backend = EACH_BACKEND;

    run(backend, 2, [](Rank &r) {
        Halves halves(64);

        r.handler(LANDED, landed);
        r.expect("hook", gam_set_placement(r.g, Halves::place, &halves), 0);
        r.barrier();
        for (uint32_t i = 0; i < 1000; i++)
            r.expect("store", gam_place_store(r.g, r.right(), &i, sizeof i, BUFFER, 4, LANDED, i),
                     0);
        r.until("landed", [&] { return r.count[LANDED] == 1000; });
        for (uint32_t i = 0; i < 1000; i++)
            r.expect("order", r.log[4 * i], uint64_t(i));
        r.barrier();
    });
}
