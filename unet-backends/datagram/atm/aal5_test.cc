// SPDX-License-Identifier: BSD-3-Clause
//
// The standard's own numbers; and that no line, however bad, makes reassembly deliver a wrong byte.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

extern "C" {
#include "datagram/atm/aal5.h"
}

using Bytes = std::vector<uint8_t>;

namespace {

const bool initialised = (unet_aal5_init(), true);

constexpr uint32_t header = 3u << 20 | 1000u << 4;

Bytes cut(const Bytes &message, uint8_t uu = 0, size_t pieces = 1)
{
    Bytes cells(unet_aal5_cells(message.size()) * ATM_CELL, 0xa5);
    std::vector<iovec> iov;
    size_t at = 0;

    for (size_t i = 0; i < pieces; i++) {
        const size_t end = message.size() * (i + 1) / pieces;
        iov.push_back({const_cast<uint8_t *>(message.data()) + at, end - at});
        at = end;
    }
    REQUIRE(unet_aal5_cut(cells.data(), header, uu, iov.data(), iov.size(), message.size()) *
                ATM_CELL ==
            cells.size());
    return cells;
}

uint32_t crc_in(const Bytes &cells)
{
    const uint8_t *last = cells.data() + cells.size() - 4;

    return uint32_t{last[0]} << 24 | last[1] << 16 | last[2] << 8 | last[3];
}

class Reassembly {
public:
    Reassembly() : room(AAL5_ROOM) { state.buffer = room.data(); }
    int take(const uint8_t *cell)
    {
        uint32_t word;

        if (!unet_atm_read_header(cell, &word))
            return -EIO;
        return unet_aal5_take(&state, cell + ATM_HEADER, word & ATM_LAST, &pdu);
    }
    // What the last of the cells says.
    int take(const Bytes &cells)
    {
        int result = 0;

        for (size_t at = 0; at < cells.size(); at += ATM_CELL)
            result = take(cells.data() + at);
        return result;
    }
    Bytes message() const { return Bytes(pdu.bytes, pdu.bytes + pdu.length); }

    aal5_reassembly state = {};
    aal5_pdu pdu = {};

private:
    Bytes room;
};

Bytes random_bytes(std::mt19937 &random, size_t length)
{
    Bytes bytes(length);

    for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(random());
    return bytes;
}

} // namespace

TEST_CASE("aal5: the CRC-32 is that of the standard")
{
    Bytes ascending(40);
    std::iota(ascending.begin(), ascending.end(), 1);

    CHECK(~unet_aal5_crc(~0u, "123456789", 9) == 0xfc891918);
    CHECK(crc_in(cut(Bytes(40, 0))) == 0x864d7f99);
    CHECK(crc_in(cut(Bytes(40, 0xff))) == 0xc55e457a);
    CHECK(crc_in(cut(ascending)) == 0xbf671ed0);
}

