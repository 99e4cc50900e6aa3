// SPDX-License-Identifier: BSD-3-Clause
//
// Copies into a ring: the same bytes past the caches as through them, and when which is chosen.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/c_header.h"

namespace {

constexpr size_t LONG = 4096;

std::string pattern(size_t from, size_t bytes)
{
    std::string text(bytes, '\0');

    for (size_t i = 0; i < bytes; i++)
        text[i] = char((from + i) * 131 >> 3);
    return text;
}

void judge(sockets_copier &copier, std::initializer_list<uint64_t> nanoseconds)
{
    for (const uint64_t ns : nanoseconds)
        sockets_copier_judge(&copier, 4 * ns, LONG);
}

// How many of `most` copies pass before the time of one is taken.
int copies_before_a_look(sockets_copier &copier, size_t bytes, int most)
{
    std::vector<char> from(bytes, 'x'), to(bytes);

    for (int i = 0; i < most; i++) {
        sockets_copier_copy(&copier, to.data(), from.data(), bytes, 0);
        if (copier.looks > 0)
            return i;
    }
    return most;
}

} // namespace

TEST_CASE("a copy past the caches, or to memory, is a copy, wherever it begins and ends")
{
    const auto copy = GENERATE(sockets_copy_past_caches, sockets_copy_to_memory);
    std::vector<char> memory(1024);
    const std::string text = pattern(7, 700);

    for (size_t offset = 64; offset < 128; offset++)
        for (const size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 640, 690}) {
            std::fill(memory.begin(), memory.end(), '\x5a');
            copy(memory.data() + offset, text.data() + offset % 3, bytes);
            CHECK(std::string(memory.data() + offset, bytes) == text.substr(offset % 3, bytes));
            CHECK(memory[offset - 1] == '\x5a');
            CHECK(memory[offset + bytes] == '\x5a');
        }
}

TEST_CASE("the fastest of some copies tells how far the reader is")
{
    sockets_copier copier{};

    judge(copier, {1000, 2000, 400});
    CHECK(copier.distance == SOCKETS_FAR);
    judge(copier, {1000, 120, 500});
    CHECK(copier.distance == SOCKETS_NEAR);
    judge(copier, {30, 1000, 1000});
    CHECK(copier.distance == SOCKETS_HERE);
    judge(copier, {500, 600});
    CHECK(copier.distance == SOCKETS_HERE);
}

TEST_CASE("time is taken seldom where that costs more, and of long copies alone")
{
    sockets_copier here{}, far{};

    judge(far, {500, 500, 500});
    CHECK(copies_before_a_look(here, 100, 2000) == 2000);
    CHECK(copies_before_a_look(here, LONG, 2000) < 100);
    CHECK(copies_before_a_look(far, 1024, 2000) == 2000);
    CHECK(copies_before_a_look(far, LONG, 200) == 200);
    CHECK(copies_before_a_look(far, LONG, 2000) < 2000);
}

TEST_CASE("what goes past the caches has arrived when its length is published")
{
    constexpr uint64_t TOTAL = 32 << 20;
    const auto dir = std::make_unique<sockets_direction>();
    std::vector<char> memory(1 << SOCKETS_RING_LOG_MIN);
    const std::string all = pattern(0, 1 << 20);
    sockets_writer writer;
    std::atomic<bool> stop{false};
    uint64_t head = 0, wrong = 0;

    sockets_ring_init(dir.get(), &writer);
    std::thread sender([&] {
        for (uint64_t done = 0; done < TOTAL && !stop;) {
            const size_t offset = done % all.size(), rest = all.size() - offset;
            iovec iov{const_cast<char *>(all.data()) + offset, rest < LONG ? rest : LONG};
            sockets_cursor cursor{&iov, 1, 0};

            writer.copier = {};
            writer.copier.distance = SOCKETS_FAR;
            const ssize_t n = sockets_ring_write(dir.get(), &writer, memory.data(), &cursor,
                                                 SOCKETS_RING_LOG_MIN);
            if (n == 0)
                std::this_thread::yield();
            done += uint64_t(n);
        }
    });
    std::vector<char> buffer(LONG);
    while (head < TOTAL && wrong == 0) {
        const size_t offset = head % all.size();
        iovec iov{buffer.data(), buffer.size()};
        sockets_cursor cursor{&iov, 1, 0};
        const ssize_t n = sockets_ring_read(dir.get(), &head, memory.data(), &cursor, SOCKETS_TAKE);

        if (n <= 0)
            std::this_thread::yield();
        for (size_t i = 0; n > 0 && i < size_t(n); i++)
            wrong += buffer[i] != all[(offset + i) & (all.size() - 1)];
    }
    stop = true;
    sender.join();
    CHECK(wrong == 0);
    CHECK(head == TOTAL);
}
