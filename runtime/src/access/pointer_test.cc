// SPDX-License-Identifier: BSD-3-Clause
//
// The representation and arithmetic of global and spread pointers, which
// split-c/abi.h does inline.
#include <catch2/catch.hpp>
#include <random>
#include <split-c/abi.h>

splitc_size splitc_stored[65536];

// What emitted code takes for constant.
extern struct splitc_job identity __asm__("splitc_job");
struct splitc_job identity = {0, 1, 0};
extern splitc_window table[4 * 65536] __asm__("splitc_windows");
splitc_window table[4 * 65536];

namespace {

constexpr unsigned long base = 0x200000000000;

void be(int rank, int ranks)
{
    identity.myproc = rank;
    identity.procs = ranks;
    for (splitc_window &w : table)
        w = {};
    splitc_ptr us = splitc_make(rank, nullptr);
    for (int i = 0; i < 4; i++)
        table[4 * rank + i] = {us + 4096, (1ul << 48) - 4096, -us, 0};
}

void *at(unsigned long address)
{
    return reinterpret_cast<void *>(address);
}

// One step forward or backward, as the language defines it.
splitc_ptr step(splitc_ptr p, bool forward, splitc_size size)
{
    int rank = splitc_rank(p) + (forward ? 1 : -1);
    unsigned long address = reinterpret_cast<unsigned long>(splitc_address(p));

    if (rank == splitc_job.procs)
        return splitc_make(0, at(address + size));
    if (rank < 0)
        return splitc_make(splitc_job.procs - 1, at(address - size));
    return splitc_make(rank, at(address));
}

splitc_ptr naive_add(splitc_ptr p, long n, splitc_size size)
{
    for (; n > 0; n--)
        p = step(p, true, size);
    for (; n < 0; n++)
        p = step(p, false, size);
    return p;
}

} // namespace

TEST_CASE("pointers: rank and address come out as they went in")
{
    int rank = GENERATE(0, 1, 2, 255, 256, 32767, 32768, 65535);
    unsigned long address = GENERATE(1ul, 4096ul, base, 0x7fffffffffff, 0xffffffffffff);
    splitc_ptr g = splitc_make(rank, at(address));

    CHECK(splitc_rank(g) == rank);
    CHECK(splitc_address(g) == at(address));
}

TEST_CASE("pointers: NULL stays NULL, other local pointers get our rank")
{
    int object;

    be(3, 4);
    CHECK(splitc_from_local(nullptr) == 0);
    CHECK(splitc_rank(splitc_from_local(&object)) == 3);
    CHECK(splitc_address(splitc_from_local(&object)) == &object);
}

TEST_CASE("pointers: only what lies in a window is near")
{
    int object;

    be(2, 4);
    CHECK(splitc_is_near(splitc_make(2, &object)));
    CHECK(splitc_near(splitc_make(2, &object)) == &object);
    CHECK_FALSE(splitc_is_near(splitc_make(1, &object)));
    CHECK_FALSE(splitc_is_near(splitc_make(65535, &object)));
    CHECK_FALSE(splitc_is_near(0));
    CHECK_FALSE(splitc_is_near(splitc_make(2, at(4095))));
    be(0, 4);
    CHECK_FALSE(splitc_is_near(0));
    CHECK_FALSE(splitc_is_near(8));
}

TEST_CASE("pointers: a window begins and ends where it is said to")
{
    char view[256];
    splitc_ptr first = splitc_make(3, at(0x10000));

    be(0, 4);
    table[4 * 3] = {first, sizeof view, (splitc_ptr)view - first, 0};
    CHECK_FALSE(splitc_is_near(first - 1));
    CHECK(splitc_is_near(first));
    CHECK(splitc_near(first) == view);
    CHECK(splitc_is_near(first + 255));
    CHECK(splitc_near(first + 255) == view + 255);
    CHECK_FALSE(splitc_is_near(first + 256));
    CHECK_FALSE(splitc_is_near(splitc_make(2, at(0x10000))));
}

