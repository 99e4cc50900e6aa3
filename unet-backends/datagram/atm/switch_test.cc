// SPDX-License-Identifier: BSD-3-Clause
//
// The switch by itself: who may say what to whom.
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <vector>

extern "C" {
#include "datagram/atm/switch.h"
}

using Bytes = std::vector<uint8_t>;

namespace {

datagram_place place(uint16_t port)
{
    datagram_place p;

    std::memset(&p, 0, sizeof p);
    p.ip4.sin_family = AF_INET;
    p.ip4.sin_port = htons(port);
    p.ip4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p.length = sizeof p.ip4;
    return p;
}

struct Cell {
    uint32_t header = 0;
    Bytes bytes;
};

class Switch {
public:
    explicit Switch(uint32_t loss = 0)
    {
        const atm_switch_config config = {loss, 1, 77, send, this};

        REQUIRE(unet_atm_switch_open(&config, &sw) == 0);
    }
    ~Switch() { unet_atm_switch_close(sw); }

    void take(uint16_t from, const Bytes &bytes)
    {
        const datagram_place p = place(from);

        unet_atm_switch_take(sw, &p, bytes.data(), bytes.size());
        unet_atm_switch_flush(sw);
    }
    // What has come out for that node since the last call.
    std::vector<Cell> came(uint16_t port)
    {
        const Bytes bytes = std::move(out[port]);
        std::vector<Cell> cells;

        out[port].clear();
        for (size_t at = 0; at + ATM_CELL <= bytes.size(); at += ATM_CELL) {
            Cell cell;
            REQUIRE(unet_atm_read_header(&bytes[at], &cell.header));
            cell.bytes.assign(&bytes[at], &bytes[at] + ATM_CELL);
            cells.push_back(cell);
        }
        return cells;
    }
    void say(uint16_t from, atm_link_kind kind, uint64_t cookie)
    {
        atm_link_message message = {};
        Bytes cell(ATM_CELL);

        message.version = ATM_LINK_VERSION;
        message.kind = static_cast<uint8_t>(kind);
        message.cookie = cookie;
        unet_atm_write_link(cell.data(), &message);
        take(from, cell);
    }
    atm_link_message answer(uint16_t port)
    {
        const std::vector<Cell> cells = came(port);
        atm_link_message message = {};

        REQUIRE(cells.size() == 1);
        REQUIRE(unet_atm_read_link(cells[0].bytes.data(), cells[0].header, &message));
        return message;
    }
    uint16_t attach(uint16_t from, uint64_t cookie = 5)
    {
        say(from, ATM_LINK_ATTACH, cookie);
        const atm_link_message message = answer(from);
        CHECK(message.cookie == cookie);
        CHECK(message.switch_id == 77);
        REQUIRE(message.kind == ATM_LINK_ATTACHED);
        return message.node;
    }
    const atm_switch_counts &counts() const { return *unet_atm_switch_counts(sw); }

    atm_switch *sw = nullptr;

private:
    static void send(void *arg, const datagram_place *to, const uint8_t *cells, size_t length)
    {
        Bytes &out = static_cast<Switch *>(arg)->out[ntohs(to->ip4.sin_port)];

        CHECK(length <= LINE_MOST);
        out.insert(out.end(), cells, cells + length);
    }
    std::map<uint16_t, Bytes> out;
};

Bytes cell(uint32_t header, uint8_t fill = 1)
{
    Bytes bytes(ATM_CELL, fill);

    unet_atm_write_header(bytes.data(), header);
    return bytes;
}

Bytes operator*(const Bytes &bytes, size_t times)
{
    Bytes all;

    for (; times > 0; times--)
        all.insert(all.end(), bytes.begin(), bytes.end());
    return all;
}

} // namespace

TEST_CASE("switch: a cell says where it goes, and when it gets there whence it came")
{
    Switch sw;
    const uint16_t a = sw.attach(1000), b = sw.attach(1001);

    REQUIRE(a != b);
    sw.take(1000, cell(atm_header(b, 100) | ATM_LAST, 9));
    const std::vector<Cell> cells = sw.came(1001);
    REQUIRE(cells.size() == 1);
    CHECK(cells[0].header == (atm_header(a, 100) | ATM_LAST));
    CHECK(Bytes(cells[0].bytes.begin() + ATM_HEADER, cells[0].bytes.end()) == Bytes(48, 9));
    CHECK(sw.came(1000).empty());
    CHECK(sw.counts().out == 1);
}

TEST_CASE("switch: who has no port is told so, and sends to nobody")
{
    Switch sw;
    const uint16_t a = sw.attach(1000);

    sw.take(1001, cell(atm_header(a, 100)) * 5);
    CHECK(sw.came(1000).empty());
    CHECK(sw.answer(1001).kind == ATM_LINK_DETACHED);
    CHECK(sw.counts().foreign == 5);
}

TEST_CASE("switch: nodes may not use the VCIs that are not theirs with each other")
{
    Switch sw;
    const uint16_t b = (sw.attach(1000), sw.attach(1001));
    Bytes alarm(ATM_CELL);

    for (uint32_t vci = 0; vci < ATM_VCI_USER; vci++)
        if (vci != ATM_VCI_SIGNALLING)
            sw.take(1000, cell(atm_header(b, vci)));
    unet_atm_write_alarm(alarm.data(), b);
    sw.take(1000, alarm);
    sw.take(1000, cell(atm_header(b, 100) | ATM_OTHER));
    CHECK(sw.came(1001).empty());
    CHECK(sw.counts().refused == ATM_VCI_USER - 1 + 2);
    sw.take(1000, cell(atm_header(b, ATM_VCI_SIGNALLING)));
    sw.take(1000, cell(atm_header(b, ATM_VCI_USER)));
    CHECK(sw.came(1001).size() == 2);
}

