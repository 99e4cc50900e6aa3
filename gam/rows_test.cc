// SPDX-License-Identifier: BSD-3-Clause
//
// rows_test.cc - stores of rows, of every shape.
#include "world.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace world;

namespace {

enum { STORED = 1, COUNT = 2 };

constexpr size_t PIECE = GAM_MEDIUM_MAX, ROOM = 1u << 18;

const std::vector<uint32_t> LENGTHS = {1,    7,         16,    17,        300,           2700, 4032,
                                       4096, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3, 20000};

// Rows here and there; where strides are negative the first row is the last in memory.
struct Shape {
    gam_rows rows;

    static size_t first(ptrdiff_t stride, size_t count)
    {
        return stride < 0 ? static_cast<size_t>(-stride) * (count - 1) : 0;
    }
    size_t from(size_t row) const { return at(rows.from_stride, row); }
    size_t to(size_t row) const { return at(rows.to_stride, row); }
    bool fits() const
    {
        const auto longest = std::max(std::abs(rows.from_stride), std::abs(rows.to_stride));

        return static_cast<size_t>(longest) * (rows.count - 1) + rows.bytes <= ROOM;
    }

private:
    size_t at(ptrdiff_t stride, size_t row) const
    {
        return first(stride, rows.count) + static_cast<size_t>(stride) * row;
    }
};

std::vector<Shape> shapes()
{
    std::vector<Shape> all;

    for (uint32_t bytes : LENGTHS)
        for (size_t count : {1, 2, 3, 61})
            for (ptrdiff_t apart : {0, 40})
                for (int direction : {1, -1}) {
                    const auto plain = static_cast<ptrdiff_t>(bytes);

                    all.push_back({{bytes, count, plain, direction * (plain + apart)}});
                    all.push_back({{bytes, count, direction * (plain + 24), plain + apart}});
                }
    all.erase(
        std::remove_if(all.begin(), all.end(), [](const Shape &shape) { return !shape.fits(); }),
        all.end());
    return all;
}

void stored(gam *, const gam_message *m)
{
    Rank &r = self();

    r.count[STORED]++;
    r.log.assign({m->source, m->length, m->words, m->word[0], m->data == nullptr});
}

void count(gam *, const gam_message *)
{
    self().count[COUNT]++;
}

int store(Rank &r, bool async, const Shape &shape, const uint8_t *from, uint8_t *to, uint64_t arg)
{
    const uint8_t *first = from + shape.from(0);
    uint8_t *there = to + shape.to(0);
    uint64_t done = 0;

    if (!async)
        return gam_store_rows(r.g, 1, first, there, &shape.rows, STORED, arg);
    const int rc = gam_store_rows_async(
        r.g, 1, first, there, &shape.rows, STORED, arg,
        [](void *p) { ++*static_cast<uint64_t *>(p); }, &done);
    r.until("source reusable", [&] { return done == 1; });
    return rc;
}

// Rank 0 stores, and changes the source at once; rank 1 compares with a plain loop.
void store_shapes(Rank &r, bool async)
{
    std::vector<uint8_t> from(ROOM), to(ROOM), wanted(ROOM);
    uint64_t number = 0;

    r.handler(STORED, stored);
    r.show(0, to.data());
    r.barrier();
    for (const Shape &shape : shapes()) {
        std::fill(to.begin(), to.end(), 0xaa);
        for (size_t i = 0; i < ROOM; i++)
            from[i] = pattern(number, i);
        r.barrier();
        number++;
        if (r.me == 0) {
            r.expect("store", store(r, async, shape, from.data(), r.address(1, 0), number), 0);
            std::fill(from.begin(), from.end(), 0);
        } else {
            r.until("rows", [&] { return r.count[STORED] == number; });
            r.expect("source, length, words, argument, no data",
                     r.log == std::vector<uint64_t>{0, 0, 1, number, true}, true);
            std::fill(wanted.begin(), wanted.end(), 0xaa);
            for (size_t row = 0; row < shape.rows.count; row++)
                std::memcpy(&wanted[shape.to(row)], &from[shape.from(row)], shape.rows.bytes);
            r.expect("contents of " + std::to_string(shape.rows.count) + " rows of " +
                         std::to_string(shape.rows.bytes),
                     wanted == to, true);
        }
        r.barrier();
    }
}

} // namespace

TEST_CASE("gam_store_rows of every shape")
{
    run(EACH_BACKEND, 2, [](Rank &r) { store_shapes(r, false); });
}

TEST_CASE("gam_store_rows_async of every shape")
{
    run(EACH_BACKEND, 2, [](Rank &r) { store_shapes(r, true); });
}