TEST_CASE("pointers: near accesses move the bytes")
{
    long object = 0, seen = 0, value = 0x1122334455667788;
    be(1, 4);
    splitc_ptr g = splitc_make(1, &object);

    splitc_write(g, &value, sizeof value);
    splitc_read(&seen, g, sizeof seen);
    CHECK(seen == value);
    value++;
    splitc_put(g, &value, sizeof value);
    splitc_get(&seen, g, sizeof seen);
    CHECK(seen == value);
}

// Never reached by near accesses.
void splitc_far_read(void *, splitc_ptr, splitc_size)
{
    FAIL("far read");
}
void splitc_far_write(splitc_ptr, const void *, splitc_size)
{
    FAIL("far write");
}
unsigned long splitc_far_read_word(splitc_ptr, splitc_size)
{
    FAIL("far read");
    return 0;
}
void splitc_far_write_word(splitc_ptr, unsigned long, splitc_size)
{
    FAIL("far write");
}
void splitc_far_put_word(splitc_ptr, unsigned long, splitc_size)
{
    FAIL("far put");
}
void splitc_far_store(splitc_ptr, const void *, splitc_size)
{
    FAIL("far store");
}
void splitc_far_store_word(splitc_ptr, unsigned long, splitc_size)
{
    FAIL("far store");
}
void splitc_far_get(void *, splitc_ptr, splitc_size)
{
    FAIL("far get");
}
void splitc_far_put(splitc_ptr, const void *, splitc_size)
{
    FAIL("far put");
}

TEST_CASE("spread pointers: adding agrees with single steps")
{
    int ranks = GENERATE(1, 2, 3, 4, 5, 7, 8, 64);
    splitc_size size = GENERATE(1ul, 4ul, 8ul, 12ul, 1000ul);

    be(0, ranks);
    for (int rank = 0; rank < ranks; rank += 1 + ranks / 3) {
        splitc_ptr p = splitc_make(rank, at(base + 100 * size));

        for (long n = -3 * ranks - 1; n <= 3 * ranks + 1; n++) {
            INFO("ranks " << ranks << " rank " << rank << " size " << size << " n " << n);
            REQUIRE(splitc_spread_add(p, n, size) == naive_add(p, n, size));
        }
    }
}

TEST_CASE("spread pointers: differences undo additions, order follows them")
{
    int ranks = GENERATE(1, 2, 3, 8, 100, 65535);
    std::mt19937_64 random(ranks);

    be(0, ranks);
    for (int i = 0; i < 2000; i++) {
        splitc_size size = 1 + random() % 5000;
        int rank = static_cast<int>(random() % ranks);
        splitc_ptr p = splitc_make(rank, at(base + (1ul << 36) + random() % 4096 * size));
        long n = static_cast<long>(random() % 2000001) - 1000000;
        splitc_ptr q = splitc_spread_add(p, n, size);

        INFO("ranks " << ranks << " rank " << rank << " size " << size << " n " << n);
        REQUIRE(splitc_spread_diff(q, p, size) == n);
        REQUIRE(splitc_spread_diff(p, q, size) == -n);
        REQUIRE(splitc_spread_add(q, -n, size) == p);
        REQUIRE((splitc_spread_order(q) < splitc_spread_order(p)) == (n < 0));
        REQUIRE((splitc_spread_order(q) == splitc_spread_order(p)) == (n == 0));
    }
}

TEST_CASE("spread pointers: an index vector in row-major order finds owner and row")
{
    be(0, 3);
    splitc_ptr array = splitc_make(0, at(base));
    const long rows = 4, columns = 5;
    const splitc_size size = 24;

    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) {
            long position = i * columns + j;
            splitc_ptr g = splitc_spread_add(array, position, size);

            CHECK(splitc_rank(g) == position % 3);
            CHECK(splitc_address(g) == at(base + position / 3 * size));
        }
}