TEST_CASE("switch: cells that were altered, and parts of cells, go nowhere")
{
    Switch sw;
    const uint16_t b = (sw.attach(1000), sw.attach(1001));
    Bytes bad = cell(atm_header(b, 100));

    for (int bit = 0; bit < 8 * ATM_HEADER; bit++) {
        bad[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        sw.take(1000, bad);
        bad[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
    CHECK(sw.came(1001).empty());
    CHECK(sw.counts().malformed == 8 * ATM_HEADER);
    bad.resize(ATM_CELL + 20);
    sw.take(1000, bad);
    sw.take(1000, {});
    CHECK(sw.came(1001).size() == 1);
    CHECK(sw.counts().malformed == 8 * ATM_HEADER + 1);
}

TEST_CASE("switch: what a link cell says is checked")
{
    Switch sw;
    Bytes message = cell(atm_header(0, ATM_VCI_LINK) | ATM_LAST);

    sw.take(1000, message); // no PDU
    CHECK(sw.counts().malformed == 1);
    const uint8_t version = 9;
    unet_atm_write_lone(message.data(), 0, ATM_VCI_LINK, 0, &version, 1);
    sw.take(1000, message);
    CHECK(sw.counts().malformed == 2);
    sw.say(1000, ATM_LINK_ATTACHED, 1);
    CHECK(sw.counts().nodes == 0);
    CHECK(sw.came(1000).empty());
}

TEST_CASE("switch: who asks again gets the same answer, who comes after him another number")
{
    Switch sw;
    const uint16_t a = sw.attach(1000, 1), b = sw.attach(1001, 1);

    CHECK(sw.attach(1000, 1) == a);
    CHECK(sw.counts().nodes == 2);
    const uint16_t next = sw.attach(1000, 2); // the port number is used again
    CHECK((next != a && next != b));
    CHECK(sw.counts().nodes == 2);
    sw.say(1001, ATM_LINK_DETACH, 7); // not by the wrong cookie
    CHECK(sw.counts().nodes == 2);
    sw.say(1001, ATM_LINK_DETACH, 1);
    CHECK(sw.counts().nodes == 1);
    CHECK(sw.attach(1001, 3) > next);
}

TEST_CASE("switch: who sends to a node that is gone gets an alarm, once for each PDU")
{
    Switch sw;
    const uint16_t b = (sw.attach(1000), sw.attach(1001));
    const datagram_place gone = place(1001), nobody = place(1005);

    unet_atm_switch_refused(sw.sw, &nobody);
    CHECK(sw.counts().nodes == 2);
    unet_atm_switch_refused(sw.sw, &gone);
    CHECK(sw.counts().nodes == 1);
    sw.take(1000, cell(atm_header(b, 100)));
    CHECK(sw.came(1000).empty());
    sw.take(1000, cell(atm_header(b, 100) | ATM_LAST));
    const std::vector<Cell> cells = sw.came(1000);
    REQUIRE(cells.size() == 1);
    CHECK(atm_vpi(cells[0].header) == b);
    CHECK(unet_atm_is_alarm(cells[0].bytes.data(), cells[0].header));
    CHECK(sw.counts().unreachable == 2);
    sw.take(1000, cell(atm_header(0, 100) | ATM_LAST));
    CHECK(sw.came(1000).empty());
}

TEST_CASE("switch: every node is looked at")
{
    Switch sw;

    sw.attach(1000);
    sw.attach(1001);
    unet_atm_switch_look(sw.sw);
    CHECK(sw.answer(1000).kind == ATM_LINK_LOOK);
    CHECK(sw.answer(1001).kind == ATM_LINK_LOOK);
}

TEST_CASE("switch: it has 4095 ports")
{
    Switch sw;
    std::vector<bool> seen(ATM_VPI_MOST + 1);

    for (uint32_t i = 1; i <= ATM_VPI_MOST; i++) {
        const uint16_t node = sw.attach(static_cast<uint16_t>(1000 + i));
        REQUIRE((node >= 1 && node <= ATM_VPI_MOST && !seen[node]));
        seen[node] = true;
    }
    sw.say(999, ATM_LINK_ATTACH, 1);
    CHECK(sw.answer(999).kind == ATM_LINK_FULL);
    sw.say(1500, ATM_LINK_DETACH, 5);
    CHECK(sw.attach(999) != 0);
}

TEST_CASE("switch: it loses as many cells as it is told, and none of its own")
{
    Switch sw(100000);
    const uint16_t b = (sw.attach(1000), sw.attach(1001));

    for (int i = 0; i < 100; i++)
        sw.take(1000, cell(atm_header(b, 100)) * 1000);
    CHECK(sw.counts().lost > 9000);
    CHECK(sw.counts().lost < 11000);
    CHECK(sw.came(1001).size() == 100000 - sw.counts().lost);
    for (int i = 0; i < 100; i++)
        sw.attach(1000);
}

TEST_CASE("alarms have the CRC-10 of the standard")
{
    Bytes cell(ATM_CELL);
    uint32_t header;

    CHECK(unet_atm_crc10(reinterpret_cast<const uint8_t *>("123456789"), 9) == 0x199);
    unet_atm_write_alarm(cell.data(), 9);
    REQUIRE(unet_atm_read_header(cell.data(), &header));
    CHECK(unet_atm_is_alarm(cell.data(), header));
    for (int bit = 0; bit < 8 * ATM_PAYLOAD; bit++) {
        if (bit / 8 == ATM_PAYLOAD - 2 && bit % 8 >= 2)
            continue; // reserved bits
        cell[ATM_HEADER + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        CHECK_FALSE(unet_atm_is_alarm(cell.data(), header));
        cell[ATM_HEADER + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
}