TEST_CASE("rows fill messages, as one store does")
{
    run("shm", 2, [](Rank &r) {
        const gam_rows rows = {300, 1000, 300, 512};
        std::vector<uint8_t> from(300 * 1000), to(512 * 1000);

        r.handler(STORED, stored);
        r.show(0, to.data());
        r.barrier();
        if (r.me == 0) {
            const uint64_t before = r.ep->stats.sent_bytes;

            r.expect("store",
                     gam_store_rows(r.g, 1, from.data(), r.address(1, 0), &rows, STORED, 0), 0);
            r.until("sent", [&] { return gam_settled(r.g); });
            // Besides the bytes there is a header of 32 for each message, and what polls answer.
            r.expect("headers are few", r.ep->stats.sent_bytes - before < from.size() + 2 * 32 * 38,
                     true);
        } else {
            r.until("rows", [&] { return r.count[STORED] == 1; });
        }
        r.barrier();
    });
}

TEST_CASE("a request behind rows finds them in place, and their handler may be none")
{
    run(EACH_BACKEND, 2, [](Rank &r) {
        const gam_rows rows = {4096, 50, 4096, 5000};
        std::vector<uint8_t> from(4096 * 50, static_cast<uint8_t>(r.me + 1)), to(5000 * 50);

        r.handler(COUNT, count);
        r.show(0, to.data());
        r.barrier();
        r.expect("store",
                 gam_store_rows(r.g, r.right(), from.data(), r.address(r.right(), 0), &rows, 0, 0),
                 0);
        r.expect("request", gam_request_0(r.g, r.right(), COUNT), 0);
        r.until("request", [&] { return r.count[COUNT] == 1; });
        for (size_t row = 0; row < 50; row++) {
            r.expect("first of a row", unsigned{to[row * 5000]}, r.left() + 1);
            r.expect("last of a row", unsigned{to[row * 5000 + 4095]}, r.left() + 1);
            r.expect("behind a row", unsigned{to[row * 5000 + 4096]}, 0u);
        }
        r.barrier();
    });
}

TEST_CASE("rows that cannot be are refused")
{
    run(EACH_RELIABLE_BACKEND, 1, [](Rank &r) {
        constexpr ptrdiff_t FAR = std::numeric_limits<ptrdiff_t>::max();
        uint8_t bytes[64] = {};
        const struct {
            const char *what;
            gam_rows rows;
        } wrong[] = {
            {"no row", {8, 0, 8, 8}},
            {"no bytes", {0, 3, 8, 8}},
            {"sources that wrap", {8, 3, FAR, 8}},
            {"targets that wrap", {8, 3, 8, FAR}},
            {"targets below 0", {8, 2, 8, -FAR}},
            {"more bytes than there are", {1u << 31, ~size_t{0} >> 16, 0, 0}},
        };

        for (const auto &one : wrong) {
            r.expect(one.what, gam_store_rows(r.g, 0, bytes, bytes, &one.rows, 0, 0), -EINVAL);
            r.expect(one.what,
                     gam_store_rows_async(r.g, 0, bytes, bytes, &one.rows, 0, 0, nullptr, nullptr),
                     -EINVAL);
        }
        const gam_rows good = {8, 2, 8, 8};
        r.expect("no rank", gam_store_rows(r.g, 1, bytes, bytes, &good, 0, 0), -EINVAL);
        r.expect("no handler", gam_store_rows(r.g, 0, bytes, bytes, &good, GAM_HANDLERS, 0),
                 -EINVAL);
        r.expect("nowhere", gam_store_rows(r.g, 0, bytes, nullptr, &good, 0, 0), -EINVAL);
    });
}

TEST_CASE("what rows were sent from may change when their sender is told, by streams too")
{
    const reliable_auth auth = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER);

    run("udp", 2,
        [](Rank &r) {
            constexpr uint32_t BYTES = 4096;
            constexpr size_t ROWS = 40, STRIDE = 4200;
            constexpr uint64_t STORES = 30;
            const gam_rows rows = {BYTES, ROWS, STRIDE, BYTES};
            std::vector<uint8_t> from(ROWS * STRIDE), to(STORES * ROWS * BYTES);

            r.handler(COUNT, count);
            r.show(0, to.data());
            r.barrier();
            for (uint64_t i = 0; i < STORES; i++) {
                const auto value = static_cast<uint8_t>(i + 1);

                std::fill(from.begin(), from.end(), value);
                r.expect("store",
                         gam_store_rows(r.g, r.right(), from.data(),
                                        r.address(r.right(), 0) + i * ROWS * BYTES, &rows, COUNT,
                                        0),
                         0);
                std::fill(from.begin(), from.end(), 0);
            }
            r.until("all", [&] { return r.count[COUNT] == STORES; });
            for (uint64_t i = 0; i < STORES; i++)
                r.expect("contents",
                         std::all_of(&to[i * ROWS * BYTES], &to[(i + 1) * ROWS * BYTES - 1] + 1,
                                     [=](uint8_t byte) { return byte == i + 1; }),
                         true);
            r.barrier();
        },
        {.auth = auth});
}
