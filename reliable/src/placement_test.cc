// SPDX-License-Identifier: BSD-3-Clause
//
// placement_test.cc - messages that land where the receiver wants them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "test/pair.h"

namespace {

using pair::BUFFER;
using pair::Pair;

constexpr uint32_t PLACED = 77; // the `user` of messages that are to be placed

// What a placed message begins with.
struct Header {
    uint64_t offset, room, zero, number;
};
static_assert(sizeof(Header) == UNET_PLACED_HEADER);

struct Memory {
    std::vector<uint8_t> bytes = std::vector<uint8_t>(1 << 16);
    int asked = 0;
};

size_t place(void *arg, uint16_t, uint32_t user, const void *header, unet_place *where)
{
    auto *memory = static_cast<Memory *>(arg);
    Header h;

    memory->asked++;
    memcpy(&h, header, sizeof(h));
    if (user != PLACED)
        return 0;
    *where = {memory->bytes.data() + h.offset, h.room, 0, 0};
    return h.room;
}

std::vector<uint8_t> pattern(size_t length, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(length);

    for (uint8_t &one : bytes)
        one = static_cast<uint8_t>(random());
    return bytes;
}

void send(Pair &pair, uint32_t user, const Header &header, const std::vector<uint8_t> &bytes)
{
    const iovec iov[] = {{const_cast<Header *>(&header), sizeof(header)},
                         {const_cast<uint8_t *>(bytes.data()), bytes.size()}};
    int rc;

    while ((rc = unet_sendv(pair.ep[0], pair.channel[0], user, iov, 2)) == -EAGAIN)
        pair.step();
    REQUIRE(rc == 0);
}

} // namespace

TEST_CASE("a message lands where the receiver wants it, whatever its length, and no byte beyond")
{
    Memory memory;
    Pair pair;

    REQUIRE(unet_set_placement(pair.ep[1], place, &memory) == 0);
    for (size_t length : {17, 18, 100, 471, 472, 473, 1400, 5000, 8000, 20000, 59000}) {
        const std::vector<uint8_t> bytes = pattern(length, static_cast<unsigned>(length));
        const Header header = {1000, length, 0, length};
        const unet_desc *slot;

        INFO("of " << length << " bytes");
        std::fill(memory.bytes.begin(), memory.bytes.end(), 0xee);
        send(pair, PLACED, header, bytes);
        slot = pair.await(1);
        REQUIRE(slot);
        CHECK(slot->kind == UNET_PLACED);
        CHECK(slot->length == UNET_PLACED_HEADER + length);
        CHECK(memcmp(slot->data, &header, sizeof(header)) == 0);
        CHECK(memcmp(memory.bytes.data() + 1000, bytes.data(), length) == 0);
        CHECK(std::count(memory.bytes.begin(), memory.bytes.begin() + 1000, 0xee) == 1000);
        CHECK(memory.bytes[1000 + length] == 0xee);
        unet_rx_release(pair.ep[1]);
    }
    CHECK(pair.ep[1]->stats.overruns == 0);
}

namespace {

// Rows of the length that the header has in place of 0, with as many bytes between them.
size_t place_rows(void *arg, uint16_t, uint32_t, const void *header, unet_place *where)
{
    auto *memory = static_cast<Memory *>(arg);
    Header h;

    memcpy(&h, header, sizeof(h));
    // The message begins in the middle of a row, and each lies in front of the one before.
    *where = {memory->bytes.data() + h.offset, h.zero - h.number, h.zero, 0 - 2 * h.zero};
    return h.room;
}

} // namespace

TEST_CASE("a message lands in rows, wherever packets cut it, and no byte between them")
{
    Memory memory;
    Pair pair;

    REQUIRE(unet_set_placement(pair.ep[1], place_rows, &memory) == 0);
    for (uint64_t row : {1, 3, 300, 1400, 2800, 4032, 8000, 20000}) {
        for (uint64_t start : {uint64_t{0}, row / 2, row - 1}) {
            const std::vector<uint8_t> bytes = pattern(8000, static_cast<unsigned>(row));
            const Header header = {40000 + start, bytes.size(), row, start};
            std::vector<uint8_t> wanted(memory.bytes.size(), 0xee);
            uint8_t *to = &wanted[40000];

            INFO("rows of " << row << " bytes, from " << start << " on");
            std::fill(memory.bytes.begin(), memory.bytes.end(), 0xee);
            for (size_t i = 0, at = start; i < bytes.size(); i++, at++)
                *(to - at / row * 2 * row + at % row) = bytes[i];
            send(pair, PLACED, header, bytes);
            const unet_desc *slot = pair.await(1);
            REQUIRE(slot);
            CHECK(slot->kind == UNET_PLACED);
            CHECK(slot->length == UNET_PLACED_HEADER + bytes.size());
            CHECK(memory.bytes == wanted);
            unet_rx_release(pair.ep[1]);
        }
    }
}

