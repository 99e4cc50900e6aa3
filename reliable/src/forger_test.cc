// SPDX-License-Identifier: BSD-3-Clause
//
// forger_test.cc - a peer that composes its packets by hand: rank 1 is a bare endpoint of a network
// that may lose messages, rank 0 a reliable endpoint.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <reliable/reliable.h>
#include <string>
#include <unet/unet.h>
#include <unet/unet_chaos.h>
#include <vector>

extern "C" {
#include "src/mac.h"
}

namespace {

constexpr uint64_t KEY[2] = {42, 43}, TAG = 44;
constexpr unet_chaos NO_FAULTS = {0, 0, 0, 0, 0, 1};
constexpr uint32_t USER = 7;
constexpr uint32_t BUFFER = 8192; // bytes of a receive buffer
constexpr uint32_t BUFFERS = 128;

uint64_t handled;

class Forger {
public:
    unet_endpoint *ep = nullptr; // rank 0's

    explicit Forger(reliable_auth auth = RELIABLE_AUTH_FULL)
    {
        const reliable_config config = {2, 0, {KEY[0], KEY[1]}, 0, auth, 0, 0};
        unet_config sizes = {};

        handled = 0;
        reliable_mac_open(&mac_, KEY, auth);
        reliable_lower_config(2, &sizes);
        for (unet_endpoint **one : {&lower_, &forger_})
            REQUIRE(unet_chaos_open(unet_backend("loopback"), &NO_FAULTS, &sizes, one) == 0);
        sizes.segment_bytes = BUFFERS * BUFFER;
        REQUIRE(reliable_open(lower_, &config, &sizes, &ep) == 0);
        for (uint32_t i = 0; i < BUFFERS; i++)
            REQUIRE(unet_free_put(ep, i * BUFFER, BUFFER) == 0);
        connect();
    }
    ~Forger()
    {
        unet_close(ep);
        unet_close(forger_);
    }
    Forger(const Forger &) = delete;
    Forger &operator=(const Forger &) = delete;

    void forge_in(reliable_auth auth) { reliable_mac_open(&mac_, KEY, auth); }

    // The next packet, with one frame of zero bytes.
    std::vector<uint8_t> packet(uint32_t user, uint16_t length = 0, bool more = false)
    {
        std::vector<uint8_t> bytes(sizeof(reliable_packet) + sizeof(reliable_frame) + length);
        reliable_packet header = {};
        reliable_frame frame = {user, length,
                                static_cast<uint16_t>(more ? RELIABLE_FRAME_MORE : 0)};

        header.number = ++number_;
        header.ack = 1;
        header.source = 1;
        header.length = static_cast<uint16_t>(sizeof frame + length);
        header.rwnd = 1;
        header.version = RELIABLE_PACKET_VERSION;
        std::memcpy(bytes.data() + sizeof header, &frame, sizeof frame);
        std::memcpy(bytes.data(), &header, sizeof header);
        std::memcpy(forger_->segment, bytes.data(), bytes.size()); // the hash wants it aligned
        header.mac = reliable_mac_packet(
            &mac_, reinterpret_cast<reliable_packet *>(forger_->segment), header.ack, bytes.size());
        std::memcpy(bytes.data(), &header, sizeof header);
        return bytes;
    }

    // Sends it, and lets rank 0 look.
    void send(const std::vector<uint8_t> &bytes)
    {
        const unet_piece piece = {0, static_cast<uint32_t>(bytes.size())};
        uint32_t ticket;

        std::memcpy(forger_->segment, bytes.data(), bytes.size());
        REQUIRE(unet_send(forger_, channel_, 0, &piece, 1, &ticket) == 0);
        for (int i = 0; i < 1000 && !unet_sent(forger_, ticket); i++)
            serve();
        REQUIRE(unet_sent(forger_, ticket));
        serve();
    }

private:
    void connect()
    {
        struct unet_address address;
        uint16_t channel;

        unet_address(lower_, &address);
        REQUIRE(unet_connect(forger_, &address, TAG, &channel_) == 0);
        unet_address(forger_, &address);
        REQUIRE(reliable_address(&address, 1, &address) == 0);
        REQUIRE(unet_connect(ep, &address, TAG, &channel) == 0);
        for (int i = 0; i < 10000 && (unet_channel_state(forger_, channel_) != UNET_OPEN ||
                                      unet_channel_state(ep, channel) != UNET_OPEN);
             i++)
            serve();
        REQUIRE(unet_channel_state(forger_, channel_) == UNET_OPEN);
    }

