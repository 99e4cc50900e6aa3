// SPDX-License-Identifier: BSD-3-Clause
//
// The keyed hash of packets against its definition, written down a second time and simply.
#include <catch2/catch.hpp>

#include "src/mac.h"
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr uint64_t KEY[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

struct Packet {
    alignas(8) uint8_t bytes[sizeof(reliable_packet) + 65536] = {};
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
    uint64_t hash(const reliable_mac &mac) const
    {
        return reliable_mac_packet(&mac, reinterpret_cast<const reliable_packet *>(bytes), ack,
                                   sizeof(reliable_packet) + length);
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

uint64_t key_word(uint64_t i)
{
    const uint64_t input[2] = {i, 0};

    return unet_siphash(KEY, input, 16);
}

// NH on 64-bit words, one pass.
void append_short(std::vector<uint8_t> &to, const std::vector<uint8_t> &text)
{
    unsigned __int128 sum = 0;

    for (size_t at = 0; at < text.size(); at += 16)
        sum += static_cast<unsigned __int128>(word(text, at) + key_word(at / 8)) *
               (word(text, at + 8) + key_word(at / 8 + 1));
    append(to, static_cast<uint64_t>(sum));
    append(to, static_cast<uint64_t>(sum >> 64));
}

// NH on 32-bit words, two passes; the last unit of 16 bytes is filled up with zeros.
void append_block(std::vector<uint8_t> &to, const std::vector<uint8_t> &block)
{
    for (size_t pass = 0; pass < 2; pass++) {
        uint64_t sum = 0;

        for (size_t at = 0; at < (block.size() + 15) / 16 * 16; at += 8) {
            const uint64_t m = word(block, at), k = key_word(at / 8 + 2 * pass);

            sum += uint64_t{static_cast<uint32_t>(m + k)} *
                   static_cast<uint32_t>((m >> 32) + (k >> 32));
        }
        append(to, sum);
    }
}

uint64_t by_definition(Packet &p, reliable_auth auth)
{
    std::vector<uint8_t> text(p.frames(), p.frames() + p.length);
    std::vector<uint8_t> input(p.bytes + 8, p.bytes + sizeof(reliable_packet));

    if (auth == RELIABLE_AUTH_HEADER && text.size() > 128)
        text.resize(128);
    if (!text.empty() && text.size() <= 128)
        append_short(input, text);
    for (size_t at = 0; text.size() > 128 && at < text.size(); at += 4096) {
        const auto block = text.begin() + static_cast<std::ptrdiff_t>(at);

        append_block(input, {block, block + std::min<std::ptrdiff_t>(4096, text.end() - block)});
    }
    // SipHash ends with the length of its input; here that is the packet's, and what `ack` lacks.
    unet_sip s = unet_sip_begin(KEY);
    for (size_t at = 0; at < input.size(); at += 8)
        unet_sip_absorb(&s, word(input, at));
    return unet_sip_end(&s, uint64_t{0x12345678} << 32 | uint64_t{auth} << 24 |
                                (sizeof(reliable_packet) + p.length));
}

std::vector<const reliable_nh *> variants()
{
    std::vector<const reliable_nh *> all;

    for (auto variant = reliable_nh_variants; *variant; variant++) {
        if ((*variant)->runs_here())
            all.push_back(*variant);
    }
    return all;
}

reliable_mac opened(const reliable_nh *variant, reliable_auth auth = RELIABLE_AUTH_FULL)
{
    reliable_mac mac;

    reliable_mac_open(&mac, KEY, auth);
    mac.variant = variant;
    return mac;
}

} // namespace

TEST_CASE("the hash of a packet is what its definition says")
{
    const size_t length =
        GENERATE(0u, 1u, 7u, 8u, 9u, 15u, 16u, 17u, 40u, 127u, 128u, 129u, 143u, 144u, 1023u, 1400u,
                 4095u, 4096u, 4097u, 4112u, 8192u, 8999u, 65535u);
    const reliable_auth auth = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER);
    Packet p(length);

    for (const reliable_nh *variant : variants()) {
        const reliable_mac mac = opened(variant, auth);

        INFO(variant->name << ", " << length << " bytes, mode " << auth);
        CHECK(p.hash(mac) == by_definition(p, auth));
    }
}

TEST_CASE("all variants of the hash make the same of random packets")
{
    std::mt19937_64 random(17);

    for (int round = 0; round < 300; round++) {
        Packet p(random() % 9000);

        for (size_t i = 0; i < p.length; i++)
            p.frames()[i] = static_cast<uint8_t>(round % 3 ? random() : 0xff);
        const uint64_t expected = by_definition(p, RELIABLE_AUTH_FULL);
        for (const reliable_nh *variant : variants()) {
            INFO(variant->name << ", " << p.length << " bytes");
            REQUIRE(p.hash(opened(variant)) == expected);
        }
    }
}

TEST_CASE("ranks of different modes, or keys, do not believe each other")
{
    const size_t length = GENERATE(0u, 100u, 1000u);
    const uint64_t others[2] = {KEY[0], KEY[1] + 1};
    Packet p(length);
    std::vector<uint64_t> hashes;

    for (const uint64_t *key : {KEY, others}) {
        for (const auto auth : {RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER, RELIABLE_AUTH_OFF}) {
            reliable_mac mac;

            reliable_mac_open(&mac, key, auth);
            hashes.push_back(p.hash(mac));
        }
    }
    std::sort(hashes.begin(), hashes.end());
    CHECK(std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end());
}

TEST_CASE("mode header covers the header and 128 bytes, mode off nothing")
{
    const auto auth = GENERATE(RELIABLE_AUTH_HEADER, RELIABLE_AUTH_OFF);
    const size_t covered = auth == RELIABLE_AUTH_HEADER ? sizeof(reliable_packet) + 128 : 0;
    reliable_mac mac;
    Packet p(1000);

    reliable_mac_open(&mac, KEY, auth);
    const uint64_t hash = p.hash(mac);
    for (size_t at = 8; at < sizeof(reliable_packet) + p.length; at++) {
        p.bytes[at] ^= 1;
        CAPTURE(at);
        CHECK((p.hash(mac) != hash) == (at < covered));
        p.bytes[at] ^= 1;
    }
}

TEST_CASE("the hash of a packet depends on every bit of it and of the key")
{
    const size_t length = GENERATE(0u, 1u, 33u, 1100u);
    reliable_mac mac;
    Packet p(length);

    reliable_mac_open(&mac, KEY, RELIABLE_AUTH_FULL);
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
        reliable_mac_open(&changed, other, RELIABLE_AUTH_FULL);
        CHECK(p.hash(changed) != hash);
    }
}

TEST_CASE("zeros at the end of a packet are part of it")
{
    reliable_mac mac;
    Packet p(3);

    reliable_mac_open(&mac, KEY, RELIABLE_AUTH_FULL);
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

    reliable_mac_open(&mac, KEY, RELIABLE_AUTH_FULL);
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