TEST_CASE("what is longer than its room is dropped and counted, and the next message arrives")
{
    const std::vector<uint8_t> bytes = pattern(4000, 1);
    Memory memory;
    Pair pair;

    std::fill(memory.bytes.begin(), memory.bytes.end(), 0xee);
    REQUIRE(unet_set_placement(pair.ep[1], place, &memory) == 0);
    send(pair, PLACED, {0, 3999, 0, 1}, bytes);
    send(pair, PLACED, {10000, 4000, 0, 2}, bytes);
    const unet_desc *slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PLACED);
    CHECK(slot->word[3] == 2);
    CHECK(pair.ep[1]->stats.overruns == 1);
    CHECK(std::count(memory.bytes.begin() + 3999, memory.bytes.begin() + 10000, 0xee) == 6001);
    CHECK(memcmp(memory.bytes.data() + 10000, bytes.data(), bytes.size()) == 0);
    unet_rx_release(pair.ep[1]);
}

TEST_CASE("messages that are not to be placed go into buffers, and short ones ask nobody")
{
    const std::vector<uint8_t> bytes = pattern(500, 3);
    Memory memory;
    Pair pair;

    REQUIRE(unet_set_placement(pair.ep[1], place, &memory) == 0);
    send(pair, PLACED + 1, {0, 500, 0, 1}, bytes);
    const unet_desc *slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PIECES);
    CHECK(memory.asked == 1);
    CHECK(memcmp(pair.ep[1]->segment + slot->piece[0].offset + UNET_PLACED_HEADER, bytes.data(),
                 bytes.size()) == 0);
    unet_rx_release(pair.ep[1]);
    send(pair, PLACED, {0, 16, 0, 2}, pattern(UNET_INLINE_MAX - UNET_PLACED_HEADER, 4));
    slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_INLINE);
    CHECK(memory.asked == 1);
    unet_rx_release(pair.ep[1]);

    unet_set_placement(pair.ep[1], nullptr, nullptr);
    send(pair, PLACED, {0, 500, 0, 3}, bytes);
    slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PIECES);
    CHECK(memory.asked == 1);
    unet_rx_release(pair.ep[1]);
}

TEST_CASE("a message is not placed before the owner has read what came before it")
{
    const std::vector<uint8_t> first = pattern(500, 1), second = pattern(500, 2);
    Memory memory;
    Pair pair;

    REQUIRE(unet_set_placement(pair.ep[1], place, &memory) == 0);
    send(pair, PLACED + 1, {0, 500, 0, 1}, first); // which the owner would write to the place
    send(pair, PLACED, {0, 500, 0, 2}, second);
    for (int i = 0; i < 100 || memory.asked == 0; i++) {
        pair.step();
        REQUIRE(i < 100000);
    }
    CHECK(memory.asked == 1); // for the first one, which goes into a buffer
    const unet_desc *slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PIECES);
    unet_rx_release(pair.ep[1]);
    slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PIECES);
    unet_rx_release(pair.ep[1]);

    send(pair, PLACED, {0, 500, 0, 3}, first);
    slot = pair.await(1);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PLACED);
    unet_rx_release(pair.ep[1]);
}

TEST_CASE("another thread that keeps the endpoint alive places nothing")
{
    Memory memory;
    Pair pair;

    REQUIRE(unet_set_placement(pair.ep[1], place, &memory) == 0);
    send(pair, PLACED, {0, 500, 0, 1}, pattern(500, 1));
    for (int i = 0; i < 100000 && !unet_rx_peek(pair.ep[1]); i++) {
        unet_progress(pair.ep[0]);
        reliable_keepalive(pair.ep[1]);
    }
    const unet_desc *slot = unet_rx_peek(pair.ep[1]);
    REQUIRE(slot);
    CHECK(slot->kind == UNET_PIECES);
    CHECK(memory.asked == 0);
    unet_rx_release(pair.ep[1]);
}

TEST_CASE("placed messages and others in any order")
{
    std::mt19937 random(5);
    std::vector<uint64_t> expected;
    Memory memory;
    Pair pair;
    size_t read = 0;

    REQUIRE(unet_set_placement(pair.ep[1], place, &memory) == 0);
    for (uint64_t number = 0; read < 600;) {
        if (number < 600 && number - read < 20) {
            const size_t length = random() % (random() % 3 ? 200 : 7000);
            const uint64_t offset = number % 8 * 8000;

            number++;
            send(pair, random() % 2 ? PLACED : PLACED + 1, {offset, length, 0, number},
                 pattern(length, static_cast<unsigned>(number)));
        }
        pair.step();
        while (const unet_desc *slot = unet_rx_peek(pair.ep[1])) {
            const unet_desc desc = *slot;
            const uint8_t *in_buffer = pair.ep[1]->segment + desc.piece[0].offset;
            Header header;

            memcpy(&header, desc.kind == UNET_PIECES ? in_buffer : desc.data, sizeof(header));
            REQUIRE(header.number == ++read);
            if (desc.kind == UNET_PIECES)
                REQUIRE(unet_free_put(pair.ep[1], desc.piece[0].offset, BUFFER) == 0);
            if (desc.kind == UNET_PLACED && read + 8 > number)
                CHECK(pattern(desc.length - sizeof(header), static_cast<unsigned>(read)) ==
                      std::vector<uint8_t>(memory.bytes.begin() + header.offset,
                                           memory.bytes.begin() + header.offset + desc.length -
                                               sizeof(header)));
            unet_rx_release(pair.ep[1]);
        }
    }
}