    // What rank 0 answers finds no buffer, and is lost.
    void serve()
    {
        unet_progress(forger_);
        unet_progress(ep);
        while (const unet_desc *desc = unet_rx_peek(ep)) {
            handled++;
            if (desc->kind == UNET_PIECES)
                REQUIRE(unet_free_put(ep, desc->piece[0].offset, BUFFER) == 0);
            unet_rx_release(ep);
        }
    }

    unet_endpoint *lower_ = nullptr, *forger_ = nullptr;
    uint16_t channel_ = 0;
    uint64_t number_ = 0;
    reliable_mac mac_;
};

} // namespace

TEST_CASE("a message in a packet of the peer's is delivered, once")
{
    Forger f;
    const auto packet = f.packet(USER);

    for (int i = 0; i < 3; i++)
        f.send(packet);
    CHECK(handled == 1);
}

TEST_CASE("a packet of which one bit is another does nothing")
{
    const auto auth = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER); // the packet is small
    Forger f(auth);
    const auto packet = f.packet(USER);

    for (size_t bit = 0; bit < 8 * packet.size(); bit++) {
        auto forged = packet;

        forged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        f.send(forged);
        INFO("bit " << bit);
        REQUIRE(handled == 0);
    }
    f.send(packet);
    CHECK(handled == 1);
}

TEST_CASE("what mode header leaves to the network is what long messages say")
{
    Forger f(RELIABLE_AUTH_HEADER);
    const size_t covered = sizeof(reliable_packet) + RELIABLE_MAC_SHORT;
    const auto packet = f.packet(USER, 1000);

    for (const size_t at : {size_t{0}, size_t{9}, sizeof(reliable_packet), covered - 1}) {
        auto forged = packet;

        forged[at] ^= 1;
        f.send(forged);
        INFO("byte " << at);
        REQUIRE(handled == 0);
    }
    auto forged = packet;
    forged[covered] ^= 1;
    f.send(forged);
    CHECK(handled == 1);
}

// Nothing is authenticated, but what a packet says is checked all the same.
TEST_CASE("mode off wants the number that the job's ranks know, and frames that make sense")
{
    Forger f(RELIABLE_AUTH_OFF);
    const auto packet = f.packet(USER, 1000);
    auto forged = packet;

    for (size_t bit = 0; bit < 64; bit++) {
        forged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        f.send(forged);
        INFO("bit " << bit);
        REQUIRE(handled == 0);
        forged = packet;
    }
    forged[sizeof(reliable_packet) + offsetof(reliable_frame, length) + 1] ^= 0x80;
    f.send(forged);
    CHECK(handled == 0);
    forged = packet;
    forged.back() ^= 1;
    f.send(forged);
    CHECK(handled == 1);
}

TEST_CASE("a packet of another mode is refused")
{
    const auto theirs = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER, RELIABLE_AUTH_OFF);
    const auto ours = GENERATE(RELIABLE_AUTH_FULL, RELIABLE_AUTH_HEADER, RELIABLE_AUTH_OFF);
    const uint16_t length = GENERATE(0, 1000);
    Forger f(ours);

    f.forge_in(theirs);
    f.send(f.packet(USER, length));
    INFO("mode " << theirs << " to mode " << ours << ", " << length << " bytes");
    CHECK(handled == (ours == theirs));
}

TEST_CASE("a message longer than any is dropped as it comes, and the next one arrives")
{
    constexpr int length = 1000;
    const int parts = GENERATE(10, 4000); // more than all buffers together
    Forger f;

    INFO(parts << " packets of " << length << " bytes");
    for (int i = 0; i < parts; i++)
        f.send(f.packet(USER, length, i + 1 < parts));
    CHECK(handled == 0);
    f.send(f.packet(USER, length));
    CHECK(handled == 1);
    f.send(f.packet(USER));
    CHECK(handled == 2);
    CHECK(f.ep->stats.malformed == 0);
    CHECK(f.ep->stats.overruns == 1); // the long one
}

TEST_CASE("a message of several parts without a byte takes no buffer away")
{
    Forger f;

    for (int i = 0; i < 1000; i++) { // many more than there are buffers
        f.send(f.packet(USER, 0, true));
        f.send(f.packet(USER, 0, false));
    }
    CHECK(handled == 1000);
    f.send(f.packet(USER, 1000));
    CHECK(handled == 1001);
    CHECK(f.ep->stats.malformed == 0);
}