TEST_CASE("aal5: the HEC is that of the standard")
{
    CHECK(unet_atm_hec(0x00000001) == 0x52); // an idle cell
    CHECK(unet_atm_hec(0x00000000) == 0x55); // an unassigned cell

    // Every error of one bit shows.
    uint8_t cell[ATM_HEADER];
    uint32_t word;
    unet_atm_write_header(cell, header);
    REQUIRE(unet_atm_read_header(cell, &word));
    CHECK(word == header);
    for (int bit = 0; bit < 8 * ATM_HEADER; bit++) {
        cell[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        CHECK_FALSE(unet_atm_read_header(cell, &word));
        cell[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
}

TEST_CASE("aal5: headers say VPI and VCI")
{
    const uint32_t most = atm_header(ATM_VPI_MOST, ATM_VCI_MOST);

    CHECK(most == 0xfffffff0);
    CHECK(atm_vpi(most) == ATM_VPI_MOST);
    CHECK(atm_vci(most) == ATM_VCI_MOST);
    CHECK((atm_vpi(header) == 3 && atm_vci(header) == 1000));
}

TEST_CASE("aal5: every way to compute the CRC-32 has the same result")
{
    std::mt19937 random(1);
    const Bytes bytes = random_bytes(random, 2000);

    if (!unet_aal5_has_clmul())
        std::puts("left out: this processor has no PCLMULQDQ");
    for (size_t length = 0; length < 700; length++) {
        const uint8_t *from = bytes.data() + random() % 1300;
        const auto state = static_cast<uint32_t>(random());
        const uint32_t crc = unet_aal5_crc_bytes(state, from, length);

        INFO(length << " bytes, state " << state);
        REQUIRE(unet_aal5_crc_slices(state, from, length) == crc);
        if (unet_aal5_has_clmul())
            REQUIRE(unet_aal5_crc_clmul(state, from, length) == crc);
        REQUIRE(unet_aal5_crc(state, from, length) == crc);
    }
}

TEST_CASE("aal5: a message of any length arrives as it was sent")
{
    std::mt19937 random(2);
    Reassembly in;
    std::vector<size_t> lengths(300);

    std::iota(lengths.begin(), lengths.end(), 1);
    for (size_t length : {4095, 4096, 9180, 65534, 65535})
        lengths.push_back(length);
    for (size_t length : lengths) {
        const Bytes message = random_bytes(random, length);
        const Bytes cells = cut(message, static_cast<uint8_t>(length), 1 + length % 4);

        INFO(length << " bytes");
        for (size_t at = 0; at < cells.size(); at += ATM_CELL) {
            uint32_t word;
            REQUIRE(unet_atm_read_header(cells.data() + at, &word));
            REQUIRE(word == (at + ATM_CELL < cells.size() ? header : header | ATM_LAST));
        }
        REQUIRE(in.take(cells) == 1);
        REQUIRE(in.message() == message);
        REQUIRE(in.pdu.uu == static_cast<uint8_t>(length));
    }
}

TEST_CASE("aal5: forty bytes go in one cell, one more takes two")
{
    CHECK(unet_aal5_cells(AAL5_LONE_MOST) == 1);
    CHECK(unet_aal5_cells(AAL5_LONE_MOST + 1) == 2);
    CHECK(AAL5_LONE_MOST == 40);
}

// A PDU of which only the trailer is told, made right but for that.
static Bytes forged(size_t cells, uint32_t length)
{
    Bytes bytes(cells * ATM_CELL);
    uint32_t crc = ~0u;

    for (size_t i = 0; i < cells; i++) {
        const bool last = i + 1 == cells;
        uint8_t *cell = bytes.data() + i * ATM_CELL, *end = cell + ATM_CELL;

        unet_atm_write_header(cell, last ? header | ATM_LAST : header);
        if (last) {
            end[-6] = static_cast<uint8_t>(length >> 8);
            end[-5] = static_cast<uint8_t>(length);
        }
        crc = unet_aal5_crc(crc, cell + ATM_HEADER, last ? 44 : 48);
        for (int k = 0; last && k < 4; k++)
            end[k - 4] = static_cast<uint8_t>(~crc >> (24 - 8 * k));
    }
    return bytes;
}

TEST_CASE("aal5: a length that is not that of so many cells is refused")
{
    Reassembly in;

    REQUIRE(in.take(forged(1, 40)) == 1);
    CHECK(in.take(forged(1, 41)) == -EPROTO);
    CHECK(in.take(forged(1, 65535)) == -EPROTO);
    CHECK(in.take(forged(2, 40)) == -EPROTO);
    CHECK(in.take(forged(2, 89)) == -EPROTO);
    CHECK(in.take(forged(2, 88)) == 1);
    CHECK(in.take(forged(1, 0)) == -ECANCELED);
}

TEST_CASE("aal5: a PDU longer than any is dropped, and the next one is not")
{
    Reassembly in;
    const Bytes message(100, 7), good = cut(message);

    CHECK(in.take(forged(AAL5_CELLS_MOST, 65535)) == 1);
    CHECK(in.take(forged(AAL5_CELLS_MOST + 1, 65535)) == -EMSGSIZE);
    CHECK(in.take(good) == 1);
    CHECK(in.take(forged(3 * AAL5_CELLS_MOST, 65535)) == -EMSGSIZE);
    CHECK(in.take(good) == 1);
    CHECK(in.message() == message);
}

TEST_CASE("aal5: without a buffer PDUs of one cell arrive")
{
    Reassembly in;
    const Bytes message(30, 7), cells = cut(message);

    in.state.buffer = nullptr;
    CHECK(in.take(cut(Bytes(100, 1))) == -EMSGSIZE);
    CHECK(in.take(cells) == 1);
    CHECK(in.message() == message);
}

namespace {

// PDUs that tell by their first four bytes what the others have to be.
class Content {
public:
    explicit Content(std::mt19937 &random) : pool(random_bytes(random, 70000)) {}
    Bytes make(uint32_t number, size_t length) const
    {
        Bytes bytes(pool.begin() + number % 4096, pool.begin() + number % 4096 + long(length));

        std::memcpy(bytes.data(), &number, sizeof number);
        return bytes;
    }
    // The number, if those are the bytes of that message.
    bool is_right(const aal5_pdu &pdu, const std::vector<uint32_t> &lengths, uint32_t &number) const
    {
        if (pdu.length < sizeof number)
            return false;
        std::memcpy(&number, pdu.bytes, sizeof number);
        return number < lengths.size() && lengths[number] == pdu.length &&
               std::memcmp(pdu.bytes + 4, &pool[number % 4096 + 4], pdu.length - 4) == 0;
    }

private:
    Bytes pool;
};

uint32_t some_length(std::mt19937 &random)
{
    static const uint32_t most[] = {40, 40, 100, 500, 1500, 4000};

    return 4 + static_cast<uint32_t>(random()) % (most[random() % 6] - 3);
}

// Does something bad to a PDU's cells.
void harm(std::mt19937 &random, Bytes &cells, const Bytes &others)
{
    const long cell = long(random() % (cells.size() / ATM_CELL)) * ATM_CELL;
    const auto at = cells.begin() + cell;

    switch (random() % 4) {
    case 0:
        cells.erase(at, at + ATM_CELL);
        break;
    case 1: {
        const Bytes copy(at, at + ATM_CELL);
        cells.insert(at, copy.begin(), copy.end());
        break;
    }
    case 2: { // a cell of another channel, whose header was altered into ours
        const long other = long(random() % (others.size() / ATM_CELL)) * ATM_CELL;
        cells.insert(at, others.begin() + other, others.begin() + other + ATM_CELL);
        break;
    }
    default:
        for (unsigned flips = 1 + random() % 4; flips > 0; flips--)
            at[random() % ATM_CELL] ^= static_cast<uint8_t>(1 << random() % 8);
    }
}

// `harmful` of 100 PDUs do not arrive as they were sent.
void bad_line(uint32_t pdus, unsigned harmful)
{
    std::mt19937 random(7);
    const Content content(random);
    std::vector<uint32_t> lengths;
    std::vector<bool> harmed, arrived(pdus);
    Reassembly in;
    Bytes before = cut(Bytes(100, 1));
    uint32_t wrong = 0, lost = 0, number;

    for (uint32_t i = 0; i < pdus; i++) {
        lengths.push_back(some_length(random));
        harmed.push_back(random() % 100 < harmful);
        const Bytes whole = cut(content.make(i, lengths[i]));
        Bytes cells = whole;

        for (unsigned times = harmed[i] ? 1 + random() % 3 : 0; times > 0 && !cells.empty();
             times--)
            harm(random, cells, before);
        for (size_t at = 0; at < cells.size(); at += ATM_CELL) {
            if (in.take(cells.data() + at) != 1)
                continue;
            if (content.is_right(in.pdu, lengths, number))
                arrived[number] = true;
            else
                wrong++;
        }
        before = whole;
    }
    for (uint32_t i = 1; i < pdus; i++)
        lost += !harmed[i] && !harmed[i - 1] && !arrived[i];
    CHECK(wrong == 0);
    CHECK(lost == 0); // what nothing happened to, nor to the one before, arrives
    CHECK(std::count(arrived.begin(), arrived.end(), true) < pdus);
}

} // namespace

TEST_CASE("aal5: no wrong byte comes of lost, doubled, misinserted and altered cells")
{
    bad_line(10000, 50);
    bad_line(10000, 5);
}

TEST_CASE("aal5: the same, of a million PDUs", "[long]")
{
    bad_line(1000000, 50);
}
