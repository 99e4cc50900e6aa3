// SPDX-License-Identifier: BSD-3-Clause
//
// The keyed hash of packets against its definition, written down a second time and simply.
#include <catch2/catch.hpp>

#include "src/mac.h"
#include <vector>

namespace {

constexpr uint64_t KEY[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

struct Packet {
    alignas(8) uint8_t bytes[sizeof(reliable_packet) + 5000] = {};
    size_t length;
    uint64_t ack = 0x1234567800000005;

    explicit Packet(size_t n) : length(n)
    {
        header() = {};
        header().number = 77;
        header().ack = 5;
        header().version = RELIABLE_PACKET_VERSION;
        header().length = static_cast<uint16_t>(n);
        for (size_t i = 0; i < n; i++)
            frames()[i] = static_cast<uint8_t>(i * 7 + 3);
    }
    reliable_packet &header() { return *reinterpret_cast<reliable_packet *>(bytes); }
    uint64_t hash(const reliable_mac &mac)
    {
        return reliable_mac_packet(&mac, &header(), ack, sizeof(reliable_packet) + length);
    }
    uint8_t *frames() { return bytes + sizeof(reliable_packet); }
};

uint64_t word(const std::vector<uint8_t> &bytes, size_t at)
{
    uint64_t value = 0;

    for (size_t i = 0; i < 8 && at + i < bytes.size(); i++)
        value |= uint64_t{bytes[at + i]} << 8 * i;
    return value;
}

void append(std::vector<uint8_t> &to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to.push_back(static_cast<uint8_t>(value >> 8 * i));
}

uint64_t by_definition(Packet &p)
{
    std::vector<uint8_t> input(p.bytes + 8, p.bytes + sizeof(reliable_packet));

    for (size_t block = 0; block < p.length; block += 1024) {
        const size_t n = p.length - block < 1024 ? p.length - block : 1024;
        const std::vector<uint8_t> bytes(p.frames() + block, p.frames() + block + n);
        unsigned __int128 sum = 0;

        for (size_t at = 0; at < n; at += 16) {
            const uint64_t i[2] = {at / 8, 0}, j[2] = {at / 8 + 1, 0};

            sum += static_cast<unsigned __int128>(word(bytes, at) + unet_siphash(KEY, i, 16)) *
                   (word(bytes, at + 8) + unet_siphash(KEY, j, 16));
        }
        append(input, static_cast<uint64_t>(sum));
        append(input, static_cast<uint64_t>(sum >> 64));
    }
    // SipHash ends with the length of its input; here that is the packet's, and what `ack` lacks.
    unet_sip s = unet_sip_begin(KEY);
    for (size_t at = 0; at < input.size(); at += 8)
        unet_sip_absorb(&s, word(input, at));
    return unet_sip_end(&s, uint64_t{0x12345678} << 32 | (sizeof(reliable_packet) + p.length));
}

} // namespace

TEST_CASE("the hash of a packet is what its definition says")
{
    const size_t length =
        GENERATE(0u, 1u, 8u, 15u, 16u, 17u, 40u, 1023u, 1024u, 1025u, 1400u, 4999u);
    reliable_mac mac;
    Packet p(length);

    reliable_mac_open(&mac, KEY);
    CAPTURE(length);
    CHECK(p.hash(mac) == by_definition(p));
}

TEST_CASE("the hash of a packet depends on every bit of it and of the key")
{
    const size_t length = GENERATE(0u, 1u, 33u, 1100u);
    reliable_mac mac;
    Packet p(length);

    reliable_mac_open(&mac, KEY);
    const uint64_t hash = p.hash(mac);
    for (size_t bit = 64; bit < 8 * (sizeof(reliable_packet) + length); bit++) {
        p.bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        CAPTURE(bit);
        CHECK(p.hash(mac) != hash);
        p.bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    }
    for (unsigned bit = 32; bit < 64; bit++) {
        p.ack ^= uint64_t{1} << bit;
        CAPTURE(bit);
        CHECK(p.hash(mac) != hash);
        p.ack ^= uint64_t{1} << bit;
    }
    for (unsigned bit = 0; bit < 128; bit++) {
        uint64_t other[2] = {KEY[0], KEY[1]};
        reliable_mac changed;

        other[bit / 64] ^= uint64_t{1} << bit % 64;
        reliable_mac_open(&changed, other);
        CHECK(p.hash(changed) != hash);
    }
}

TEST_CASE("zeros at the end of a packet are part of it")
{
    reliable_mac mac;
    Packet p(3);

    reliable_mac_open(&mac, KEY);
    const uint64_t hash = p.hash(mac);
    p.length++; // the byte behind is 0
    CHECK(p.hash(mac) != hash);
}

TEST_CASE("the hash of memory depends on grant, length and bytes, and is no packet's")
{
    reliable_mac mac;
    Packet p(1500);
    const auto of = [&](uint64_t grant, size_t n) {
        return reliable_mac_memory(&mac, grant, p.frames(), n);
    };

    reliable_mac_open(&mac, KEY);
    const uint64_t hash = of(7, 1500);
    CHECK(of(7, 1500) == hash);
    CHECK(of(8, 1500) != hash);
    CHECK(of(7, 1499) != hash);
    for (const size_t at : {0, 1, 1023, 1024, 1499}) {
        p.frames()[at] ^= 0x40;
        CAPTURE(at);
        CHECK(of(7, 1500) != hash);
        p.frames()[at] ^= 0x40;
    }
    // The nearest packet: one whose header is that of the memory, but for the version.
    p.header() = {};
    p.header().number = 7;
    p.header().selected = 1500;
    p.header().version = RELIABLE_PACKET_VERSION;
    p.ack = 0;
    CHECK(p.hash(mac) != hash);
}
