// SPDX-License-Identifier: BSD-3-Clause
//
// The ring: what is written is read, and a peer that lies is found out.
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <sys/uio.h>
#include <vector>

#include "test/c_header.h"

namespace {

struct Ring {
    sockets_direction dir{};
    sockets_writer writer{};
    uint64_t head = 0;
    // Guarded on both sides: a copy that leaves the ring is seen.
    std::vector<char> memory = std::vector<char>((1 << SOCKETS_RING_LOG_MAX) + 2 * 4096, '\x5a');

    Ring() { sockets_ring_init(&dir, &writer); }
    char *data() { return memory.data() + 4096; }

    ssize_t write(const std::string &text)
    {
        iovec iov{const_cast<char *>(text.data()), text.size()};
        sockets_cursor cursor{&iov, 1, 0};
        return sockets_ring_write(&dir, &writer, data(), &cursor, SOCKETS_RING_LOG_MAX);
    }

    ssize_t read(std::string &text, size_t most, sockets_take how = SOCKETS_TAKE)
    {
        text.assign(most, '\0');
        iovec iov{text.data(), most};
        sockets_cursor cursor{&iov, 1, 0};
        const ssize_t n = sockets_ring_read(&dir, &head, data(), &cursor, how);
        text.resize(n > 0 ? size_t(n) : 0);
        return n;
    }

    bool guards_hold() const
    {
        for (size_t i = 0; i < 4096; i++)
            if (memory[i] != '\x5a' || memory[memory.size() - 1 - i] != '\x5a')
                return false;
        return true;
    }
};

std::string pattern(uint64_t from, size_t bytes)
{
    std::string text(bytes, '\0');

    for (size_t i = 0; i < bytes; i++)
        text[i] = char((from + i) * 131 >> 3);
    return text;
}

} // namespace

TEST_CASE("a ring gives back what was written, in any pieces")
{
    Ring ring;
    std::mt19937 random(1);
    uint64_t written = 0, read = 0;
    std::string text;

    for (int i = 0; i < 20000; i++) {
        if (random() % 2) {
            const ssize_t n =
                ring.write(pattern(written, random() % (random() % 8 ? 300 : 200000)));
            REQUIRE(n >= 0);
            written += uint64_t(n);
        } else {
            const ssize_t n = ring.read(text, random() % (random() % 8 ? 300 : 200000));
            REQUIRE(n >= 0);
            REQUIRE(text == pattern(read, size_t(n)));
            read += uint64_t(n);
        }
        REQUIRE(sockets_ring_unread(&ring.dir, ring.head) == ssize_t(written - read));
    }
    CHECK(read > (4u << SOCKETS_RING_LOG_MAX));
    CHECK(ring.guards_hold());
}

TEST_CASE("a ring takes no more than it holds, and grows when it is often full")
{
    Ring ring;
    std::string text;
    const std::string much(4 << 20, 'x');

    CHECK(ring.write(much) == 1 << SOCKETS_RING_LOG_MIN);
    CHECK(ring.write(much) == 0);
    CHECK(ring.write(much) == 0);
    CHECK(ring.read(text, much.size()) == 1 << SOCKETS_RING_LOG_MIN);
    CHECK(ring.write(much) == 2 << SOCKETS_RING_LOG_MIN);
    for (int i = 0; i < 100; i++) {
        ring.read(text, much.size());
        ring.write(much);
        ring.write(much);
    }
    CHECK(ring.writer.log == SOCKETS_RING_LOG_MAX);
    CHECK(ring.guards_hold());
}

TEST_CASE("peeking leaves the bytes, and discarding takes them")
{
    Ring ring;
    std::string text;

    ring.write("abcdef");
    CHECK(ring.read(text, 3, SOCKETS_PEEK) == 3);
    CHECK(text == "abc");
    CHECK(ring.read(text, 2, SOCKETS_DISCARD) == 2);
    CHECK(ring.read(text, 9) == 4);
    CHECK(text == "cdef");
    CHECK(ring.read(text, 9) == 0);
}

TEST_CASE("short messages stay in the first pages of an idle ring")
{
    Ring ring;
    std::string text;

    for (int i = 0; i < 100000; i++) {
        ring.write(std::string(100, 'x'));
        ring.read(text, 100);
    }
    CHECK(std::string(ring.data() + 16384, 1000) == std::string(1000, '\x5a'));
}

TEST_CASE("a writer that claims more than fits is found out")
{
    Ring ring;
    std::string text;

    ring.write("abc");
    ring.dir.tail = ring.head + (1 << SOCKETS_RING_LOG_MIN) + 1;
    CHECK(ring.read(text, 10) == -EPROTO);
    ring.dir.tail = ring.head - 1;
    CHECK(ring.read(text, 10) == -EPROTO);
    CHECK(sockets_ring_unread(&ring.dir, ring.head) == -EPROTO);
}

TEST_CASE("a writer that names a size that no ring has is found out")
{
    Ring ring;
    std::string text;

    ring.write("abc");
    for (uint32_t log : {0u, SOCKETS_RING_LOG_MIN - 1u, SOCKETS_RING_LOG_MAX + 1u, 63u, 64u, ~0u}) {
        ring.dir.log = log;
        CHECK(ring.read(text, 10) == -EPROTO);
    }
}

TEST_CASE("a reader that claims to have read what was never written is found out")
{
    Ring ring;

    ring.write("abc");
    for (uint64_t head :
         {uint64_t(4), uint64_t(1) << 40, uint64_t(3) - (1 << SOCKETS_RING_LOG_MIN) - 1}) {
        ring.dir.head = head;
        CHECK(ring.write("x") == -EPROTO);
        CHECK(sockets_ring_unsent(&ring.dir, &ring.writer) == -EPROTO);
    }
    CHECK(ring.guards_hold());
}

TEST_CASE("whatever a peer writes, no copy leaves the ring")
{
    Ring ring;
    std::mt19937_64 random(2);
    std::string text;
    int refused = 0;

    for (int i = 0; i < 20000; i++) {
        switch (random() % 6) {
        case 0:
            ring.dir.base = random();
            break;
        case 1:
            ring.dir.tail = ring.head + random() % (2 << SOCKETS_RING_LOG_MAX);
            break;
        case 2:
            ring.dir.log = uint32_t(random() % 24);
            break;
        case 3:
            ring.dir.head = random() % 2 ? random() : ring.writer.tail - random() % 70000;
            break;
        case 4:
            refused += ring.write(std::string(random() % 100000, 'x')) < 0;
            break;
        default:
            refused += ring.read(text, random() % 2000000) < 0;
        }
    }
    CHECK(refused > 100);
    CHECK(ring.guards_hold());
}
